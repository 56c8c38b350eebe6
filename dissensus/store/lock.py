"""Only one command at a time may change a study."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path
from types import TracebackType
from typing import IO

from dissensus.errors import StudyError

PAUSE = 0.05
"""Seconds between two attempts."""


class Lock:
    """Held while a command writes; reentrant, so one command may call another."""

    def __init__(
        self,
        path: Path,
        refusal: str = "another command is using this study: wait for it to finish",
        is_removed: bool = False,
        patience: float = 0.0,
    ) -> None:
        """With `is_removed`, the file is there only while the lock is held; `patience` is how many seconds to wait."""
        self.path = path
        self.refusal = refusal
        self.is_removed = is_removed
        self.patience = patience
        self.held = 0
        self.file: IO[str] | None = None

    def __enter__(self) -> None:
        if self.held == 0:
            until = time.monotonic() + self.patience
            while not self._is_taken(until):  # its last holder removed the file in the meantime, or still has it
                pass
        self.held += 1

    def _is_taken(self, until: float) -> bool:
        """Lock the file; False if it has been removed or replaced since it was opened, or there is time to wait."""
        self.file = open(self.path, "w")  # noqa: SIM115
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        except BlockingIOError:
            if time.monotonic() >= until:
                self.file.close()
                raise StudyError(f"{self.path.parent}: {self.refusal}") from None
            time.sleep(PAUSE)
        self.file.close()
        return False

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.held -= 1
        if self.held == 0 and self.file is not None:
            if self.is_removed:
                self.path.unlink(missing_ok=True)
            self.file.close()
