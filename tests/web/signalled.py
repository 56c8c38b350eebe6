"""Runs `dissensus serve STUDY` once for every moment of its start and every signal, which it sends to itself there.

    python signalled.py STUDY      # a line for each: the moment, the signal and the exit code, or 'swallowed'

Everything is imported once, and each run is a fork.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import Any

import dissensus.competition.evaluation
import dissensus.web.app
from dissensus.cli import main
from dissensus.steps.serving import StudyBacking
from dissensus.store.lock import Lock
from dissensus.study import Study
from dissensus.web import running
from dissensus.web.memory import Memory

MOMENTS: dict[str, tuple[Any, str]] = {
    "configuring": (Study, "_with_service"),
    "locking": (Lock, "__enter__"),
    "listening": (running, "_listen"),
    "opening the study": (StudyBacking, "__init__"),
    "making the service": (dissensus.web.app.Service, "__init__"),
    "starting the loop": (running, "_serve"),
    "reading the answers": (Memory, "open"),
    "reviewing": (Memory, "review"),
    "about to open": (running, "_address"),
}
PATIENCE = 60
"""Seconds: a busy machine may take long to start a service."""


def serve(study: str, where: tuple[Any, str], what: signal.Signals) -> None:
    """Serve, and get a signal where this function is called."""
    owner, name = where
    function = getattr(owner, name)

    def signalled(*arguments: Any, **named: Any) -> Any:
        os.kill(os.getpid(), what)
        return function(*arguments, **named)

    setattr(owner, name, signalled)
    code = 1
    try:
        main(["serve", study, "--port", "0"])
        code = 0
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def ended(child: int) -> str:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        who, status = os.waitpid(child, os.WNOHANG)
        if who:
            return str(os.waitstatus_to_exitcode(status))
        time.sleep(0.02)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "swallowed"


if __name__ == "__main__":
    for moment, where in MOMENTS.items():
        for what in (signal.SIGTERM, signal.SIGINT):
            child = os.fork()
            if child == 0:
                serve(sys.argv[1], where, what)
            print(f"{moment}: {what.name} {ended(child)}", flush=True)
