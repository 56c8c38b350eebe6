"""Columns of accuracies from whatever users have: CSV and Parquet files, frames, dicts of columns, lists of dicts."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import DissensusError, one_line, quoted, refuse_pipe, some
from dissensus.frames import is_table, table_of
from dissensus.separated import as_number, header_of, separator

EMPTY = frozenset({"", "-", "–", "na", "n/a", "nan", "null", "none"})
Columns = dict[str, list[str]]


def text_columns(data: Any, kind: type[DissensusError], needed: str) -> Columns:
    """All cells of a table as text, without spaces around them; empty if there is none.

    `needed` says in messages which columns to give.

    Raises:
        DissensusError, of this kind: it cannot be read, has a column twice, or rows of different lengths.
    """
    return {name: [cell.strip() for cell in cells] for name, cells in _columns(data, kind, needed).items()}


def accuracy_column(
    name: str, cells: Sequence[str], rows: Sequence[str], kind: type[DissensusError]
) -> Float[Array, " M"]:
    """A column of accuracies as they are written, without per cent signs; NaN where a cell is empty.

    Raises:
        DissensusError, of this kind: a cell is not a number from 0 to 100.
    """
    values = np.full(len(cells), np.nan)
    for place, cell in enumerate(cells):
        if cell.casefold() in EMPTY:
            continue
        try:
            values[place] = as_number(cell.removesuffix("%").strip())
        except ValueError:
            raise kind(f"{rows[place]}: {quoted(cell)} in column {name} is not a number") from None
        if not 0 <= values[place] <= 100:
            raise kind(
                f"{rows[place]}: {cell} in column {name} is not an accuracy: give fractions or per cent from 0 to 100"
            )
    return values


def _columns(data: Any, kind: type[DissensusError], needed: str) -> Columns:
    if isinstance(data, (str, Path)):
        return _file_columns(Path(data), kind, needed)
    if not is_table(data):
        raise kind(f"expected a path, a frame, a dict of columns or a list of dicts, not {type(data).__name__}")
    if isinstance(data, Sequence):  # rows may lack a key, and cells may be of any type
        data = {name: [row.get(name) for row in data] for name in dict.fromkeys(key for row in data for key in row)}
    if isinstance(data, Mapping):
        columns = {str(name): [_text(cell) for cell in column] for name, column in data.items()}
        if len({len(cells) for cells in columns.values()}) > 1:
            raise kind("the columns have different lengths: give every row a value in each")
        return columns
    try:
        table = table_of(data)
    except Exception as error:  # whatever a library of frames raises
        raise kind(f"the table cannot be read ({one_line(error)}): give every column one type") from None
    return {name: [_text(cell) for cell in table[name].to_pylist()] for name in table.column_names}


def _file_columns(path: Path, kind: type[DissensusError], needed: str) -> Columns:
    refuse_pipe(path, kind)
    if not path.is_file():
        raise kind(f"{path} is not a file: check the path")
    if path.suffix.lower() in {".parquet", ".pq"}:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return _columns(pq.read_table(path), kind, needed)
        except (pa.ArrowException, OSError) as error:
            raise kind(f"{path} cannot be read ({one_line(error)})") from None
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
        mark = separator(header_of(text))
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True) if any(row)]
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, csv.Error) as error:
        raise kind(f"{path} cannot be read as CSV ({one_line(error)})") from None
    if not rows:
        raise kind(f"{path} is empty: give the columns {needed}")
    heads = [head.strip() for head in rows[0]]
    twice = sorted({head for head in heads if heads.count(head) > 1})
    if twice:
        raise kind(f"{path}: several columns are called {some(twice)}: keep only one")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            raise kind(f"{path}, row {number}: {len(row)} cells under {len(heads)} column names")
    return {head: [row[place] for row in rows[1:]] for place, head in enumerate(heads)}


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    return str(cell)
