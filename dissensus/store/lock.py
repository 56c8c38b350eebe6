"""Only one command at a time may change a study."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from types import TracebackType
from typing import IO

from dissensus.errors import StudyError


class Lock:
    """Held while a command writes; reentrant, so one command may call another."""

    def __init__(
        self,
        path: Path,
        refusal: str = "another command is using this study: wait for it to finish",
        is_removed: bool = False,
    ) -> None:
        """With `is_removed`, the file is there only while the lock is held."""
        self.path = path
        self.refusal = refusal
        self.is_removed = is_removed
        self.held = 0
        self.file: IO[str] | None = None

    def __enter__(self) -> None:
        if self.held == 0:
            while not self._is_taken():  # its last holder removed the file in the meantime
                pass
        self.held += 1

    def _is_taken(self) -> bool:
        """Lock the file; False if it has been removed or replaced since it was opened."""
        self.file = open(self.path, "w")  # noqa: SIM115
        try:
            fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(self.file.fileno()), os.stat(self.path)):
                return True
        except FileNotFoundError:
            pass
        except BlockingIOError:
            self.file.close()
            raise StudyError(f"{self.path.parent}: {self.refusal}") from None
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
