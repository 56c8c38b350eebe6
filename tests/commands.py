"""`dissensus …` as a person runs it: in this process, where it starts at once, or in one of its own."""

from __future__ import annotations

import contextlib
import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

COLUMNS = "140"
"""Width of the terminal; the console reads it when it is first imported, so set it before that."""


@dataclass(frozen=True)
class Done:
    """How a command ended and what it printed, named as `subprocess` names them."""

    returncode: int
    stdout: str
    stderr: str


def run(*arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """The command in this process; `env` is added to the environment.

    An exception that the command does not handle is raised here, where a process would print a traceback.
    """
    from dissensus.cli import main

    out, err, code = io.StringIO(), io.StringIO(), 0
    with _own_surroundings(cwd, env or {}), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = int(end.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def command_line(*arguments: object) -> list[str]:
    """What starts the command in a process of its own; it imports everything anew, which takes seconds."""
    return [sys.executable, "-m", "dissensus", *map(str, arguments)]


def run_process(*arguments: object, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> Done:
    """The command in a process of its own: for exit codes, standard streams and signals as the shell sees them."""
    environment = os.environ | {"COLUMNS": COLUMNS} | dict(env or {})
    line = command_line(*arguments)
    done = subprocess.run(line, capture_output=True, text=True, timeout=300, cwd=cwd, env=environment, check=False)
    return Done(done.returncode, done.stdout, done.stderr)


@contextlib.contextmanager
def _own_surroundings(cwd: Path | None, env: Mapping[str, str]) -> Iterator[None]:
    """A folder and an environment for one command; what it changes of them and of signals is put back."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    environment = dict(os.environ)
    os.environ.update({"COLUMNS": COLUMNS} | dict(env))
    try:
        with contextlib.chdir(cwd) if cwd else contextlib.nullcontext():
            yield
    finally:
        os.environ.clear()
        os.environ.update(environment)
        for number, handler in handlers.items():
            signal.signal(number, handler)
