"""A pass over a pool that has grown: the result for the earlier items is known, so that only the others are scanned."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Bool, Int
from dissensus.engines.reduction import Engine, Partial, Parts, Reduction
from dissensus.progress import Progress

Key = Callable[[Reduction[Any, Any]], str | None]
AFTER = np.iinfo(np.int64).max - 1
"""A number greater than that of any item."""


class Extension(Reduction[tuple[Int[Array, " n"], Any], Partial]):
    """The reduction `whole` over the items at `added`, merged with the known result for the others.

    Items are added in between the others, so that a chunk is loaded as a whole. Of its items, those that were added are
    numbered from 0 while they are scanned; their numbers ascend in either way of counting, so that ties stay resolved.
    """

    def __init__(self, whole: Reduction[Any, Partial], before: Partial, added: Int[Array, " n"], size: int) -> None:
        self.whole, self.before, self.added = whole, before, added
        self.chunk, self.kept = whole.chunk, whole.kept
        self.item_bytes = whole.item_bytes * size / max(1, len(added))  # all are read

    def load(self, rows: range) -> tuple[Int[Array, " n"], Any]:
        positions = self._added_in(rows)
        return positions, self.whole.take(self.whole.load(rows), positions - rows.start)

    def scan(self, loaded: tuple[Int[Array, " n"], Any], first_item: int, known: Partial | None) -> Partial:  # noqa: ARG002
        positions, taken = loaded
        if known is not None:
            known = self.whole.renumbered(self.whole.hint(known), lambda items: np.searchsorted(positions, items))
        found = self.whole.scan(taken, 0, known)
        places = np.append(positions, AFTER)  # what is known of others may point behind the last of these
        return self.whole.renumbered(found, lambda items: places[items])

    def merge(self, one: Partial, other: Partial) -> Partial:
        return self.whole.merge(one, other)

    def hint(self, known: Partial) -> Partial:
        return self.whole.hint(known)

    def is_settled(self, known: Partial, first_item: int) -> bool:
        return self.whole.is_settled(known, first_item)

    def count(self, rows: range) -> int:
        return len(self._added_in(rows))

    def dump(self, found: Partial) -> pa.Table:
        return self.whole.dump(found)

    def restore(self, table: pa.Table) -> Partial:
        return self.whole.restore(table)

    def _added_in(self, rows: range) -> Int[Array, " n"]:
        start, stop = np.searchsorted(self.added, (rows.start, rows.stop))
        return self.added[start:stop]


class ExtendingEngine:
    """Wraps another engine: where the result for the earlier items is known, it scans only those that were added.

    `key` says under which name the result of a reduction is known, or is kept for next time; None if it is not.
    """

    def __init__(
        self,
        engine: Engine,
        key: Key,
        known: Mapping[str, pa.Table] | None = None,
        is_added: Bool[Array, " N"] | None = None,
        origin: str = "",
    ) -> None:
        """Without results that are `known`, everything is scanned; `origin` says where they are from."""
        self.engine, self.name, self.passes = engine, engine.name, engine.passes
        self.key, self.known, self.origin = key, known or {}, origin
        is_added = np.zeros(0, bool) if is_added is None else is_added
        self.added, self.earlier = np.flatnonzero(is_added), np.flatnonzero(~is_added)
        self.found: dict[str, pa.Table] = {}
        """The results of this engine, by key."""

    def is_known(self, reduction: Reduction[Any, Any]) -> bool:
        """Whether only items that were added would be scanned."""
        return self.key(reduction) in self.known

    def reduce(
        self, reduction: Reduction[Any, Partial], size: int, what: str, progress: Progress, parts: Parts | None = None
    ) -> Partial:
        """The result over `size` items."""
        key = self.key(reduction)
        if key is None:
            return self.engine.reduce(reduction, size, what, progress, parts)
        found = self._reduced(reduction, size, what, progress, parts, self.known.get(key))
        self.found[key] = reduction.dump(found)
        return found

    def _reduced(
        self,
        reduction: Reduction[Any, Partial],
        size: int,
        what: str,
        progress: Progress,
        parts: Parts | None,
        known: pa.Table | None,
    ) -> Partial:
        if known is None:
            return self.engine.reduce(reduction, size, what, progress, parts)
        before = reduction.renumbered(reduction.restore(known), lambda items: self.earlier[items])
        if not len(self.added):
            return before
        return self.engine.reduce(Extension(reduction, before, self.added, size), size, what, progress, parts)
