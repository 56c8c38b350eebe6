"""Exact nearest neighbours by Euclidean distance."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import DuplicatesError


def nearest(
    queries: Float[Array, "n d"], among: Float[Array, "m d"], k: int, is_same: bool = False
) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
    """The k nearest of `among` to every query, nearest first, and their distances; ties go by position.

    `is_same` says that both are the same points, and leaves out the query itself. If there are fewer than k points, all
    are returned.

    Raises:
        DuplicatesError: points have different dimensions, or a value is not finite.
    """
    if queries.ndim != 2 or among.ndim != 2 or queries.shape[1] != among.shape[1]:
        raise DuplicatesError(f"points of shapes {queries.shape} and {among.shape} cannot be compared")
    if not np.isfinite(queries).all() or not np.isfinite(among).all():
        raise DuplicatesError("a feature is not a finite number: leave out its image")
    k = max(0, min(k, len(among) - is_same))
    index, distance = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
    for row, query in enumerate(queries):
        away = np.sqrt(((among.astype(float) - query.astype(float)) ** 2).sum(axis=1))
        if is_same:
            away[row] = np.inf
        index[row] = np.argsort(away, kind="stable")[:k]
        distance[row] = away[index[row]]
    return index, distance
