"""Parquet files that record what they were made from, as stamps in the schema's metadata."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.arrays import Array, Int
from dissensus.errors import StudyError, first_line
from dissensus.store.checksums import remedy_for, verify
from dissensus.store.files import write_whole

ROW_GROUP = 1 << 17
STAMPS = b"dissensus"
UNREADABLE = (pa.ArrowException, OSError, ValueError, KeyError, IndexError, MemoryError, OverflowError)
"""What pyarrow raises for a damaged file."""


def write_table(path: Path, table: pa.Table, stamps: dict[str, Any], packed: Collection[str] = ()) -> None:
    """Write a table atomically. The same table and stamps always give the same bytes.

    Numbers are neither compressed nor dictionary-encoded, so they read about as fast as memory can be copied; except
    for the `packed` columns, which are seldom read.
    """
    write_pieces(path, table.schema, [table], stamps, packed=packed)


def write_pieces(
    path: Path,
    schema: pa.Schema,
    pieces: Iterable[pa.Table],
    stamps: dict[str, Any],
    row_group: int = ROW_GROUP,
    packed: Collection[str] = (),
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

    def write(unfinished: Path) -> None:
        with pq.ParquetWriter(
            unfinished,
            stamped,
            compression=dict.fromkeys(words, "zstd") | dict.fromkeys(plain, "none"),
            use_dictionary=[],
            write_statistics=False,
            write_page_checksum=True,
            store_schema=True,
        ) as file:
            for rows in _in_row_groups(pieces, row_group):
                file.write_table(rows.cast(stamped), row_group)

    write_whole(path, write)


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
    """A Parquet file whose pages are verified as they are read; for a local file, pre-buffering only adds a copy."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, pre_buffer=False, page_checksum_verification=True)
        self.path = path


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
    """Read columns of some row groups, in this thread: a row group is too small to split between threads.

    Raises:
        StudyError: the file is damaged.
    """
    try:
        return file.read_row_groups(groups, columns=columns, use_threads=False)
    except UNREADABLE as error:
        raise _damaged(file.path, error) from None


def read_rows(file: StudyTable, rows: Int[Array, " n"], columns: list[str]) -> dict[str, Array]:
    """Those of the columns that the file has, for some rows; reads only the row groups that contain them.

    Raises:
        StudyError: the file is damaged.
    """
    names = [name for name in columns if name in file.schema_arrow.names]
    found: dict[str, Array] = {}
    for group in np.unique(rows // ROW_GROUP).tolist():
        here, table = rows // ROW_GROUP == group, read_groups(file, [group], names)
        for name in names:
            values = table[name].to_numpy()
            found.setdefault(name, np.empty(len(rows), values.dtype))[here] = values[rows[here] - group * ROW_GROUP]
    return found


def _damaged(path: Path, error: Exception) -> StudyError:
    return StudyError(f"{path} is damaged ({first_line(error)}): {remedy_for(path)}")


def model_numbers(names: pa.ChunkedArray, models: list[str]) -> Int[Array, " Q"]:
    """The number of each named model."""
    return pc.index_in(names, pa.array(models, pa.string())).to_numpy().astype(np.int64)
