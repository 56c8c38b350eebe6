"""What multi-label accuracy does to the order of participants, against top-1 on the same images."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import kendalltau, rankdata

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.grading import Grades
from dissensus.participants.pairs import Comparison, Mean, mean_difference
from dissensus.proportions import LEVEL, holm


@dataclass(frozen=True)
class Turn:
    """Two participants in opposite orders: `ahead` is ahead by top-1, `behind` by multi-label.

    `p` is the p-value that the difference between them changes at all; `p_holm` allows for all pairs.
    """

    ahead: int
    behind: int
    p: float
    p_holm: float


@dataclass(frozen=True)
class Orders:
    """Both orders, and how much more each participant gains by multi-label accuracy than all of them on average."""

    top1: Float[Array, " P"]
    multi: Float[Array, " P"]
    rank_top1: Int[Array, " P"]
    rank_multi: Int[Array, " P"]
    tau: float | None
    gains: tuple[Mean, ...]
    p_holm: Float[Array, " P"]
    turned: tuple[Turn, ...]
    takes_part: Bool[Array, " P"]
    """Whether any image counts for the participant; the others have no place in the orders."""


def ranks(accuracy: Float[Array, " P"]) -> Int[Array, " P"]:
    """1 for the highest accuracy; equal accuracies share the best of their ranks."""
    return np.asarray(rankdata(-np.round(accuracy, 12), method="min"), np.int64)


def orders(top1: Grades, multi: Grades, level: float = LEVEL) -> Orders:
    """Both orders on the images that count for both metrics.

    A change of rank says little by itself: close neighbours swap for any reason. What is tested is the gain of each
    participant, multi-label minus top-1, image by image, against the mean gain of all who answered the image.
    """
    counts = top1.counts & multi.counts
    change = multi.right.astype(np.float64) - top1.right
    change[~counts] = 0.0
    mean = change.sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    gains = tuple(mean_difference((row - mean)[on], level) for row, on in zip(change, counts, strict=True))
    totals = np.maximum(counts.sum(axis=1), 1)
    first, second = (top1.right & counts).sum(axis=1) / totals, (multi.right & counts).sum(axis=1) / totals
    takes_part = counts.any(axis=1)
    both = [np.round(one[takes_part], 12) for one in (first, second)]
    tau = float(kendalltau(*both).statistic) if all(len(set(one.tolist())) > 1 for one in both) else None
    adjusted = np.ones(len(gains))
    adjusted[takes_part] = holm(np.array([one.p for one in gains])[takes_part])
    return Orders(
        first,
        second,
        ranks(first),
        ranks(second),
        tau,
        gains,
        adjusted,
        _reversed(first, second, change, counts),
        takes_part,
    )


def _reversed(
    top1: Float[Array, " P"], multi: Float[Array, " P"], change: Float[Array, "P n"], counts: Bool[Array, "P n"]
) -> tuple[Turn, ...]:
    """Pairs in opposite orders, with the p-values that their difference changes, Holm's allowing for all pairs."""
    first, second = np.triu_indices(len(top1), 1)
    asked = counts.astype(np.float64)
    sums, squares, products = change @ asked.T, change**2 @ asked.T, change @ change.T
    count = (asked @ asked.T)[first, second] + 2
    total = (sums - sums.T)[first, second] / 2
    square = (squares + squares.T - 2 * products)[first, second] / 4
    middle = total / count
    p = 2 * ndtr(-np.abs(middle) / np.sqrt(((square + 2) / count - middle**2) / count))
    adjusted = holm(p)
    found = []
    for place, (one, other) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        sides = (top1[one] - top1[other]) * (multi[one] - multi[other])
        if sides < 0:
            ahead = (one, other) if top1[one] > top1[other] else (other, one)
            found.append(Turn(*ahead, float(p[place]), float(adjusted[place])))
    return tuple(found)


def pair_p(comparison: Comparison) -> Float[Array, "P P"]:
    """Holm's adjusted p-values of all pairs as a symmetric matrix, 1 on the diagonal."""
    size = len(comparison.is_above)
    found = np.ones((size, size))
    first, second = comparison.pair.T
    found[first, second] = found[second, first] = comparison.p_holm
    return found
