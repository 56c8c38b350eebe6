"""The local engine: long work in chunks, loading the next chunk while the current one is processed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from dissensus.engines.reduction import Parts, Progress, Reduction

Result = TypeVar("Result")
Partial = TypeVar("Partial")


def silent(what: str, done: int, total: int) -> None:
    """Report no progress."""


def chunks(total: int, size: int) -> list[range]:
    """Split 0..total−1 into ranges of `size`."""
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def read_ahead(
    load: Callable[[range], Result], parts: Iterable[range], ahead: int = 1
) -> Iterator[tuple[range, Result]]:
    """Yield each part with the result of `load`, while a thread loads the next parts."""
    waiting = iter(parts)
    thread = ThreadPoolExecutor(1)
    try:
        queue = [(part, thread.submit(load, part)) for part in islice(waiting, ahead + 1)]
        while queue:
            part, future = queue.pop(0)
            yield part, future.result()
            queue += [(later, thread.submit(load, later)) for later in islice(waiting, 1)]
    finally:
        thread.shutdown(wait=False, cancel_futures=True)  # a consumer that stops early does not wait for the next part


def reduce(
    reduction: Reduction[Any, Partial], size: int, what: str, progress: Progress = silent, parts: Parts | None = None
) -> Partial:
    """The result over `size` items. Finished parts are reused, and new ones are added to them."""
    block = reduction.chunk * reduction.kept
    finished = [number for number in range(-(-size // block)) if parts is not None and number in parts]
    known: Partial | None = None
    for number in finished:
        assert parts is not None, "only parts can be finished"
        found = reduction.restore(parts.read(number))
        known = found if known is None else reduction.merge(known, found)
    waiting = [rows for rows in chunks(size, reduction.chunk) if rows.start // block not in finished]
    if known is not None:
        waiting = [rows for rows in waiting if not reduction.is_settled(known, rows.start)]
    since: Partial | None = None
    for rows, loaded in read_ahead(reduction.load, waiting):
        found = reduction.scan(loaded, rows.start, known)
        known = found if known is None else reduction.merge(known, found)
        since = found if since is None or parts is None else reduction.merge(since, found)
        if parts is not None and (rows.stop % block == 0 or rows.stop == size):
            parts.write(rows.start // block, reduction.dump(since))
            since = None
        progress(what, rows.stop, size)
        if reduction.is_settled(known, rows.stop):
            break
    progress(what, size, size)
    assert known is not None, "a pool has items"
    return known


def counted(what: str, things: Iterable[Result], progress: Progress, step: int = 10_000) -> Iterator[Result]:
    """Yield the things one by one and report how many there were so far; the total is unknown."""
    for done, thing in enumerate(things, start=1):
        if done % step == 0:
            progress(what, done, 0)
        yield thing
