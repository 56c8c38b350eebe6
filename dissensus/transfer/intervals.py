"""Intervals from every answer: of the mean drop, and of differences of drops between models."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, difference, mean_share, normal_quantile


def drop_differences(
    original: Bool[Array, "M n"], new: Bool[Array, "M k"], level: float = LEVEL
) -> tuple[Int[Array, "p 2"], Float[Array, " p"], Ends]:
    """For every pair of models, how much more the first drops than the second, from the same items for both.

    On each set, only items count that exactly one of the two models gets right, as in McNemar's test; with one such
    item more for either model, the normal interval covers well (Bonett and Price, 2012). The sets are independent, so
    that variances add up.

    Returns:
        Pairs of models, the difference of their drops, and the ends of its interval.
    """
    models = len(original)
    pairs = np.array([(one, other) for one in range(models) for other in range(one + 1, models)], np.int64)
    pairs = pairs.reshape(-1, 2)
    value, middle, variance = np.zeros(len(pairs)), np.zeros(len(pairs)), np.zeros(len(pairs))
    for sign, right in ((1, original), (-1, new)):
        items = right.shape[1]
        both = right.astype(np.float32) @ right.astype(np.float32).T  # counts below 2²⁴ are exact
        total = np.diagonal(both)
        first, second = pairs.T
        only, other = total[first] - both[first, second], total[second] - both[first, second]
        share, other_share = (only + 1.0) / (items + 2), (other + 1.0) / (items + 2)
        value += sign * (only.astype(np.float64) - other) / items
        middle += sign * (share - other_share)
        variance += (share + other_share - (share - other_share) ** 2) / (items + 2)
    half = normal_quantile(level) * np.sqrt(variance)
    return pairs, value, (np.minimum(middle - half, value), np.maximum(middle + half, value))


def mean_drop(original: Bool[Array, "M n"], new: Bool[Array, "M k"], level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean drop of some models, over the items that all of them have in common."""
    means, ends = zip(*(mean_share(right.mean(axis=0), len(right), level) for right in (original, new)), strict=True)
    low, high = difference(means[0], ends[0], means[1], ends[1])
    return float(low[0]), float(high[0])
