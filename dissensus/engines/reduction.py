"""A pass over all items of a pool as a reduction, which an engine runs on one machine or on many."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import fields
from io import BytesIO
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int
from dissensus.engines.speed import Pass
from dissensus.progress import Progress

Loaded = TypeVar("Loaded")
Partial = TypeVar("Partial")
Task = TypeVar("Task")
Result = TypeVar("Result")
Renumber = Callable[[Int[Array, " n"]], Int[Array, " n"]]
"""Other numbers for some items, in the same order."""


class Parts(Protocol):
    """Finished parts of a step, which survive an interruption."""

    def __contains__(self, number: int) -> bool:
        """Whether a part is finished."""

    def read(self, number: int) -> pa.Table:
        """Load a finished part."""

    def write(self, number: int, table: pa.Table) -> None:
        """Save a finished part."""


class Reduction(ABC, Generic[Loaded, Partial]):
    """`load` some items, `scan` them, `merge` the results; the order of merging does not matter.

    An engine loads `chunk` items at a time, starting at multiples of that number (the last chunk may be shorter).

    A task implements `load`, `scan` and `merge`. A result is an array, or a dataclass of arrays and numbers
    (`partial`); for anything else, override `dump` and `restore`, which write and read a finished part.

    If the result is worth keeping for a pool that grows, a task also implements `stamp`, `take` and, if results contain
    item numbers, `renumbered`.
    """

    chunk: int
    """Items that are loaded at once."""
    kept: int = 1
    """Chunks that are scanned before their result is saved."""
    partial: type[Partial]
    item_bytes: float = 0.0
    """Bytes that are read for an item."""
    before: Partial | None = None
    """The result for items that are not scanned, because it is known."""

    @abstractmethod
    def load(self, rows: range) -> Loaded:
        """Load the data of some items; called in several threads at a time, as is `scan`."""

    @abstractmethod
    def scan(self, loaded: Loaded, first_item: int, known: Partial | None) -> Partial:
        """The result for the loaded items. `known`, the result of other chunks so far, only saves time."""

    @abstractmethod
    def merge(self, one: Partial, other: Partial) -> Partial:
        """The result for the items of both."""

    @property
    def block(self) -> int:
        """Items whose result is saved together."""
        return self.chunk * self.kept

    def hint(self, known: Partial) -> Partial:
        """The part of a result that `scan` and `is_settled` look at, if that is less to send to another machine."""
        return known

    def is_settled(self, known: Partial, first_item: int) -> bool:  # noqa: ARG002
        """True if no item from `first_item` on can change the result."""
        return False

    def stamp(self) -> Any:
        """All that the result depends on besides what the models predict, as lists of numbers, texts and arrays.

        None if the result is not to be kept.
        """
        return None

    def take(self, loaded: Loaded, rows: Int[Array, " n"]) -> Loaded:
        """Some of the loaded items."""
        raise NotImplementedError  # a reduction with a stamp has it

    def renumbered(self, found: Partial, renumber: Renumber) -> Partial:  # noqa: ARG002
        """The same result with other item numbers."""
        return found

    def count(self, rows: range) -> int:
        """How many of these items are scanned."""
        return len(rows)

    def run(self, rows: range, known: Partial | None) -> Partial:
        """The result for some items: those of a chunk, or of several."""
        found: Partial | None = None
        for start in range(rows.start, rows.stop, self.chunk):
            part = range(start, min(start + self.chunk, rows.stop))
            here = self.scan(self.load(part), start, known)
            found = here if found is None else self.merge(found, here)
            if part.stop < rows.stop:
                known = here if known is None else self.merge(known, here)
                if self.is_settled(known, part.stop):
                    break
        assert found is not None, "there are items"
        return found

    def dump(self, found: Partial) -> pa.Table:
        """A result as a table."""
        if isinstance(found, np.ndarray):
            return pa.table({"found": [_packed(found)]})
        cells = {field.name: _packed(getattr(found, field.name)) for field in fields(found)}  # type: ignore[arg-type]
        return pa.table({name: [cell] for name, cell in cells.items()})

    def restore(self, table: pa.Table) -> Partial:
        """A result from its table."""
        cells = {name: _unpacked(table[name][0].as_py()) for name in table.column_names}
        return self.partial(**cells) if hasattr(self, "partial") else cells["found"]


class Engine(Protocol):
    """Where passes over the pool run, and models, if it is not this process."""

    name: str
    passes: list[Pass]
    """What it has run."""

    def reduce(
        self,
        reduction: Reduction[Any, Partial],
        size: int,
        what: str,
        progress: Progress,
        parts: Parts | None = None,
    ) -> Partial:
        """The result over `size` items; finished parts are reused, and new ones are added to them."""


@runtime_checkable
class Workers(Protocol):
    """An engine with processes of its own, which can hold something that takes long to make, such as a model."""

    def map(
        self,
        worker: Callable[[], Callable[[Task], Result]],
        tasks: Iterable[Task],
        uses_gpus: bool = False,
        most: int | None = None,
    ) -> Generator[tuple[Task, Result]]:
        """Every task with what a worker makes of it, in order; `worker` makes one, and can be sent elsewhere.

        There are no more workers than processors (or GPUs), and no more than `most`, the number of tasks. They are let
        go when the generator is closed.
        """


Tasks = Iterator[tuple[range, Partial | None]]
"""Ranges of items to scan, each with the result of others so far."""


def drive(
    reduction: Reduction[Any, Partial],
    size: int,
    what: str,
    progress: Progress,
    parts: Parts | None,
    passes: list[Pass],
    scanned: Callable[[Tasks[Partial]], Iterator[tuple[range, Partial]]],
    task: int,
) -> Partial:
    """What all engines have in common: what is left to scan, when to save, and when nothing can change any more.

    `scanned` is the engine: it takes tasks as it has room for them, and yields the result of each, in order. A task has
    `task` items, a multiple of a chunk and a divisor of a block, whose result is saved. How it went is added to
    `passes`.
    """
    begin, block = time.perf_counter(), reduction.block
    finished = {number: None for number in range(-(-size // block)) if parts is not None and number in parts}
    whole = _Growing(reduction, reduction.before)
    for number in finished:
        assert parts is not None, "only parts can be finished"
        whole.add(reduction.restore(parts.read(number)), block)
    known = sum(reduction.count(range(number * block, min((number + 1) * block, size))) for number in finished)
    is_settled = False

    def tasks() -> Tasks[Partial]:
        nonlocal is_settled
        for start in range(0, size, task):
            if start // block in finished:
                continue
            if whole.known is not None and reduction.is_settled(whole.known, start):
                is_settled = True
                return
            yield range(start, min(start + task, size)), whole.known

    since: Partial | None = None
    items = 0
    first: tuple[float, int] | None = None
    for rows, found in scanned(tasks()):
        whole.add(found, len(rows))
        items += reduction.count(rows)
        first = first or (time.perf_counter() - begin, items)
        if parts is not None:
            since = found if since is None else reduction.merge(since, found)
            if rows.stop % block == 0 or rows.stop == size:
                parts.write(rows.start // block, reduction.dump(since))
                since = None
        progress(what, rows.stop, size)
    progress(what, size, size)
    result = whole.result()
    took, read = time.perf_counter() - begin, round(items * reduction.item_bytes)
    passes.append(Pass(what, items, read, took, *(first or (0.0, 0)), known, is_settled))
    return result


class _Growing(Generic[Partial]):
    """The result of more and more items.

    Merging takes as long as the larger of two results is large. So what is new is merged with itself first, and with
    the rest as soon as it is an eighth of it. `known`, the rest, is what later chunks are compared with.
    """

    def __init__(self, reduction: Reduction[Any, Partial], known: Partial | None) -> None:
        self.reduction, self.known = reduction, known
        self.new: Partial | None = None
        self.items = self.new_items = 0

    def add(self, found: Partial, items: int) -> None:
        """Include a result of other items."""
        new, self.new_items = self._merged(self.new, found), self.new_items + items
        self.new = new
        if 8 * self.new_items >= self.items:
            self.known, self.items = self._merged(self.known, new), self.items + self.new_items
            self.new, self.new_items = None, 0

    def result(self) -> Partial:
        """The result of all items."""
        found = self.known if self.new is None else self._merged(self.known, self.new)
        assert found is not None, "a pool has items"
        return found

    def _merged(self, one: Partial | None, other: Partial) -> Partial:
        return other if one is None else self.reduction.merge(one, other)


def _packed(value: Any) -> bytes:
    """An array, several arrays, or numbers, as bytes."""
    buffer = BytesIO()
    if isinstance(value, tuple):
        np.savez(buffer, **{str(number): one for number, one in enumerate(value)})
    else:
        np.save(buffer, value, allow_pickle=False)
    return buffer.getvalue()


def _unpacked(data: bytes) -> Any:
    found = np.load(BytesIO(data), allow_pickle=False)
    if isinstance(found, np.ndarray):
        return found if found.ndim else found.item()
    return tuple(found[str(number)] for number in range(len(found.files)))
