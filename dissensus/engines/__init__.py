"""Where chunk work runs. One engine so far: this machine, reading ahead in a thread."""
