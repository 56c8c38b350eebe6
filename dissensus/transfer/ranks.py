"""Ranks of models on two test sets, and what changes from one to the other."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from dissensus.arrays import Array, Float, Int


def ranks(accuracy: Float[Array, " M"]) -> Int[Array, " M"]:
    """Rank of every model, 1 for the highest accuracy; models with the same accuracy share the best of their ranks."""
    return np.asarray(rankdata(-np.asarray(accuracy), method="min"), np.int64)


def rank_changes(original: Float[Array, " M"], new: Float[Array, " M"]) -> Int[Array, " M"]:
    """Ranks gained on the new set (ΔRank): positive if a model ranks better there."""
    return ranks(original) - ranks(new)
