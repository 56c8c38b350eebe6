"""A pass over all items of a pool as a reduction, which an engine runs on one machine or on many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields
from io import BytesIO
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

Loaded = TypeVar("Loaded")
Partial = TypeVar("Partial")


class Progress(Protocol):
    """Callback after every finished chunk: the task, how much of it is done, and the total."""

    def __call__(self, what: str, done: int, total: int) -> None: ...


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
    """

    chunk: int
    """Items that are loaded at once."""
    kept: int = 1
    """Chunks that are scanned before their result is saved."""
    partial: type[Partial]

    @abstractmethod
    def load(self, rows: range) -> Loaded:
        """Load the data of some items; called in a thread while other items are scanned."""

    @abstractmethod
    def scan(self, loaded: Loaded, first_item: int, known: Partial | None) -> Partial:
        """The result for the loaded items. `known`, the result of other chunks so far, only saves time."""

    @abstractmethod
    def merge(self, one: Partial, other: Partial) -> Partial:
        """The result for the items of both."""

    def is_settled(self, known: Partial, first_item: int) -> bool:  # noqa: ARG002
        """True if no item from `first_item` on can change the result."""
        return False

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
    """Runs reductions."""

    def __call__(
        self,
        reduction: Reduction[Any, Partial],
        size: int,
        what: str,
        progress: Progress,
        parts: Parts | None,
    ) -> Partial:
        """The result over `size` items; finished parts are reused, and new ones are added to them."""


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
