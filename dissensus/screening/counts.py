"""Answers counted into a table."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import ScreeningError


def cross_counts(
    row: Int[Array, " A"], column: Int[Array, " A"], rows: int, columns: int
) -> Int[Array, "rows columns"]:
    """How often each row occurs with each column.

    Raises:
        ScreeningError: the lengths differ, or a number is out of range.
    """
    require_range("rows", row, rows)
    require_range("columns", column, columns)
    if len(row) != len(column):
        raise ScreeningError(
            f"rows and columns have different lengths, {len(row)} and {len(column)}: pass columns of one table"
        )
    # small integer types would overflow
    cell = row.astype(np.int64) * columns + column.astype(np.int64)
    return np.bincount(cell, minlength=rows * columns).reshape(rows, columns)


def require_range(name: str, numbers: Int[Array, " A"], size: int) -> None:
    """Check that all numbers lie in 0 … `size` − 1.

    Raises:
        ScreeningError: a number is out of range.
    """
    if len(numbers) and not (numbers.min() >= 0 and numbers.max() < size):
        raise ScreeningError(f"the numbers of {name} are out of range: they must lie between 0 and {size - 1}")
