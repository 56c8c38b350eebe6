"""Files of scores: Parquet, CSV or NPZ with the columns item and score."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Float
from dissensus.backends.file import read_columns
from dissensus.errors import PredictionError
from dissensus.predictions.align import align
from dissensus.predictions.scores import check_scores


def read_scores(path: str | PathLike[str], pool_ids: pa.Array) -> Float[Array, " N"]:
    """Read the score of every item of the pool, in pool order; NaN if the file's cell is empty.

    Single precision stays single; everything else becomes double.

    Raises:
        PredictionError: the file cannot be read, does not cover the pool exactly, or a score is NaN or infinite.
    """
    path = Path(path)
    try:
        table = read_columns(path, ("item", "score"))
        rows = align(table["item"], pool_ids)
        return _numbers(table["score"], table["item"])[rows]
    except PredictionError as error:
        raise PredictionError(f"{path}: {error}") from error


def _numbers(column: pa.ChunkedArray, items: pa.ChunkedArray) -> Float[Array, " n"]:
    """Scores in file order."""
    kind = column.type
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_null(kind)):
        raise PredictionError(f"the scores are of type {kind}: give one number per item")
    is_absent = column.is_null().to_numpy()
    precise = pa.float32() if kind in (pa.float32(), pa.float16()) else pa.float64()
    values = pc.fill_null(column.cast(precise, safe=False), 0.0).to_numpy().copy()
    check_scores(values, items)
    values[is_absent] = np.nan
    return values
