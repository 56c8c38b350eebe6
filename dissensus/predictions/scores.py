"""What models that give a number may say: finite numbers, and not the same one for everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float
from dissensus.errors import PredictionError

Strings: TypeAlias = "pa.Array | pa.ChunkedArray"


def check_scores(scores: Float[Array, " n"], items: Sequence[object] | Strings) -> None:
    """Nothing: every score is a finite number.

    Raises:
        PredictionError: a score that is NaN or infinite, with the first such item and their number.
    """
    wrong = ~np.isfinite(scores)
    if wrong.any():
        first = int(wrong.argmax())
        raise PredictionError(
            f"{wrong.sum():,} scores are NaN or infinite, the first is {scores[first]} (item {items[first]}): "
            "leave the cell empty where the model has no score"
        )


def check_varied(scores: Float[Array, " n"]) -> None:
    """Nothing: the model tells at least two items apart. NaN stands for no score.

    Raises:
        PredictionError: there is no score at all, or the same one for every item.
    """
    given = scores[~np.isnan(scores)]
    if len(given) == 0:
        raise PredictionError("there is no score for any item: check the file, or the paths of the pool")
    if given.min() == given.max():
        raise PredictionError(f"every item has the score {given[0]:g}: a model that tells nothing apart cannot compete")
