"""The maps of one model on disk, read back as run lengths."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int
from dissensus.records import Maps
from dissensus.store.folder import Folder
from dissensus.store.tables import StudyTable, open_table, read_groups

MAP_GROUP = 1 << 10
"""Maps per row group, which are read together."""
COLUMNS = ["height", "width", "runs"]
NO_MAPS = Maps(np.zeros(0, np.uint8), np.zeros(1, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))


class MapColumn:
    """The maps of one model in the order of the pool, read by row group or for some items."""

    def __init__(self, folder: Folder, name: str) -> None:
        self.folder, self.name = folder, name

    @cached_property
    def _file(self) -> StudyTable:
        return open_table(self.folder.predictions(self.name))

    @property
    def item_bytes(self) -> float:
        """Bytes in the file that a map takes."""
        return self._file.bytes_of(*COLUMNS)

    def group(self, number: int) -> Maps:
        """The maps of a row group."""
        return maps_in(read_groups(self._file, [number], COLUMNS))

    def at(self, items: Int[Array, " n"]) -> Maps:
        """The maps of some items, in the given order."""
        groups = np.unique(items // MAP_GROUP)
        parts = []
        if len(items) == 0:
            return NO_MAPS
        for group in groups.tolist():
            rows = np.flatnonzero(items // MAP_GROUP == group)
            table = read_groups(self._file, [group], COLUMNS).take(pa.array(items[rows] - group * MAP_GROUP))
            parts.append(table.append_column("place", pa.array(rows)))
        return maps_in(pa.concat_tables(parts).sort_by("place"))


def maps_in(table: pa.Table) -> Maps:
    """The maps in the rows of a table, without copying if they are contiguous."""
    if len(table) == 0:
        return NO_MAPS
    runs = table["runs"].combine_chunks()
    if isinstance(runs, pa.ChunkedArray):
        runs = pa.concat_arrays(runs.chunks)
    offsets = np.frombuffer(runs.buffers()[1], np.int32)[runs.offset : runs.offset + len(runs) + 1].astype(np.int64)
    held = runs.buffers()[2]
    data = np.zeros(0, np.uint8) if held is None else np.frombuffer(held, np.uint8)[offsets[0] : offsets[-1]]
    sizes = [table[name].to_numpy().astype(np.int64) for name in ("height", "width")]
    return Maps(data, offsets - offsets[0], *sizes)
