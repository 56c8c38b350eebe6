"""Intervals of proportions, of differences between independent ones, and p-values of many tests at once.

A difference in words is in points, as of accuracies in per cent.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float, Int

LEVEL = 0.95
Ends = tuple[Float[Array, " n"], Float[Array, " n"]]
Count = int | Int[Array, " n"] | Float[Array, " n"]


def clopper_pearson(right: Count, count: Count, level: float = LEVEL) -> Ends:
    """Exact intervals (Clopper and Pearson, 1934): they cover at least as often as `level` says.

    They reach 0 if nothing is right, 1 if everything is, and both if nothing was counted.

    Raises:
        ValueError: more is right than was counted.
    """
    from scipy.special import betaincinv  # takes a quarter of a second to import, and few commands need it

    right, count = _counts(right, count)
    tail = (1 - level) / 2
    low = np.where(right > 0, betaincinv(np.where(right > 0, right, 1), count - right + 1, tail), 0.0)
    high = np.where(right < count, betaincinv(right + 1, np.where(right < count, count - right, 1), 1 - tail), 1.0)
    return low, high


def wilson(right: Count, count: Count, level: float = LEVEL) -> Ends:
    """Wilson's intervals (1927): the proportions under which what was seen is not too unlikely.

    They reach 0 if nothing is right, 1 if everything is, and both if nothing was counted.

    Raises:
        ValueError: more is right than was counted.
    """
    right, count = _counts(right, count)
    far = normal_quantile(level)
    middle = (right + far**2 / 2) / (count + far**2)
    half = far * np.sqrt(right * (count - right) / np.maximum(count, 1) + far**2 / 4) / (count + far**2)
    return np.where(right == 0, 0.0, middle - half), np.where(right == count, 1.0, middle + half)


def difference(first: Float[Array, " n"], first_ends: Ends, second: Float[Array, " n"], second_ends: Ends) -> Ends:
    """The interval of first − second for independent estimates with intervals (Zou and Donner, 2008: 'MOVER')."""
    value = first - second
    down = np.hypot(first - first_ends[0], second_ends[1] - second)
    up = np.hypot(first_ends[1] - first, second - second_ends[0])
    return value - down, value + up


def at_once(value: Float[Array, " M"], ends: Ends, level: float = LEVEL) -> Ends:
    """Intervals that hold for all values together (Bonferroni): ends moved out as those of a normal distribution."""
    farther = normal_quantile(1 - (1 - level) / len(value)) / normal_quantile(level)
    return value - farther * (value - ends[0]), value + farther * (ends[1] - value)


def newcombe(right: Count, count: Count, other_right: Count, other_count: Count, level: float = LEVEL) -> Ends:
    """The interval of the difference of two independent proportions (Newcombe, 1998, method 10); counts are positive.

    Raises:
        ValueError: more is right than was counted.
    """
    first, second = wilson(right, count, level), wilson(other_right, other_count, level)
    return difference(np.divide(right, count), first, np.divide(other_right, other_count), second)


def bonett_price(only: Count, other: Count, count: Count, level: float = LEVEL) -> Ends:
    """The interval of a difference of two paired proportions (Bonett and Price, 2012).

    `only` and `other` of `count` items are right for just the first or just the second. One more of each keeps the
    interval wide enough where such items are rare. No end lies outside −1 and 1.
    """
    share, other_share = np.add(only, 1) / np.add(count, 2), np.add(other, 1) / np.add(count, 2)
    half = normal_quantile(level) * np.sqrt((share + other_share - (share - other_share) ** 2) / np.add(count, 2))
    value, middle = np.subtract(only, other) / np.maximum(count, 1), share - other_share
    return np.clip(np.minimum(middle - half, value), -1, 1), np.clip(np.maximum(middle + half, value), -1, 1)


def holm(p: Float[Array, " k"]) -> Float[Array, " k"]:
    """Holm's adjusted p-values (1979): whichever of the k tests are looked at, the level holds for all together."""
    p = np.asarray(p, np.float64)
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * (len(p) - np.arange(len(p))))
    adjusted = np.empty(len(p))
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def mean_share(shares: Float[Array, " n"], members: float, level: float = LEVEL) -> tuple[Float[Array, " 1"], Ends]:
    """The mean of one share per item, each the part of `members` that is right, with its interval over items.

    It is Wilson's for the number of items that would tell one member as much: the more, the less the members' errors
    are alike. A normal interval would be too narrow close to 0 and 1, and have no width at all there. How alike the
    errors are is uncertain if items are few, so that one more item is imagined on which all members agree.
    """
    mean, count = float(shares.mean()), len(shares)
    alone = mean * (1 - mean)
    together = (count * float(shares.var()) + alone) / (count + 1)
    telling = count * min(alone / together, members) if together > 0 else float(count)
    return np.array([mean]), wilson(np.array([mean * telling]), np.array([telling]), level)


def points(value: float, low: float | None = None, high: float | None = None) -> str:
    """A difference of proportions in points, with its interval: '8.1 points (7.4 to 8.8)'."""
    ends = "" if low is None or high is None else f" ({100 * low:z.1f} to {100 * high:z.1f})"
    word = "point" if f"{100 * value:z.1f}" in ("1.0", "-1.0") else "points"
    return f"{100 * value:z.1f} {word}{ends}".replace("-", "−")


def p_text(p: float) -> str:
    """A p-value in words: 'p = 0.037', 'p < 0.001'."""
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def normal_quantile(level: float) -> float:
    """How many standard deviations the ends of a normal interval lie from its middle: 1.96 at 0.95."""
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


def _counts(right: Count, count: Count) -> tuple[Float[Array, " n"], Float[Array, " n"]]:
    right, count = np.asarray(right, np.float64), np.asarray(count, np.float64)
    if (right < 0).any() or (right > count).any():
        raise ValueError("more is right than was counted")
    return right, count
