"""Pictures in a column of a Parquet file: a row is read with its row group; the last few stay in memory."""

from __future__ import annotations

import os
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from itertools import accumulate

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.contents.addresses import is_address
from dissensus.contents.remote import ContentError, open_remote, patiently
from dissensus.errors import first_line

PICTURES = ("image", "img", "bytes", "content")
"""Names of the column of pictures, the most telling first."""
NAMES = ("item", "id", "__key__", "path")
"""Names of the column of ids."""
ROOM = 1 << 30
"""Bytes of row groups that stay in the memory of a process; the last one always does."""
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
        OSError: the file is missing or damaged, or has no such row or no picture in it.
        PoolError: a server cannot be reached.
    """
    if is_address(where):
        return patiently(where, lambda: SHELF.read(where, row))
    return SHELF.read(where, row)


class Shelf:
    """Open files and the row groups that were read last, for all threads: neighbours read the same group."""

    def __init__(self) -> None:
        self.room = ROOM
        self.door = threading.Lock()
        self.files: OrderedDict[Hashable, OpenFile] = OrderedDict()
        self.groups: OrderedDict[Hashable, pa.ChunkedArray] = OrderedDict()

    def read(self, where: str, row: int) -> bytes:
        key = where, _state(where)
        file = self._file(key)
        with file.turn:  # others read other files meanwhile
            try:
                group, place = file.place_of(row)
                column = self._kept((key, group)) or self._keep((key, group), file.column(group))
            except pa.ArrowException as error:
                raise ContentError(f"damaged Parquet file ({first_line(error)})") from None
            except Exception as error:
                file.close()
                if type(error) is OSError and error.errno is None:  # what pyarrow raises; the system gives a number
                    raise ContentError(f"damaged Parquet file ({first_line(error)})") from None
                raise
        found = column[place].as_py()
        if found is None:
            raise ContentError("no picture in this row")
        return bytes(found)

    def _file(self, key: tuple[str, Hashable]) -> OpenFile:
        with self.door:
            file = self.files.setdefault(key, OpenFile(key[0]))
            self.files.move_to_end(key)
            while len(self.files) > FILES:
                self.files.popitem(last=False)
        return file

    def _kept(self, key: Hashable) -> pa.ChunkedArray | None:
        with self.door:
            if key in self.groups:
                self.groups.move_to_end(key)
            return self.groups.get(key)

    def _keep(self, key: Hashable, column: pa.ChunkedArray) -> pa.ChunkedArray:
        with self.door:
            self.groups[key] = column
            while len(self.groups) > 1 and sum(one.nbytes for one in self.groups.values()) > self.room:
                self.groups.popitem(last=False)
        return column


class OpenFile:
    """A Parquet file and the first row of each of its groups; it is opened when it is first read."""

    def __init__(self, where: str) -> None:
        self.where, self.turn = where, threading.Lock()
        self.file: pq.ParquetFile | None = None

    def place_of(self, row: int) -> tuple[int, int]:
        """The row group that a row is in, and its place there."""
        if self.file is None:
            file = parquet_file(self.where)
            found = columns_of(file.schema_arrow)
            if found is None:
                raise ContentError("the file has changed since it was pooled: it has no column of pictures")
            sizes = [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]
            self.starts, self.rows = [0, *accumulate(sizes)][:-1], sum(sizes)
            self.file, self.columns = file, found
        if not 0 <= row < self.rows:
            raise ContentError("the file has changed since it was pooled: it has fewer rows")
        group = bisect_right(self.starts, row) - 1
        return group, row - self.starts[group]

    def column(self, group: int) -> pa.ChunkedArray:
        assert self.file is not None, "a row has been looked up"
        found = self.file.read_row_group(group, columns=[self.columns.picture], use_threads=False)[self.columns.field]
        if not self.columns.is_struct:
            return found
        return pa.chunked_array([chunk.field("bytes") for chunk in found.chunks])

    def close(self) -> None:
        """Open the file anew next time."""
        self.file = None


SHELF = Shelf()


def _state(where: str) -> Hashable:
    """What changes if the file is replaced; nothing for a remote file, whose pictures have fingerprints anyway."""
    if is_address(where):
        return None
    found = os.stat(where)
    return found.st_mtime_ns, found.st_size


def _has_bytes(kind: pa.StructType) -> bool:
    place = kind.get_field_index("bytes")
    return place >= 0 and _is_bytes(kind.field(place).type)


def _is_bytes(kind: pa.DataType) -> bool:
    kind = _of_values(kind)
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind))


def _is_name(kind: pa.DataType) -> bool:
    kind = _of_values(kind)
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_integer(kind))


def _of_values(kind: pa.DataType) -> pa.DataType:
    """The type of the values of a column, which may be stored as categories, as data frames do."""
    return kind.value_type if pa.types.is_dictionary(kind) else kind
