"""One file per command: what it reads from the study, which packages it calls, what it writes."""
