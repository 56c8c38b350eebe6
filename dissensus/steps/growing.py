"""A pool that grows: which items a model still has to predict, and in what order, and one file of all predictions.

Items that are added get later places than those that were there. The order of the pool is that of a hash of the ids, so
that items of an earlier pool keep their order among themselves: old and new predictions are merged like sorted lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Bool, Int
from dissensus.engines.local import chunks
from dissensus.errors import StudyError
from dissensus.steps.pooling import earlier_pools, files_of, pool_size, pool_stamp
from dissensus.store.files import fingerprint
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_stamps, read_table, without_halves

TOGETHER = 512
"""Parts that are joined at a time."""


@dataclass(frozen=True)
class Coverage:
    """The items that a model has to predict."""

    rows: range | Int[Array, " n"]
    """Their positions in the pool, in the order in which they are predicted."""
    known: int = 0
    """How many items it has predicted already, when the pool was smaller."""
    size: int = 0
    """How many items there are."""

    @property
    def stamp(self) -> str:
        """The fingerprint of the rows; empty if they are simply all items."""
        return "" if isinstance(self.rows, range) else fingerprint(self.rows.tobytes())


def coverage(folder: Folder, name: str, in_any_order: bool, again: bool) -> Coverage:
    """What is left to predict: with `again`, or without earlier predictions, everything.

    Pictures in archives, or with references, are read in the order given, if predictions may be made `in_any_order`: a
    row of a Parquet file is read with its whole row group, and a reference is decoded once for all its neighbours.
    """
    size, target = pool_size(folder), folder.predictions(name)
    known = 0
    if target.exists() and not again:
        known = earlier_pools(folder).get(read_stamps(target, "inputs")["inputs"]["pool"], 0)
    is_ordered = in_any_order and files_of(folder).is_read_as_given
    if not known and not is_ordered:
        return Coverage(range(size), 0, size)
    places = _places(folder)
    rows = np.flatnonzero(places >= known)
    return Coverage(rows[np.argsort(places[rows])] if is_ordered else rows, known, size)


def is_added(folder: Folder, known: int) -> Bool[Array, " N"]:
    """The items that were added after the pool had `known` items."""
    size = pool_size(folder)
    return _places(folder) >= known if known < size else np.zeros(size, bool)


def is_behind(folder: Folder, name: str) -> bool:
    """Whether items have been added since a model predicted."""
    target = folder.predictions(name)
    return target.exists() and _is_earlier(folder, target)


def rounds_behind(folder: Folder) -> list[int]:
    """The rounds that were selected before items were added; `select` replaces them."""
    return [number for number in folder.rounds() if _is_earlier(folder, folder.selection(number))]


def require_current_rounds(folder: Folder) -> None:
    """Raise StudyError if items have been added since rounds were selected: nobody should be asked about these."""
    if behind := rounds_behind(folder):
        raise StudyError(
            f"items have been added to the pool since round {behind[0]} was selected: run dissensus predict "
            f"{folder.root}, then dissensus select {folder.root}, which replaces it"
        )


def extended(folder: Folder, name: str) -> dict[str, str]:
    """The predictions that a model had when the pool was smaller, if they are part of those that it gets now.

    The fingerprint of each, by the pool that they were made on. `extends` says whether the claim is true.
    """
    with suppress(StudyError):  # damaged predictions are not part of anything
        stamps = read_stamps(folder.predictions(name), "inputs", "content")
        pool, earlier = stamps["inputs"]["pool"], stamps.get("earlier", {})
        if pool == pool_stamp(folder):
            return dict(earlier)
        if pool in earlier_pools(folder):
            return {**earlier, pool: stamps["content"]}
    return {}


def extends(folder: Folder, name: str, path: Path) -> bool:
    """Whether the predictions in a file are, for the items that a model has predicted already, the same as before."""
    before = folder.predictions(name)
    known = earlier_pools(folder).get(read_stamps(before, "inputs")["inputs"]["pool"], pool_size(folder))
    is_old, start = ~is_added(folder, known), 0
    old, names = _Rows(_tables(before)), [one for one in open_table(before).schema_arrow.names if one != "problem"]
    if names != [one for one in open_table(path).schema_arrow.names if one != "problem"]:
        return False
    for table in _tables(path):
        left = table.filter(pa.array(is_old[start : start + len(table)]))
        start += len(table)
        while len(left):
            count = min(len(left), old.ahead())
            if not count or not _same(left.slice(0, count).select(names), old.take(count).select(names)):
                return False
            left = left.slice(count)
    return old.ahead() == 0


def _same(one: pa.Table, other: pa.Table) -> bool:
    """Whether two tables have the same values; unlike for Arrow, a missing number is the same as another."""
    return one.schema.types == other.schema.types and all(
        a.to_numpy().tobytes() == b.to_numpy().tobytes() if pa.types.is_floating(a.type) else a.equals(b)
        for a, b in zip(one.columns, other.columns, strict=True)
    )


def _is_earlier(folder: Folder, path: Path) -> bool:
    """Whether a file was made from a smaller pool that this one grew from."""
    earlier = earlier_pools(folder) if folder.pool.exists() else {}
    return bool(earlier) and read_stamps(path, "inputs")["inputs"].get("pool") in earlier


def _places(folder: Folder) -> Int[Array, " N"]:
    """The place of every item in the order in which they were given."""
    return read_table(folder.pool, ["place"])["place"].to_numpy()


def _tables(path: Path) -> Iterator[pa.Table]:
    return (without_halves(pa.Table.from_batches([batch])) for batch in open_table(path).iter_batches())


def in_pool_order(covered: Coverage, predictions: Path, parts: Iterable[pa.Table]) -> Iterator[pa.Table]:
    """All predictions, one after the other: the parts that were made now, and the earlier ones in `predictions`."""
    if isinstance(covered.rows, range):
        yield from parts
        return
    rows = covered.rows
    if (np.diff(rows) < 0).any():
        parts = _reordered(parts, np.argsort(rows))
    if not covered.known:
        yield from parts
        return
    is_new = np.zeros(covered.size, bool)
    is_new[rows] = True
    yield from merged(_tables(predictions), parts, is_new)


def _reordered(parts: Iterable[pa.Table], order: Int[Array, " n"]) -> Iterator[pa.Table]:
    """All rows in another order, a row group at a time.

    Parts are joined a few hundred at a time: a table takes several times as much memory as the rows of a part.
    """
    left, joined = iter(parts), list[pa.Table]()
    while some := list(islice(left, TOGETHER)):
        joined.append(pa.concat_tables(some).combine_chunks())
    whole = pa.concat_tables(joined).combine_chunks()
    for rows in chunks(len(order), ROW_GROUP):
        yield whole.take(pa.array(order[rows.start : rows.stop]))


def merged(old: Iterable[pa.Table], new: Iterable[pa.Table], is_new: Bool[Array, " N"]) -> Iterator[pa.Table]:
    """The rows of both, each in its own order: `is_new` says which of them is next. Columns are those of both."""
    sides, start = (_Rows(old), _Rows(new)), 0
    while start < len(is_new):
        ahead = [side.ahead() for side in sides]
        window = is_new[start : start + sum(ahead)]
        fits = (np.cumsum(~window) <= ahead[0]) & (np.cumsum(window) <= ahead[1])
        count = len(fits) if fits.all() else int(np.argmin(fits))
        assert count, "there is a row for every item"
        mask = is_new[start : start + count]
        tables = [side.take(int((mask == one).sum())) for side, one in zip(sides, (False, True), strict=True)]
        yield _interleaved(tables, mask)
        start += count


def _interleaved(tables: Sequence[pa.Table], is_new: Bool[Array, " n"]) -> pa.Table:
    names = [name for name in tables[0].column_names if name in tables[1].column_names]
    order: Int[Array, " n"] = np.argsort(np.argsort(is_new, kind="stable"), kind="stable")
    kinds = {name: tables[0].schema.field(name).type for name in names}
    schema = pa.schema(list(kinds.items()))
    return pa.concat_tables([table.select(names).cast(schema) for table in tables]).take(pa.array(order))


class _Rows:
    """Tables of which some rows are taken at a time."""

    def __init__(self, tables: Iterable[pa.Table]) -> None:
        self.tables = iter(tables)
        self.held: pa.Table | None = None

    def ahead(self) -> int:
        """How many rows can be taken now; none if there are no more."""
        while self.held is None or not len(self.held):
            following = next(self.tables, None)
            if following is None:
                return 0
            self.held = following
        return len(self.held)

    def take(self, count: int) -> pa.Table:
        assert self.held is not None, "both sides have rows"
        found, self.held = self.held.slice(0, count), self.held.slice(count)
        return found
