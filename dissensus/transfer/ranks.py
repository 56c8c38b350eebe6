"""Ranks of models on a test set."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from dissensus.arrays import Array, Float, Int


def ranks(accuracy: Float[Array, " M"]) -> Int[Array, " M"]:
    """Rank of every model, 1 for the highest accuracy; models with the same accuracy share the best of their ranks."""
    return np.asarray(rankdata(-np.asarray(accuracy), method="min"), np.int64)
