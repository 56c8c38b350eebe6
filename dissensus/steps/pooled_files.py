"""Where the pictures of a pool are, in the order of the pool or in that in which they were given.

The pool is in the order of a hash of the ids, so that neighbours in an archive are anywhere in pool.parquet. Looking up
each of them there would read the whole list again and again: as long as a command reads pictures as they were given,
because they are in archives or share references, it keeps a second list in that order.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Int
from dissensus.engines.local import chunks
from dissensus.steps.pooling import files_of, given_order, pool_stamp
from dissensus.store.folder import Folder
from dissensus.store.tables import (
    ROW_GROUP,
    StudyTable,
    groups_of,
    open_grouped,
    open_table,
    read_groups,
    read_stamps,
    read_table,
    write_pieces,
)

COLUMNS = ("uri", "fingerprint", "reference")
WINDOW = 1 << 22
"""Items of the second list that are in memory while it is made."""


class PooledFiles:
    """The URI, the fingerprint and the reference of items, read a row group at a time; the last few stay in memory.

    Items should be asked for in the order of the pool or, within `listed_as_given`, in the order in which they were
    given.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.table, self.places = listed(folder), None
        if self.table.path != folder.pool:
            self.places = read_table(folder.pool, ["place"])["place"].to_numpy()
        self.has_references = "reference" in self.table.schema_arrow.names and self.has_any("reference")
        self._group = lru_cache(4)(self._read_group)

    def of(self, row: int, column: str) -> str | None:
        """What a column says of an item; None if it has no such column."""
        group, place = divmod(row if self.places is None else int(self.places[row]), ROW_GROUP)
        return self._group(group)[column][place]

    def has_any(self, column: str) -> bool:
        """Whether a column says anything of any item."""
        groups = range(self.table.num_row_groups)
        tables = (read_groups(self.table, [number], [column]) for number in groups)
        return any(table[column].null_count < len(table) for table in tables)

    def fingerprints(self) -> dict[str, str | None]:
        """The fingerprint of every reference that is an item itself, by its URI; all items would take gigabytes."""
        if not self.has_references:
            return {}
        groups = range(self.table.num_row_groups)
        named = (read_groups(self.table, [number], ["reference"])["reference"] for number in groups)
        references = pc.unique(pa.concat_arrays([pc.unique(column) for column in named])).drop_null()
        known: dict[str, str | None] = {}
        for number in groups:
            group = read_groups(self.table, [number], ["uri", "fingerprint"])
            own = group.filter(pc.is_in(group["uri"], value_set=references))
            known |= zip(own["uri"].to_pylist(), own["fingerprint"].to_pylist(), strict=True)
        return known

    def _read_group(self, number: int) -> dict[str, list[str | None]]:
        wanted = [name for name in COLUMNS if name in self.table.schema_arrow.names]
        found: dict[str, list[str | None]] = read_groups(self.table, [number], wanted).to_pydict()
        return found


def list_path(folder: Folder) -> Path:
    """Where the second list is; predictions are staged beside it, under their model's name, which has no '='."""
    return folder.parts("=pool.parquet")


@contextmanager
def listed_as_given(folder: Folder) -> Iterator[None]:
    """Keep a list of the files in the order given while the block reads them, if that is the best order."""
    path = list_path(folder)
    try:
        if files_of(folder).is_read_as_given:
            pool, order = open_table(folder.pool), given_order(folder)
            names = [name for name in COLUMNS if name in pool.schema_arrow.names]
            schema = pa.schema([pool.schema_arrow.field(name) for name in names])
            write_pieces(path, schema, _reordered(pool, names, order), {"pool": pool_stamp(folder)})
        yield
    finally:
        path.unlink(missing_ok=True)
        with suppress(OSError):  # other steps may have something there
            path.parent.rmdir()


def listed(folder: Folder) -> StudyTable:
    """The list of files that is in use: in the order given, within `listed_as_given`, or in that of the pool."""
    path = list_path(folder)
    if path.exists() and read_stamps(path, "pool")["pool"] == pool_stamp(folder):  # not left behind by a kill
        return open_grouped(path)
    return open_grouped(folder.pool)


def listed_rows(path: Path, rows: range) -> pa.Table:
    """URIs and fingerprints at some places of a list; they are in a single row group."""
    table = read_groups(open_table(path), groups_of(rows), list(COLUMNS[:2]))
    return table.slice(rows.start % ROW_GROUP, len(rows))


def _reordered(pool: StudyTable, names: list[str], order: Int[Array, " N"]) -> Iterator[pa.Table]:
    """Rows of the pool in another order, a window at a time: all of them may not fit into memory."""
    for window in chunks(len(order), WINDOW):
        wanted = order[window.start : window.stop]
        is_here = np.zeros(len(order), bool)
        is_here[wanted] = True
        groups = (range(start, min(start + ROW_GROUP, len(order))) for start in range(0, len(order), ROW_GROUP))
        found = pa.concat_tables(
            read_groups(pool, groups_of(rows), names).filter(pa.array(is_here[rows.start : rows.stop]))
            for rows in groups
        ).combine_chunks()
        places = np.argsort(np.argsort(wanted))  # in `found`, rows are in the order of the pool
        yield found.take(pa.array(places))
