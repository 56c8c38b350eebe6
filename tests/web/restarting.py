"""Starts `dissensus serve` again and again, each time in a process of its own that has everything imported already.

Python takes longer to import a web framework than the service takes to start: fifty starts would be fifty waits for the
same files. What runs in the children is the command itself.

    python restarting.py serve STUDY --port 0      # every line on standard input starts it; its process id is printed
"""

from __future__ import annotations

import os
import signal
import sys

import dissensus.steps.serving
import dissensus.store.opening
import dissensus.web.running  # noqa: F401
from dissensus.cli import main

if __name__ == "__main__":
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # whoever was killed is not waited for
    for _ in sys.stdin:
        child = os.fork()
        if child == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            main(sys.argv[1:])
            sys.exit()
        print(f"process {child}", flush=True)
