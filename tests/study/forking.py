"""Commands in processes that can be killed, which start at once: forked from one that has everything imported already.

`started("predict", study, cwd=folder)` is like `subprocess.Popen`. One such command runs at a time.
`killed_at_change(2, act)` does anything else in a process that is killed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO, Any

from dissensus.store import checksums


class Forked:
    """A command that runs, with what tests use of `subprocess.Popen`."""

    def __init__(self, forge: subprocess.Popen[str], arguments: list[str], cwd: Path) -> None:
        self._said = Path(tempfile.mkstemp(prefix="stderr-", dir=cwd)[1])
        assert forge.stdin is not None
        assert forge.stdout is not None
        forge.stdin.write(json.dumps([arguments, str(cwd), str(self._said)]) + "\n")
        forge.stdin.flush()
        self.pid = int(forge.stdout.readline())
        self.returncode: int | None = None
        self._waiting = threading.Thread(target=self._hear, args=[forge.stdout], daemon=True)
        self._waiting.start()

    @property
    def stderr(self) -> str:
        """What it has said; all of it once it has ended."""
        return self._said.read_text()

    def poll(self) -> int | None:
        return self.returncode

    def wait(self) -> int:
        self._waiting.join(300)
        assert self.returncode is not None, "the command does not end"
        return self.returncode

    def kill(self) -> int:
        """SIGKILL: nothing is finished, nothing is written. How it ended, which may have been before that."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)
        return self.wait()

    def _hear(self, lines: IO[str]) -> None:
        self.returncode = int(lines.readline())


def started(*arguments: object, cwd: Path) -> Forked:
    """`dissensus …` in a process of its own."""
    return Forked(_forge(), [str(argument) for argument in arguments], cwd)


def killed_at_change(moment: int, act: Callable[[], object]) -> bool:
    """Act in a process that is killed at its 1st, 2nd, … change of the list of checksums; False if it ends before."""
    if (child := os.fork()) == 0:
        change, calls = checksums.change, []

        def deadly(*given: Any) -> None:
            calls.append(given)
            if len(calls) == moment:
                os.kill(os.getpid(), signal.SIGKILL)
            change(*given)

        checksums.change = deadly
        with suppress(BaseException):
            act()
        os._exit(0)
    return os.waitpid(child, 0)[1] == signal.SIGKILL


@cache
def _forge() -> subprocess.Popen[str]:
    """It ends with its standard input, which ends with this process."""
    line = [sys.executable, "-u", __file__]
    return subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _run(arguments: list[str], cwd: str, said: str) -> None:
    from dissensus.cli import main

    os.chdir(cwd)
    sys.path[0] = cwd  # as `python -m` does
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    os.dup2(os.open(os.devnull, os.O_RDWR), 1)
    os.dup2(os.open(said, os.O_WRONLY), 2)
    main(arguments)


def _serve() -> None:
    import dissensus.cli
    import dissensus.demo
    import dissensus.store.opening  # noqa: F401

    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            _run(*json.loads(line))
            sys.exit()
        print(child)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    _serve()
