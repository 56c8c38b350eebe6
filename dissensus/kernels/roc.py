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

    Where the variance is estimated as zero, as for a perfect order, the interval is that of Clopper and Pearson for as
    many independent pairs as there are items of the smaller class: it is wider, but never empty.

    Raises:
        KernelError: one class is missing, or a score is not a number.
    """
    from dissensus.proportions import normal_quantile

    value, over_positives, over_negatives = _placements(scores, truth)
    variance = _mean_covariance(over_positives)[0, 0] + _mean_covariance(over_negatives)[0, 0]
    if variance <= 1e-15 or not 0 < value[0] < 1:
        return _without_variance(float(value[0]), min(over_positives.shape[1], over_negatives.shape[1]), level)
    logit, scale = np.log(value[0] / (1 - value[0])), value[0] * (1 - value[0])
    half = float(normal_quantile(level)) * np.sqrt(variance) / scale
    low, high = (1 / (1 + np.exp(-end)) for end in (logit - half, logit + half))
    return Auc(float(value[0]), float(low), float(high))


def auc_difference(
    first: Float[Array, " n"], second: Float[Array, " n"], truth: Bool[Array, " n"], level: float = LEVEL
) -> Auc:
    """The first area less the second, for two scores of the same items, with DeLong's interval of the difference.

    Raises:
        KernelError: one class is missing, or a score is not a number.
    """
    from dissensus.proportions import normal_quantile

    values, over_positives, over_negatives = _placements(np.stack([first, second]), truth)
    covariance = _mean_covariance(over_positives) + _mean_covariance(over_negatives)
    variance = max(0.0, covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    half = float(normal_quantile(level) * np.sqrt(variance))
    value = float(values[0] - values[1])
    return Auc(value, value - half, value + half)


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


def _mean_covariance(placements: Float[Array, "k n"]) -> Float[Array, "k k"]:
    """Covariance of the means of the rows; with a single column, nothing is known about it, and it counts as zero."""
    count = placements.shape[1]
    if count < 2:
        return np.zeros((len(placements), len(placements)))
    return np.atleast_2d(np.cov(placements)) / count


def _without_variance(value: float, pairs: int, level: float) -> Auc:
    from dissensus.proportions import clopper_pearson

    low, high = clopper_pearson(np.array([value * pairs]), np.array([pairs]), level)
    return Auc(value, float(low[0]), float(high[0]))
