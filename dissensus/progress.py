"""How long-running work reports its progress."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Callback after every finished chunk: the task, how much of it is done, and the total (0 if it is not known)."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""
