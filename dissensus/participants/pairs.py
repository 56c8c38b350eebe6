"""McNemar's test between any two participants, for all pairs at once, and who is really above whom.

Overlapping confidence intervals do not say that two participants are alike: both answer the same images, and what
counts are the images that only one of them gets right. If both were equally good, such an image would go to either
with probability ½.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import bdtr, ndtr

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.participants.grading import Grades
from dissensus.proportions import LEVEL, Ends, bonett_price, holm, normal_quantile


@dataclass(frozen=True)
class Duels:
    """All pairs of participants: `only[i, j]` images that only i gets right, of the `shared[i, j]` both were asked."""

    only: Int[Array, "P P"]
    shared: Int[Array, "P P"]

    @property
    def difference(self) -> Float[Array, "P P"]:
        """Accuracy of the row minus that of the column, on the images they share; 0 if they share none."""
        return (self.only - self.only.T) / np.maximum(self.shared, 1)

    def ends(self, level: float = LEVEL) -> Ends:
        """Intervals of the differences for paired proportions (Bonett and Price, 2012)."""
        return bonett_price(self.only, self.only.T, self.shared, level)


def duels(grades: Grades) -> Duels:
    """Who gets images right that another misses, for all pairs."""
    right, wrong = grades.right.astype(np.float32), (grades.counts & ~grades.right).astype(np.float32)
    counts = grades.counts.astype(np.float32)  # counts below 2²⁴ are exact
    return Duels(np.rint(right @ wrong.T).astype(np.int64), np.rint(counts @ counts.T).astype(np.int64))


def mcnemar(only: Int[Array, " k"], other: Int[Array, " k"]) -> Float[Array, " k"]:
    """Exact two-sided p-values: of a fair coin that falls as unevenly as the images that only one gets right."""
    few, many = np.minimum(only, other), only + other
    return np.minimum(2 * bdtr(few, many, 0.5), 1.0)


def mcnemar_mid(only: Int[Array, " k"], other: Int[Array, " k"]) -> Float[Array, " k"]:
    """Mid-p values: what was seen counts half. Closer to the level than exact ones, but not guaranteed to keep it."""
    few, many = np.minimum(only, other), only + other
    fewer = np.where(few > 0, bdtr(np.maximum(few - 1, 0), many, 0.5), 0.0)
    return np.minimum(bdtr(few, many, 0.5) + fewer, 1.0)


@dataclass(frozen=True)
class Comparison:
    """All pairs i < j of participants who share images, with their p-values, and the order that these leave.

    `p_neighbours` is NaN for pairs that are not next to each other in the order by accuracy.
    """

    duels: Duels
    pair: Int[Array, "k 2"]
    p: Float[Array, " k"]
    p_mid: Float[Array, " k"]
    p_holm: Float[Array, " k"]
    p_neighbours: Float[Array, " k"]
    is_above: Bool[Array, "P P"]
    """Whether the row is really above the column, all pairs looked at together."""
    takes_part: Bool[Array, " P"]
    """Whether any image counts for the participant."""

    @property
    def rank_ends(self) -> tuple[Int[Array, " P"], Int[Array, " P"]]:
        """Lowest and highest rank of each: those really above come before it, those really below after it."""
        return 1 + self.is_above.sum(axis=0), self.takes_part.sum() - self.is_above.sum(axis=1)


def compared(grades: Grades, level: float = LEVEL) -> Comparison:
    """McNemar's test between all participants.

    Holm's adjustment allows for all pairs, so that any pair may be picked out afterwards: the best against the second,
    or every person against the best model. Pairs of neighbours are also adjusted by themselves. There is no test
    between participants who share no image.
    """
    met = duels(grades)
    people = len(met.only)
    first, second = np.nonzero(np.triu(met.shared, 1))
    only, other = met.only[first, second], met.only[second, first]
    p = mcnemar(only, other)
    adjusted = holm(p)
    above = np.zeros((people, people), bool)
    is_decided = adjusted < 1 - level
    above[first, second] = is_decided & (only > other)
    above[second, first] = is_decided & (other > only)
    near = np.full(len(p), np.nan)
    beside = _neighbours(grades)[first, second]
    near[beside] = holm(p[beside])
    pair, takes_part = np.stack([first, second], axis=1), grades.totals > 0
    return Comparison(met, pair, p, mcnemar_mid(only, other), adjusted, near, above, takes_part)


def _neighbours(grades: Grades) -> Bool[Array, "P P"]:
    """Whether two participants are next to each other in the order by accuracy.

    All with the same accuracy are, and so are they and all with the next one: nothing else would put one of them first.
    """
    takes_part = grades.totals > 0
    steps = np.unique(np.round(grades.accuracy[takes_part], 12))
    place = np.searchsorted(steps, np.round(grades.accuracy, 12))
    return (np.abs(place[:, None] - place) <= 1) & takes_part[:, None] & takes_part


@dataclass(frozen=True)
class Mean:
    """The mean of one difference per image, with its interval and the p-value that it is zero."""

    value: float
    low: float
    high: float
    p: float


def mean_difference(values: Float[Array, " n"], level: float = LEVEL) -> Mean:
    """The mean of differences between −1 and 1, one per image.

    With one imagined difference of 1 and one of −1 more, as in Bonett and Price's interval, which it is if all
    differences are −1, 0 or 1: without them, an interval from few unlike images would be too narrow.
    """
    count = len(values) + 2
    middle = float(values.sum()) / count
    error = float(np.sqrt((((values**2).sum() + 2) / count - middle**2) / count))
    half, mean = normal_quantile(level) * error, float(values.mean()) if len(values) else 0.0
    p = float(2 * ndtr(-abs(middle) / error))
    return Mean(mean, max(min(middle - half, mean), -1.0), min(max(middle + half, mean), 1.0), p)
