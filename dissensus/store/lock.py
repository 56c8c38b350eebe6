"""Only one command at a time may change a study."""

from __future__ import annotations

import fcntl
from pathlib import Path
from types import TracebackType
from typing import IO

from dissensus.errors import StudyError


class Lock:
    """Held while a command writes; reentrant, so one command may call another."""

    def __init__(self, path: Path, refusal: str = "another command is using this study: wait for it to finish") -> None:
        self.path = path
        self.refusal = refusal
        self.held = 0
        self.file: IO[str] | None = None

    def __enter__(self) -> None:
        if self.held == 0:
            self.file = open(self.path, "w")
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                self.file.close()
                raise StudyError(f"{self.path.parent}: {self.refusal}") from None
        self.held += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.held -= 1
        if self.held == 0 and self.file is not None:
            self.file.close()
