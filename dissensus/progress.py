"""How long-running work reports its progress."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

Thing = TypeVar("Thing")


class Progress(Protocol):
    """Callback after every finished chunk: the task, how much of it is done, and the total (0 if it is not known)."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""


def reported(what: str, things: Iterable[Thing], progress: Progress, step: int = 10_000) -> Iterator[Thing]:
    """Yield the things one by one and report how many there were so far; the total is unknown."""
    for done, thing in enumerate(things, start=1):
        if done % step == 0:
            progress(what, done, 0)
        yield thing
