"""A pass over all items of a pool as a reduction: what an engine runs, here or on many machines."""

from __future__ import annotations

from dataclasses import fields
from io import BytesIO
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pyarrow as pa

Loaded = TypeVar("Loaded")
Partial = TypeVar("Partial")


class Progress(Protocol):
    """Told about every finished chunk: what is being done, how much of it is, and how much there is."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Take note."""


class Parts(Protocol):
    """Finished parts of a step, which stay finished when it is killed."""

    def __contains__(self, number: int) -> bool:
        """Whether a part is finished."""

    def read(self, number: int) -> pa.Table:
        """A finished part."""

    def write(self, number: int, table: pa.Table) -> None:
        """Keep a finished part."""


class Reduction(Generic[Loaded, Partial]):
    """`load` some items, `scan` them, `merge` what was found; the same result for every order of merging.

    An engine loads `chunk` items at a time, from multiples of that number on (the last chunk may be shorter).

    A task fills `load`, `scan` and `merge`. What they find is an array, or a dataclass of arrays and numbers
    (`partial`); others say by `dump` and `restore` how a finished part is written.
    """

    chunk: int
    """Items that are loaded at once."""
    kept: int = 1
    """Chunks that are scanned before what they gave is kept."""
    partial: type[Partial]

    def load(self, rows: range) -> Loaded:
        """What is known of some items; called in a thread while others are scanned."""
        raise NotImplementedError

    def scan(self, loaded: Loaded, first_item: int, known: Partial | None) -> Partial:
        """What they come to. `known`, what other chunks came to, only saves time."""
        raise NotImplementedError

    def merge(self, one: Partial, other: Partial) -> Partial:
        """What the items of both come to."""
        raise NotImplementedError

    def is_settled(self, known: Partial, first_item: int) -> bool:  # noqa: ARG002
        """True where no item from `first_item` on can change the result."""
        return False

    def dump(self, found: Partial) -> pa.Table:
        """What was found, as a table."""
        if isinstance(found, np.ndarray):
            return pa.table({"found": [_packed(found)]})
        cells = {field.name: _packed(getattr(found, field.name)) for field in fields(found)}  # type: ignore[arg-type]
        return pa.table({name: [cell] for name, cell in cells.items()})

    def restore(self, table: pa.Table) -> Partial:
        """What was found, from its table."""
        cells = {name: _unpacked(table[name][0].as_py()) for name in table.column_names}
        return self.partial(**cells) if hasattr(self, "partial") else cells["found"]


class Engine(Protocol):
    """Where a reduction runs."""

    def __call__(
        self,
        reduction: Reduction[Any, Partial],
        size: int,
        what: str,
        progress: Progress,
        parts: Parts | None,
    ) -> Partial:
        """What `size` items come to; finished parts are taken as they are, and new ones are kept among them."""


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
