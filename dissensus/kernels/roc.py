"""The area under the ROC curve, with ties, its interval, and the difference of two on the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import KernelError

LEVEL = 0.95


@dataclass(frozen=True)
class Auc:
    """How often a positive item scores above a negative one, ties counting half, with an interval."""

    value: float
    low: float
    high: float


def auc(scores: Float[Array, " n"], truth: Bool[Array, " n"], level: float = LEVEL) -> Auc:
    """The area under the ROC curve, with DeLong's interval (1988) on the logit scale.

    Its quantile is Student's, with the degrees of freedom of Satterthwaite (1946), because a variance that is estimated
    from a few items of a class may be far too small. Where nothing is known about the variance, as for a perfect order
    or a single item of a class, the interval is that of Clopper and Pearson for as many independent pairs as there are
    items of the smaller class: it is wider, but never empty.

    Raises:
        KernelError: one class is missing, or a score is not a number.
    """
    value, *placements = _placements(scores, truth)
    half = _half_width(placements, np.ones(1), level)
    if half is None or not 0 < value[0] < 1:
        return _without_variance(float(value[0]), min(one.shape[1] for one in placements), level)
    logit, scale = np.log(value[0] / (1 - value[0])), value[0] * (1 - value[0])
    low, high = (1 / (1 + np.exp(-end)) for end in (logit - half / scale, logit + half / scale))
    return Auc(float(value[0]), float(low), float(high))


def auc_difference(
    first: Float[Array, " n"], second: Float[Array, " n"], truth: Bool[Array, " n"], level: float = LEVEL
) -> Auc:
    """The first area less the second, for two scores of the same items, with DeLong's interval of the difference.

    Where nothing is known about its variance, as for two perfect orders, the interval follows from those of both areas,
    as if they were independent; scores that are the same do not differ.

    Raises:
        KernelError: one class is missing, or a score is not a number.
    """
    from dissensus.proportions import difference

    values, *placements = _placements(np.stack([first, second]), truth)
    value = float(values[0] - values[1])
    if np.array_equal(first, second):
        return Auc(0.0, 0.0, 0.0)
    half = _half_width(placements, np.array([1.0, -1.0]), level)
    if half is not None:
        low, high = value - half, value + half
    else:
        ends = [(np.array([one.low]), np.array([one.high])) for one in (auc(s, truth, level) for s in (first, second))]
        low, high = (float(end[0]) for end in difference(values[:1], ends[0], values[1:], ends[1]))
    return Auc(value, max(-1.0, low), min(1.0, high))


def _placements(
    scores: Float[Array, "k n"], truth: Bool[Array, " n"]
) -> tuple[Float[Array, " k"], Float[Array, "k p"], Float[Array, "k m"]]:
    """Areas; for every positive, the share of negatives below it, and for every negative, of positives above it."""
    from scipy.stats import rankdata

    scores, truth = np.atleast_2d(np.asarray(scores, float)), np.asarray(truth, bool)
    if not truth.any() or truth.all():
        raise KernelError(f"all {len(truth)} items are {'positive' if truth.any() else 'negative'}: an AUC needs both")
    if not np.isfinite(scores).all():
        raise KernelError("a score is not a number: an AUC needs one for every item")
    positives, negatives = scores[:, truth], scores[:, ~truth]
    ranks = rankdata(scores, axis=1)
    above = (ranks[:, truth] - rankdata(positives, axis=1)) / negatives.shape[1]
    below = 1 - (ranks[:, ~truth] - rankdata(negatives, axis=1)) / positives.shape[1]
    return above.mean(axis=1), above, below


def _half_width(placements: list[Float[Array, "k n"]], weights: Float[Array, " k"], level: float) -> float | None:
    """Half of the interval of a weighted sum of areas; None where nothing is known about its variance."""
    from scipy.special import stdtrit

    degrees = np.array([one.shape[1] - 1 for one in placements])
    if degrees.min() < 1:
        return None
    parts = np.array([np.var(weights @ one, ddof=1) / one.shape[1] for one in placements])
    if parts.sum() <= 1e-15:
        return None
    quantile = stdtrit(parts.sum() ** 2 / (parts**2 / degrees).sum(), (1 + level) / 2)
    return float(quantile * np.sqrt(parts.sum()))


def _without_variance(value: float, pairs: int, level: float) -> Auc:
    from dissensus.proportions import clopper_pearson

    low, high = clopper_pearson(np.array([value * pairs]), np.array([pairs]), level)
    return Auc(value, float(low[0]), float(high[0]))
