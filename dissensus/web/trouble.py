"""Problems that keep the service from working: one line in its log when one begins, and one when it is over."""

from __future__ import annotations

import errno
import sys
import time

EXHAUSTED = {errno.EMFILE, errno.ENFILE, errno.ENOSPC, errno.EDQUOT, errno.ENOMEM}
"""Errors that mean the machine has run out of a resource; they are not bugs."""
REMIND = 600.0
"""Seconds after which the same problem is printed again."""


class Trouble:
    """Prints each problem once, however many requests run into it."""

    def __init__(self) -> None:
        self.told: dict[str, float] = {}
        """When each line was printed."""
        self.lasting: dict[str, str] = {}
        """The line last printed about each thing that does not work."""

    def tell(self, line: str, what: str = "") -> None:
        """Print why something does not work, unless that was printed recently; `over` ends problems with a name."""
        now = time.monotonic()
        self.told = {line: when for line, when in self.told.items() if now - when < REMIND}
        if what:
            self.lasting[what] = line
        if line not in self.told:
            self.told[line] = now
            print(f"dissensus: {line}", file=sys.stderr)

    def over(self, what: str) -> None:
        """Print that something works again, if it did not."""
        if what in self.lasting:
            self.told.pop(self.lasting.pop(what), None)
            print(f"dissensus: {what} works again", file=sys.stderr)


def is_exhausted(error: BaseException) -> bool:
    """True if the machine is out of disk space, descriptors or memory."""
    return isinstance(error, OSError) and error.errno in EXHAUSTED
