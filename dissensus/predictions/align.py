"""Bring the predictions of a file into pool order, and check their values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import PredictionError, counted

Strings: TypeAlias = "pa.Array | pa.ChunkedArray"


def align(items: Strings, pool_ids: Strings) -> Int[Array, " N"]:
    """Row of `items` for each item of the pool: `column[align(items, pool_ids)]` is in pool order.

    Other items are left out: they may be added to the pool later.

    Raises:
        PredictionError: an item has no id, or one of the pool occurs twice or not at all.
    """
    if items.null_count:
        raise PredictionError(f"{items.null_count} rows have no item id: fill in the column 'item'")
    items, pool_ids = _chunked(items), _chunked(pool_ids)
    if items.type != pool_ids.type:
        items = items.cast(pool_ids.type)
    if items.equals(pool_ids):
        return np.arange(len(pool_ids))
    positions = pc.index_in(items, value_set=pool_ids)
    is_known = positions.is_valid().to_numpy()
    places = positions.drop_null().to_numpy()
    _check_cover(places, pool_ids, str(items[int(is_known.argmin())]) if positions.null_count else None)
    rows = np.empty(len(pool_ids), dtype=np.int64)
    rows[places] = np.flatnonzero(is_known)
    return rows


def _chunked(ids: Strings) -> pa.ChunkedArray:
    return ids if isinstance(ids, pa.ChunkedArray) else pa.chunked_array([ids])


def _check_cover(places: Int[Array, " n"], pool_ids: Strings, other: str | None) -> None:
    seen = np.bincount(places, minlength=len(pool_ids))
    twice = np.flatnonzero(seen > 1)
    if len(twice):
        several = counted(len(twice), "item is", "items are")
        raise PredictionError(
            f"{several} in the file more than once, the first is {_first(pool_ids, twice)}: keep one row each"
        )
    absent = np.flatnonzero(seen == 0)
    if len(absent):
        remedy = "add a row for every item, with an empty cell if there is no prediction"
        if other is not None:
            remedy = f"it has items that are not in the pool, such as {other}; if it belongs to this pool, {remedy}"
        raise PredictionError(
            f"{len(absent):,} of {counted(len(pool_ids), 'pool item')} have no row in the file, the first is"
            f" {_first(pool_ids, absent)}: {remedy}"
        )


def _first(pool_ids: Strings, places: Int[Array, " n"]) -> str:
    """The first of some items by id; the order of the pool would mean nothing to the reader."""
    return str(pc.min(pool_ids.take(pa.array(places))))


def check_labels(labels: Int[Array, " n"], classes: int, items: Sequence[object] | Strings) -> None:
    """Check that every label is one of the `classes` classes.

    Raises:
        PredictionError: a label is outside 0..classes−1; names the first such item and their number.
    """
    _check(
        (labels < 0) | (labels >= classes),
        labels,
        items,
        f"labels are outside 0..{classes - 1}",
        "use the study's classes",
    )


def check_confidences(confidence: Float[Array, " n"], items: Sequence[object] | Strings) -> None:
    """Check that every confidence is a probability.

    Raises:
        PredictionError: a confidence is NaN or outside 0..1; names the first such item and their number.
    """
    _check(
        ~((confidence >= 0) & (confidence <= 1)),
        confidence,
        items,
        "confidences are NaN or outside 0..1",
        "give the probability of the label, or leave out all confidences",
    )


def _check(is_wrong: Bool[Array, " n"], values: Array, items: Sequence[object] | Strings, what: str, fix: str) -> None:
    if is_wrong.any():
        first = int(is_wrong.argmax())
        raise PredictionError(f"{is_wrong.sum()} {what}, the first is {values[first]} (item {items[first]}): {fix}")
