"""Chunks of a long piece of work on this machine, with the next one read while this one is worked on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Protocol, TypeVar

Result = TypeVar("Result")


class Progress(Protocol):
    """Told about every finished chunk: what is being done, how much of it is, and how much there is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note."""


def silent(what: str, done: int, total: int) -> None:
    """Progress that nobody watches."""


def chunks(total: int, size: int) -> list[range]:
    """The numbers 0..total−1 in runs of `size`."""
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def read_ahead(
    load: Callable[[range], Result], parts: Iterable[range], ahead: int = 1
) -> Iterator[tuple[range, Result]]:
    """Each part with what `load` gives for it; the next parts are loaded in a thread meanwhile."""
    waiting = iter(parts)
    thread = ThreadPoolExecutor(1)
    try:
        queue = [(part, thread.submit(load, part)) for part in islice(waiting, ahead + 1)]
        while queue:
            part, future = queue.pop(0)
            yield part, future.result()
            queue += [(later, thread.submit(load, later)) for later in islice(waiting, 1)]
    finally:
        thread.shutdown(wait=False, cancel_futures=True)  # whoever has seen enough does not wait for the next part


def counted(what: str, things: Iterable[Result], progress: Progress, step: int = 10_000) -> Iterator[Result]:
    """The things, one by one, while progress is told how many went by; nobody knows how many will."""
    for done, thing in enumerate(things, start=1):
        if done % step == 0:
            progress(what, done, 0)
        yield thing
