"""The local engine: a pass over the pool in chunks, on all cores of this machine."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, TypeVar

from dissensus.engines.reduction import Parts, Reduction, drive
from dissensus.engines.speed import Pass
from dissensus.processors import cores
from dissensus.progress import Progress, silent

Result = TypeVar("Result")
Partial = TypeVar("Partial")
Task = TypeVar("Task")


def chunks(total: int, size: int) -> list[range]:
    """Split 0..total−1 into ranges of `size`."""
    return [range(start, min(start + size, total)) for start in range(0, total, size)]


def in_threads(work: Callable[[Task], Result], tasks: Iterable[Task], threads: int) -> Iterator[tuple[Task, Result]]:
    """Yield each task with its result, in order. Only a few tasks are taken before their results are wanted."""
    waiting = iter(tasks)
    pool = ThreadPoolExecutor(threads)
    try:
        queue = deque((task, pool.submit(work, task)) for task in islice(waiting, threads + 1))
        while queue:
            task, future = queue.popleft()
            yield task, future.result()
            queue.extend((later, pool.submit(work, later)) for later in islice(waiting, 1))
    finally:
        pool.shutdown(cancel_futures=True)  # running tasks finish first, so that no thread still reads after we return


def read_ahead(load: Callable[[range], Result], parts: Iterable[range]) -> Iterator[tuple[range, Result]]:
    """Yield each part with the result of `load`, while a thread loads the next one."""
    return in_threads(load, parts, 1)


def reduce(
    reduction: Reduction[Any, Partial],
    size: int,
    what: str,
    progress: Progress = silent,
    parts: Parts | None = None,
    threads: int | None = None,
    passes: list[Pass] | None = None,
) -> Partial:
    """The result over `size` items. Finished parts are reused, and new ones are added to them."""

    def scanned(tasks: Iterator[tuple[range, Partial | None]]) -> Iterator[tuple[range, Partial]]:
        few = min(threads or cores(), -(-size // reduction.chunk))
        for (rows, _), found in in_threads(lambda task: reduction.run(*task), tasks, few):
            yield rows, found

    return drive(reduction, size, what, progress, parts, [] if passes is None else passes, scanned, reduction.chunk)


class LocalEngine:
    """Runs passes on this machine."""

    name = "local"

    def __init__(self) -> None:
        self.passes: list[Pass] = []

    def reduce(
        self, reduction: Reduction[Any, Partial], size: int, what: str, progress: Progress, parts: Parts | None = None
    ) -> Partial:
        """The result over `size` items; finished parts are reused, and new ones are added to them."""
        return reduce(reduction, size, what, progress, parts, passes=self.passes)
