"""Which differences between classifiers over many data sets are more than chance (Demšar, 2006).

Friedman's test asks whether all classifiers have the same mean rank. Nemenyi's critical difference is how far two mean
ranks must be apart, whichever two of all are looked at. Wilcoxon's signed-rank test compares two classifiers by their
differences in accuracy, whoever else takes part; Holm's correction allows for all pairs.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import permutations
from math import exp, factorial, log, prod

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.suites.measures import SAME, checked, ranks

MOST_EXACT = 50
"""Data sets up to which the signed-rank test is exact."""
MOST_ORDERED = {2: 50, 3: 20, 4: 10, 5: 5}
"""Data sets up to which Friedman's test is exact, by the number of classifiers."""


@dataclass(frozen=True)
class Friedman:
    """Friedman's χ², corrected for ties, Iman and Davenport's F, which is less conservative, and the p to go by.

    With few data sets, F finds differences that are none: two data sets that agree about two classifiers, as they do
    every other time, have an infinite F. So p is exact for few data sets, and wherever F is infinite.
    """

    chi_square: float
    p_chi_square: float
    f: float
    """Infinite if all data sets put the classifiers in the same order."""
    p: float
    """Exact (the share of all orders on every data set whose χ² is as large) for few data sets, otherwise of F."""
    degrees: tuple[int, int]


def friedman(accuracies: Float[Array, "S M"]) -> Friedman | None:
    """Whether the mean ranks differ by more than chance; None for a single data set."""
    from scipy.stats import chi2, f

    ranked = ranks(accuracies)
    count, many = ranked.shape
    if count < 2:
        return None
    spread = np.square(ranked - (many + 1) / 2).sum()  # 0 if all are tied everywhere: then nothing differs
    between = count * np.square(ranked.mean(axis=0) - (many + 1) / 2).sum()
    statistic = float((many - 1) * count * between / spread) if spread > 0 else 0.0
    degrees = many - 1, (many - 1) * (count - 1)
    rest = count * (many - 1) - statistic
    ratio = (count - 1) * statistic / rest if rest > SAME else np.inf
    doubled = np.rint(2 * ranked).astype(np.int64)  # mean ranks end in .0 or .5
    if not np.isfinite(ratio):
        p = exp((1 - count) * log(_orders(doubled[0])))  # all have the order of the first
    elif count <= MOST_ORDERED.get(many, 0):
        p = _exact(doubled)
    else:
        p = float(f.sf(ratio, *degrees))
    return Friedman(statistic, float(chi2.sf(statistic, degrees[0])), float(ratio), p, degrees)


def _exact(ranked: Int[Array, "S M"]) -> float:
    """The probability of rank sums as far apart as these, if all orders on a data set are equally likely.

    Sums are followed from data set to data set; which classifier has which does not matter, so they are sorted.
    """
    many = ranked.shape[1]
    digits = (2 * many * len(ranked) + 1) ** np.arange(many)
    sums = np.sort(ranked[:1])
    chances: Float[Array, " k"] = np.ones(1)
    for row in ranked[1:]:
        orders = np.array(sorted(set(permutations(row.tolist()))))
        reached = np.sort((sums[:, None] + orders).reshape(-1, many))
        _, first, place = np.unique(reached @ digits, return_index=True, return_inverse=True)
        chances = np.bincount(place, np.repeat(chances / len(orders), len(orders)))
        sums = reached[first]
    is_far = np.square(sums).sum(axis=1) >= np.square(ranked.sum(axis=0)).sum()
    return min(1.0, float(chances[is_far].sum()))


def _orders(ranked: Int[Array, " M"]) -> int:
    """In how many ways the ranks of one data set can be given to the classifiers."""
    return factorial(len(ranked)) // prod(factorial(times) for times in Counter(ranked.tolist()).values())


def critical_difference(data_sets: int, classifiers: int, level: float) -> float:
    """How far two mean ranks must be apart to differ, all pairs looked at together (Nemenyi)."""
    from scipy.stats import studentized_range

    quantile = float(studentized_range.ppf(level, classifiers, np.inf))
    return quantile / np.sqrt(2) * _error(data_sets, classifiers)


def nemenyi(accuracies: Float[Array, "S M"]) -> Float[Array, "M M"]:
    """p-values of all pairs of mean ranks, which allow for all pairs."""
    ranked = ranks(accuracies)
    mean = ranked.mean(axis=0)
    apart = np.abs(mean[:, None] - mean) / _error(*ranked.shape) * np.sqrt(2)
    return _beyond(apart, ranked.shape[1])


def wilcoxon(differences: Float[Array, " S"]) -> float:
    """Two-sided p-value of the signed-rank test for paired differences.

    Zeros are ranked, but have no sign (Pratt, 1959); ties share their mean rank. It counts all signs that the other
    differences could have for up to `MOST_EXACT` data sets, and is normal beyond.
    """
    from scipy.special import ndtr
    from scipy.stats import rankdata

    differences = np.round(np.asarray(differences, np.float64) / SAME) * SAME
    doubled = np.rint(2 * rankdata(np.abs(differences))).astype(np.int64)[differences != 0]
    total, plus = int(doubled.sum()), int(doubled[differences[differences != 0] > 0].sum())
    if not total:
        return 1.0
    few = min(plus, total - plus)
    if len(differences) > MOST_EXACT:
        return min(1.0, float(2 * ndtr((few - total / 2) / np.sqrt(np.square(doubled.astype(float)).sum() / 4))))
    ways = np.zeros(total + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = (ways[rank:] + ways[:-rank]) / 2
        ways[:rank] /= 2
    return min(1.0, float(2 * ways[: few + 1].sum()))


def wilcoxon_pairs(accuracies: Float[Array, "S M"]) -> Float[Array, " k"]:
    """p-values of all pairs i < j, in the order of `numpy.triu_indices`, without a correction."""
    accuracies = checked(accuracies)
    pairs = zip(*np.triu_indices(accuracies.shape[1], 1), strict=True)
    return np.array([wilcoxon(accuracies[:, first] - accuracies[:, second]) for first, second in pairs])


def groups(mean_ranks: Float[Array, " M"], difference: float) -> list[list[int]]:
    """The largest sets of two and more classifiers whose mean ranks all lie within the critical difference."""
    order = np.argsort(mean_ranks, kind="stable")
    ranked = mean_ranks[order]
    ends = np.searchsorted(ranked, ranked + difference + SAME, side="right")
    found = [order[start:end].tolist() for start, end in enumerate(ends) if end - start > 1]
    return [one for place, one in enumerate(found) if not any(set(one) < set(other) for other in found[:place])]


def _error(data_sets: int, classifiers: int) -> float:
    """Standard error of a difference of two mean ranks."""
    return float(np.sqrt(classifiers * (classifiers + 1) / (6 * data_sets)))


def _beyond(distance: Float[Array, "M M"], count: int) -> Float[Array, "M M"]:
    """The probability that the range of `count` normal variables is at least this: 1 − n∫φ(z)(Φ(z) − Φ(z − q))ⁿ⁻¹dz.

    SciPy's takes milliseconds for each value, and there are thousands of pairs.
    """
    from scipy.special import ndtr

    at = np.linspace(-9.0, 9.0, 721)
    weight = count * np.exp(-(at**2) / 2) / np.sqrt(2 * np.pi) * (at[1] - at[0])
    values, place = np.unique(distance, return_inverse=True)
    inside = np.array([(weight * (ndtr(at) - ndtr(at - one)) ** (count - 1)).sum() for one in values])
    return np.clip(1 - inside, 0, 1)[place].reshape(distance.shape)
