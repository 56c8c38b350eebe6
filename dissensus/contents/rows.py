"""Pictures in a column of a Parquet file: a row is read with its row group; the last few stay in memory."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.contents.addresses import is_address
from dissensus.contents.remote import open_remote, remote_size

PICTURES = ("image", "img", "bytes", "content")
"""Names of the column of pictures, the most telling first."""
NAMES = ("item", "id", "__key__", "path")
"""Names of the column of ids."""
GROUPS = 4
"""Row groups that stay in memory."""
FILES = 64
"""Files that stay open."""


@dataclass(frozen=True)
class Columns:
    """The columns of a Parquet file that matter: of pictures, as Parquet names it, and of ids, if there is one."""

    picture: str
    field: str
    is_struct: bool
    name: str | None


def columns_of(schema: pa.Schema) -> Columns | None:
    """Which columns hold pictures and ids; None if no column holds pictures.

    Pictures are a column of bytes called image, img, bytes or content, or a struct with the field `bytes`, as Hugging
    Face's datasets write it; if several structs are like that, the one called image or img.
    """
    name = next((one for one in NAMES if one in schema.names and _is_name(schema.field(one).type)), None)
    structs = [field.name for field in schema if pa.types.is_struct(field.type) and _has_bytes(field.type)]
    named = [one for one in PICTURES if one in structs] or (structs if len(structs) == 1 else [])
    if named:
        return Columns(f"{named[0]}.bytes", named[0], True, name)
    plain = [one for one in PICTURES if one in schema.names and _is_bytes(schema.field(one).type)]
    return Columns(plain[0], plain[0], False, name) if plain else None


def parquet_file(where: str) -> pq.ParquetFile:
    """The Parquet file at a path or an address."""
    return pq.ParquetFile(open_remote(where) if is_address(where) else where, pre_buffer=False)


def row_content(where: str, row: int) -> bytes:
    """The bytes in the column of pictures.

    Raises:
        OSError: the file is missing, or has no such row or no picture in it.
    """
    return SHELF.read(where, row)


class Shelf:
    """Open files and the row groups that were read last, for all threads: neighbours read the same group."""

    def __init__(self) -> None:
        self.door = threading.Lock()
        self.files: OrderedDict[Hashable, OpenFile] = OrderedDict()
        self.groups: OrderedDict[Hashable, pa.ChunkedArray] = OrderedDict()

    def read(self, where: str, row: int) -> bytes:
        state = _state(where)
        with self.door:
            try:
                file = self._file(where, state)
                group = bisect_right(file.starts, row) - 1
                if not 0 <= row < file.rows:
                    raise OSError("the file has changed since it was pooled: it has fewer rows")
                column = self._group((where, state, group), file, group)
            except pa.ArrowException as error:
                raise OSError(f"damaged Parquet file ({error})") from None
        found = column[row - file.starts[group]].as_py()
        if found is None:
            raise OSError("no picture in this row")
        return bytes(found)

    def _file(self, where: str, state: Hashable) -> OpenFile:
        key = where, state
        if key not in self.files:
            self.files[key] = OpenFile(parquet_file(where))
            while len(self.files) > FILES:
                self.files.popitem(last=False)[1].file.close()
        self.files.move_to_end(key)
        return self.files[key]

    def _group(self, key: Hashable, file: OpenFile, group: int) -> pa.ChunkedArray:
        if key not in self.groups:
            while len(self.groups) >= GROUPS:
                self.groups.popitem(last=False)
            self.groups[key] = file.column(group)
        self.groups.move_to_end(key)
        return self.groups[key]


class OpenFile:
    """A Parquet file and the first row of each of its groups."""

    def __init__(self, file: pq.ParquetFile) -> None:
        self.file, found = file, columns_of(file.schema_arrow)
        if found is None:
            raise OSError("the file has changed since it was pooled: it has no column of pictures")
        self.columns = found
        sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
        self.starts, self.rows = [0, *accumulate(sizes)][:-1], sum(sizes)

    def column(self, group: int) -> pa.ChunkedArray:
        found = self.file.read_row_group(group, columns=[self.columns.picture], use_threads=False)[self.columns.field]
        if not self.columns.is_struct:
            return found
        return pa.chunked_array([chunk.field("bytes") for chunk in found.chunks])


SHELF = Shelf()


def _state(where: str) -> Hashable:
    """What changes if the file is replaced."""
    if is_address(where):
        return remote_state(where)
    found = os.stat(where)
    return found.st_mtime_ns, found.st_size


def remote_state(where: str) -> Any:
    """The size of a remote file, asked for once: its pictures are compared with their fingerprints anyway."""
    with STATES_DOOR:
        if where not in STATES:
            STATES[where] = remote_size(where)
        return STATES[where]


STATES: dict[str, int] = {}
STATES_DOOR = threading.Lock()


def _has_bytes(kind: pa.StructType) -> bool:
    place = kind.get_field_index("bytes")
    return place >= 0 and _is_bytes(kind.field(place).type)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def _is_name(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))
