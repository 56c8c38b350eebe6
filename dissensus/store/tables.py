"""Parquet files that record what they were made from, as stamps in the schema's metadata."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.arrays import Array, Int
from dissensus.errors import StudyError, first_line
from dissensus.store.checksums import remedy_for, verify
from dissensus.store.files import write_whole

if TYPE_CHECKING:
    from dissensus.store.pages import Page, Pages

ROW_GROUP = 1 << 17
STAMPS, SUMS = b"dissensus", b"dissensus.sums"
PAGE = 8 * ROW_GROUP + 1
"""More bytes than a row group of any column of numbers has, so that it is a single page."""
UNREADABLE = (pa.ArrowException, OSError, ValueError, TypeError, KeyError, IndexError, MemoryError, OverflowError)
"""What pyarrow raises for a damaged file."""


def write_table(
    path: Path, table: pa.Table, stamps: dict[str, Any], packed: Collection[str] = (), coded: Collection[str] = ()
) -> None:
    """Write a table atomically. The same table and stamps always give the same bytes.

    Numbers are neither compressed nor dictionary-encoded, so they read about as fast as memory can be copied; except
    for the `packed` columns, which are seldom read, and the `coded` ones, which have few different values.
    """
    write_pieces(path, table.schema, [table], stamps, packed=packed, coded=coded)


def write_pieces(
    path: Path,
    schema: pa.Schema,
    pieces: Iterable[pa.Table],
    stamps: dict[str, Any],
    row_group: int = ROW_GROUP,
    packed: Collection[str] = (),
    coded: Collection[str] = (),
) -> None:
    """Write a table piece by piece; gives the same bytes as writing the whole table at once.

    Large rows, such as maps, need smaller row groups: a row group is read and written as a whole.
    """
    stamped = schema.with_metadata({STAMPS: json.dumps(stamps, sort_keys=True).encode()})
    # compression halves the run lengths of maps, which still read nearly as fast (benchmarks/maps.py)
    words = [
        field.name
        for field in stamped
        if pa.types.is_string(field.type) or pa.types.is_binary(field.type) or field.name in packed
    ]
    plain = [field.name for field in stamped if field.name not in words]
    is_summed = row_group == ROW_GROUP
    summed = [field for field in stamped if is_summed and field.name in plain and field.name not in coded]

    def write(unfinished: Path) -> None:
        sums: dict[str, list[int]] = {}
        with pq.ParquetWriter(
            unfinished,
            stamped,
            compression=dict.fromkeys(words, "zstd") | dict.fromkeys(plain, "none"),
            use_dictionary=list(coded),
            write_statistics=False,
            write_page_checksum=True,
            store_schema=True,
            data_page_size=PAGE,
            max_rows_per_page=ROW_GROUP,
        ) as file:
            for rows in _in_row_groups(pieces, row_group):
                table = rows.cast(stamped)
                if sums or len(table) >= ROW_GROUP:  # small files are verified as a whole
                    _add_sums(sums, table, summed)
                file.write_table(table, row_group)
            if sums:
                file.add_key_value_metadata({SUMS: json.dumps(sums).encode()})

    write_whole(path, write)


def _add_sums(sums: dict[str, list[int]], table: pa.Table, fields: Iterable[pa.Field]) -> None:
    """Append the sums of a table's row groups, for every column that can be read from its pages."""
    from dissensus.store.pages import is_plain, page_sum  # compiles on first use

    for start in range(0, len(table), ROW_GROUP):
        rows = table.slice(start, ROW_GROUP)
        for field in filter(is_plain, fields):
            sums.setdefault(field.name, []).append(page_sum(rows[field.name].to_numpy()))


def _in_row_groups(pieces: Iterable[pa.Table], row_group: int) -> Iterator[pa.Table]:
    """The same rows in tables of whole row groups, except for the last one."""
    held: list[pa.Table] = []
    for piece in pieces:
        held.append(piece)
        if sum(map(len, held)) >= row_group:
            whole = pa.concat_tables(held)
            ended = len(whole) // row_group * row_group
            yield whole.slice(0, ended)
            held = [whole.slice(ended)]
    if sum(map(len, held)):
        yield pa.concat_tables(held)


class StudyTable(pq.ParquetFile):
    """A Parquet file whose pages are verified as they are read; for a local file, pre-buffering only adds a copy.

    Several threads may read from it, and it can be sent to another process, which opens the file again.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path, pre_buffer=False, page_checksum_verification=True)
        self.path = path
        self._turns = Lock()
        self._chunks_of: dict[str, list[tuple[int, int]]] = {}
        self._pages_of: dict[str, list[Page]] = {}

    def __reduce__(self) -> tuple[Callable[[Path], StudyTable], tuple[Path]]:
        return open_table, (self.path.absolute(),)

    def groups(self, numbers: list[int], columns: list[str]) -> pa.Table:
        """Columns of some row groups; a row group is too small to split between threads."""
        with self._turns:
            return self.read_row_groups(numbers, columns=columns, use_threads=False)

    def numbers(self, group: int, column: str, may_be_wider: bool = False) -> Array:
        """The values of a column of numbers in one row group, read from its page if the file has sums.

        Numbers in half precision are given as the shortest decimals that they stand for: 0.8 is 0.8 again, not 0.7998.
        `may_be_wider`: integers are not converted to the smaller type that they are declared as.

        Raises:
            ValueError: the file has row groups of other sizes, because another tool has written it.
        """
        self.require_our_groups()
        pages = self.pages(column)
        if not pages:
            found = self.groups([group], [column])[column].to_numpy()
        else:
            found = self._open.read(pages[group])
            found = found if may_be_wider else found.astype(self._kinds[column], copy=False)
        return decimal(found) if found.dtype == np.float16 else found

    def bytes_of(self, *columns: str) -> float:
        """Bytes in the file that a row takes in some of its columns."""
        stored = sum(size for name in columns if name in self._places for _, size in self._chunks(name))
        return stored / max(1, self.metadata.num_rows)

    @cached_property
    def _row_groups(self) -> list[pq.RowGroupMetaData]:
        return [self.metadata.row_group(number) for number in range(self.num_row_groups)]

    def require_our_groups(self) -> None:
        """Raise ValueError if another tool has written the file, in row groups of other sizes."""
        if not self._has_our_groups:
            raise ValueError("another tool has rewritten it, in row groups of another size")

    @cached_property
    def _has_our_groups(self) -> bool:
        """Whether all row groups have our size; the last one may be smaller."""
        sizes = [group.num_rows for group in self._row_groups]
        return all(size == ROW_GROUP for size in sizes[:-1]) and all(0 < size <= ROW_GROUP for size in sizes[-1:])

    @cached_property
    def _sums(self) -> dict[str, list[int]]:
        if not hasattr(os, "preadv"):
            return {}
        return dict(json.loads((self.metadata.metadata or {}).get(SUMS, b"{}")))

    @cached_property
    def _open(self) -> Pages:
        from dissensus.store.pages import Pages  # compiles on first use

        return Pages(self.path)

    @cached_property
    def _places(self) -> dict[str, int]:
        names = [self.metadata.schema.column(number).path for number in range(self.metadata.num_columns)]
        return {name: number for number, name in enumerate(names)}

    def pages(self, column: str) -> list[Page]:
        """The page of a column in every row group, whose last bytes are the values; none if it has no sums."""
        if column not in self._pages_of:
            self._pages_of[column] = list(self._located(column)) if column in self._sums else []
        return self._pages_of[column]

    def _located(self, column: str) -> Iterator[Page]:
        from dissensus.store.pages import Page, stored_as

        kind = stored_as(self._kinds[column])
        for group, (start, size), total in zip(self._row_groups, self._chunks(column), self._sums[column], strict=True):
            yield Page(start + size - group.num_rows * kind.itemsize, group.num_rows, kind, total)

    def _chunks(self, column: str) -> list[tuple[int, int]]:
        """Where a column begins in every row group, and its bytes there."""
        if column not in self._chunks_of:
            found = (group.column(self._places[column]) for group in self._row_groups)
            self._chunks_of[column] = [(one.data_page_offset, one.total_compressed_size) for one in found]
        return self._chunks_of[column]

    @cached_property
    def _kinds(self) -> dict[str, np.dtype[Any]]:
        """The type of each column that has sums."""
        return {name: np.dtype(self.schema_arrow.field(name).type.to_pandas_dtype()) for name in self._sums}


def without_halves(table: pa.Table) -> pa.Table:
    """The table with numbers in half precision as the decimals that they stand for."""
    for place, field in enumerate(table.schema):
        if pa.types.is_float16(field.type):
            values = pa.array(decimal(table.column(place).to_numpy()))
            table = table.set_column(place, field.with_type(pa.float32()), values)
    return table


def decimal(halves: Array) -> Array:
    """For every number in half precision, the shortest decimal that rounds to it."""
    return _decimals()[halves.view(np.uint16)]


@cache
def _decimals() -> Array:
    """For every number in half precision, by its bits: the shortest decimal that rounds to it."""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return np.array([str(half) for half in halves], np.float32)


def open_table(path: Path) -> StudyTable:
    """Open a Parquet file.

    Raises:
        StudyError: it is missing, truncated, not Parquet, or does not match its checksum.
    """
    verify(path)
    try:
        return StudyTable(path)
    except FileNotFoundError:
        raise StudyError(f"{path} is missing: rerun the step that writes it") from None
    except UNREADABLE as error:
        raise _damaged(path, error) from None


def open_grouped(path: Path) -> StudyTable:
    """Open a Parquet file whose rows are to be found by their row groups.

    Raises:
        StudyError: as for `open_table`, or the row groups have other sizes than ours.
    """
    file = open_table(path)
    try:
        file.require_our_groups()
    except ValueError as error:
        raise _damaged(path, error) from None
    return file


def read_table(path: Path, columns: list[str] | None = None) -> pa.Table:
    """Read the whole table, or some of its columns."""
    file = open_table(path)
    try:
        return file.read(columns=columns)
    except UNREADABLE as error:
        raise _damaged(path, error) from None


def read_stamps(path: Path, *needed: str) -> dict[str, Any]:
    """What a table was made from; `needed` names stamps that must be present."""
    metadata = open_table(path).schema_arrow.metadata or {}
    try:
        stamps = dict(json.loads(metadata.get(STAMPS, b"{}")))
    except (ValueError, TypeError) as error:
        raise _damaged(path, error) from None
    if STAMPS not in metadata or any(name not in stamps for name in needed):
        raise StudyError(f"{path} was not written by dissensus: {remedy_for(path)}")
    return stamps


def groups_of(rows: range) -> list[int]:
    """The row groups that contain some rows."""
    return list(range(rows.start // ROW_GROUP, -(-rows.stop // ROW_GROUP)))


def read_groups(file: StudyTable, groups: list[int], columns: list[str]) -> pa.Table:
    """Read columns of some row groups, in this thread.

    Raises:
        StudyError: the file is damaged.
    """
    try:
        return file.groups(groups, columns)
    except UNREADABLE as error:
        raise _damaged(file.path, error) from None


def read_numbers(
    file: StudyTable, rows: range, column: str, out: Array | None = None, may_be_wider: bool = False
) -> Array:
    """A column of numbers for some rows, which start at a row group; `out` is where to write them.

    `may_be_wider`: integers may have a larger type than the column, which saves a copy.

    Raises:
        StudyError: the file is damaged.
    """
    try:
        parts = [file.numbers(group, column, may_be_wider) for group in groups_of(rows)]
    except UNREADABLE as error:
        raise _damaged(file.path, error) from None
    return np.concatenate(parts, out=out) if len(parts) != 1 or out is not None else parts[0]


def read_rows(file: StudyTable, rows: Int[Array, " n"], columns: list[str]) -> dict[str, Array]:
    """Those of the columns that the file has, for some rows; reads only the row groups that contain them.

    Raises:
        StudyError: the file is damaged.
    """
    names = [name for name in columns if name in file.schema_arrow.names]
    found: dict[str, Array] = {}
    for group in np.unique(rows // ROW_GROUP).tolist():
        here = rows // ROW_GROUP == group
        for name in names:
            values = read_numbers(file, range(group * ROW_GROUP, group * ROW_GROUP + 1), name)
            found.setdefault(name, np.empty(len(rows), values.dtype))[here] = values[rows[here] - group * ROW_GROUP]
    return found


def _damaged(path: Path, error: Exception) -> StudyError:
    return StudyError(f"{path} is damaged ({first_line(error)}): {remedy_for(path)}")


def model_numbers(names: pa.ChunkedArray, models: list[str]) -> Int[Array, " Q"]:
    """The number of each named model."""
    return pc.index_in(names, pa.array(models, pa.string())).to_numpy().astype(np.int64)
