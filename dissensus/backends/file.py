"""Prediction files: Parquet, CSV or NPZ with the columns item, label, optionally confidence, and label2 to label5."""

from __future__ import annotations

import lzma
import zipfile
import zlib
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet

from dissensus.arrays import MISSING, Array, Float, Int, UInt16
from dissensus.backends.names import class_numbers
from dissensus.errors import PredictionError, one_line
from dissensus.predictions.align import align, check_confidences, check_labels
from dissensus.predictions.protocol import MOST_RANKED
from dissensus.records import Classes
from dissensus.separated import arrow_table

COLUMNS = ("item", "label", "confidence")
NUMBERS = frozenset({"confidence", "score"})
"""Columns whose type is found out."""
FURTHER = tuple(f"label{rank}" for rank in range(2, MOST_RANKED + 1))
"""Columns of the classes ranked 2 to 5."""
NO_PREDICTION = "no prediction in the file"


class FilePredictions(NamedTuple):
    """Predictions in pool order; `problems` says why labels are MISSING, and is None if none are."""

    labels: UInt16[Array, " N"]
    confidence: Float[Array, " N"] | None
    problems: pa.Array | None
    further: UInt16[Array, "N 4"] | None = None
    """The classes ranked 2 to 5, MISSING where a cell is empty; None if the file has no such columns."""


def read_predictions(path: str | PathLike[str], classes: Classes, pool_ids: pa.Array) -> FilePredictions:
    """Read predictions for the whole pool from a file, in pool order.

    Whole numbers are class indices, strings are class names, ids, synonyms or, failing these, indices. An empty label
    means no prediction. Confidences must be given for all predictions or for none; label2 to label5 may have gaps.

    Raises:
        PredictionError: the file cannot be read, does not cover the pool exactly, or contains invalid values.
    """
    path = Path(path)
    try:
        table = read_columns(path, COLUMNS[:2], (*COLUMNS[2:], *FURTHER))
        rows = align(table["item"], pool_ids)
        labels, is_absent = _labels(table["label"], classes, table["item"])
        confidence, further = _confidence(table, is_absent), _further(table, classes)
    except PredictionError as error:
        raise PredictionError(f"{path}: {error}") from error
    problems = pc.if_else(pa.array(is_absent[rows]), NO_PREDICTION, None) if is_absent.any() else None
    return FilePredictions(
        labels[rows],
        None if confidence is None else confidence[rows],
        problems,
        None if further is None else further[rows],
    )


def read_columns(path: Path, needed: Sequence[str], optional: Sequence[str] = ()) -> pa.Table:
    """Read columns of a Parquet, CSV or NPZ file; in CSV, all columns but those of NUMBERS are text.

    Raises:
        PredictionError: the file is missing, damaged or of an unknown type, or lacks a column.
    """
    reader = READERS.get("".join(path.suffixes[-2:]) if path.suffix == ".gz" else path.suffix)
    if reader is None:
        raise PredictionError(f"unknown file type: use one of {', '.join(READERS)}")
    if not path.is_file():
        raise PredictionError("no such file: check the path")
    try:
        table = reader(path, [*needed, *optional])
        _check_names(table.column_names, needed, optional)
        # Ids stored as numbers or categories become text.
        return table.set_column(table.column_names.index("item"), "item", table["item"].cast(pa.string()))
    except (pa.ArrowException, OSError, ValueError, EOFError, MemoryError, *ZIP_ERRORS) as error:
        raise PredictionError(
            f"the file is damaged, or not really {path.suffix}: write it again ({one_line(error)})"
        ) from error


def _check_names(names: list[str], needed: Sequence[str], optional: Sequence[str]) -> None:
    absent = [name for name in needed if name not in names]
    if absent:
        raise PredictionError(f"there is no column {' and '.join(absent)}, only {', '.join(names)}: rename the columns")
    twice = [name for name in (*needed, *optional) if names.count(name) > 1]
    if twice:
        raise PredictionError(f"several columns are called {' and '.join(twice)}: keep only one")


def _read_parquet(path: Path, names: Sequence[str]) -> pa.Table:
    with pa.parquet.ParquetFile(path) as file:
        wanted = [name for name in file.schema_arrow.names if name in names]
        # a file that lacks a column is not read; only its column names are needed
        return file.read(columns=wanted) if len(wanted) > 1 else file.schema_arrow.empty_table()


def _read_csv(path: Path, names: Sequence[str]) -> pa.Table:
    # Ids and labels stay text (007 is not 7), and only an empty cell is null: a class may be called NA.
    text = [name for name in names if name not in NUMBERS]
    return arrow_table(path, None, text, NUMBERS, null_values=[""], strings_can_be_null=True)


def _read_npz(path: Path, names: Sequence[str]) -> pa.Table:
    arrays = np.load(path, allow_pickle=False)
    if isinstance(arrays, np.ndarray):
        raise ValueError("it contains a single array without a name")
    with arrays:
        return pa.table({name: pa.array(arrays[name]) for name in arrays.files if name in names})


ZIP_ERRORS = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, RuntimeError)
"""What reading an .npz, which is a .zip, may raise; RuntimeError: it is encrypted, or uses an unknown compression."""
READERS = {
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
    ".csv": _read_csv,
    ".csv.gz": _read_csv,
    ".npz": _read_npz,
}


def _labels(column: pa.ChunkedArray, classes: Classes, items: pa.ChunkedArray) -> tuple[Array, Array]:
    """Class numbers in file order, with MISSING for empty labels, and which labels are empty."""
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), None, column)  # pandas stores whole numbers with gaps as floats
    is_absent = column.is_null().to_numpy()
    numbers = _numbers(column, classes)
    if not is_absent.any():
        check_labels(numbers, len(classes), items)
        return numbers.astype(np.uint16), is_absent
    present = np.flatnonzero(~is_absent)
    check_labels(numbers[present], len(classes), items.take(pa.array(present)))
    return np.where(is_absent, MISSING, numbers).astype(np.uint16), is_absent


def _further(table: pa.Table, classes: Classes) -> UInt16[Array, "n 4"] | None:
    """The classes ranked 2 to 5, in file order; None if the file has none."""
    found = np.full((len(table), len(FURTHER)), MISSING, np.uint16)
    known = [name for name in FURTHER if name in table.column_names]
    for name in known:
        try:
            found[:, FURTHER.index(name)] = _labels(table[name], classes, table["item"])[0]
        except PredictionError as error:
            raise PredictionError(f"column {name}: {error}") from error
    return found if known else None


def _numbers(column: pa.ChunkedArray, classes: Classes) -> Int[Array, " n"]:
    """Class numbers, 0 if the label is null."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        column = column.cast(kind.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        codes = column.combine_chunks().dictionary_encode()
        codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
        numbers = np.asarray([*class_numbers(codes.dictionary.to_pylist(), classes), 0])
        return numbers[codes.indices.fill_null(len(numbers) - 1).to_numpy(zero_copy_only=False)]
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)):
        raise PredictionError(f"the labels are of type {kind}: give class indices or names")
    try:
        return column.cast(pa.int64()).fill_null(0).to_numpy()
    except pa.ArrowInvalid as error:
        raise PredictionError(f"the labels are not whole numbers: give class indices or names ({error})") from error


def _confidence(table: pa.Table, is_absent: Array) -> Float[Array, " n"] | None:
    """Probabilities in file order, NaN if there is no label; None if the file has none."""
    if "confidence" not in table.column_names or table["confidence"].null_count == len(is_absent):
        return None
    column = table["confidence"]
    if not (pa.types.is_floating(column.type) or pa.types.is_integer(column.type)):
        raise PredictionError(f"the confidences are of type {column.type}: give probabilities from 0 to 1")
    values = column.cast(pa.float32(), safe=False).to_numpy().copy()
    present = np.flatnonzero(~is_absent)
    if len(present) == len(values):
        check_confidences(values, table["item"])
    else:
        check_confidences(values[present], table["item"].take(pa.array(present)))
        values[is_absent] = np.nan
    return values
