"""What scores must be: finite numbers, and not the same for every item."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float
from dissensus.errors import PredictionError

Strings: TypeAlias = "pa.Array | pa.ChunkedArray"


def check_scores(scores: Float[Array, " n"], items: Sequence[object] | Strings) -> None:
    """Check that every score is a finite number.

    Raises:
        PredictionError: a score is NaN or infinite; names the first such item and their number.
    """
    wrong = ~np.isfinite(scores)
    if wrong.any():
        first = int(wrong.argmax())
        raise PredictionError(
            f"{wrong.sum():,} scores are NaN or infinite, the first is {scores[first]} (item {items[first]}): "
            "leave the cell empty if the model has no score"
        )


def check_varied(scores: Float[Array, " n"]) -> None:
    """Check that at least two items have different scores. NaN stands for no score.

    Raises:
        PredictionError: there is no score at all, or every item has the same one.
    """
    given = scores[~np.isnan(scores)]
    if len(given) == 0:
        raise PredictionError("no item has a score: check the file, or the paths of the pool")
    if given.min() == given.max():
        raise PredictionError(f"every item has the score {given[0]:g}, so the model cannot compete: check its output")
