"""Intervals of accuracies, of drops between two test sets, and of differences of drops between models.

Two test sets have different items, so that their accuracies are independent, and a drop is a difference of two
independent shares. Its interval is Newcombe's (1998): distances of the ends of two Wilson intervals, combined by their
squares. Miettinen and Nurminen's, the usual alternative, has to be solved for numerically and needs counts. The rule
by which Newcombe combines two intervals works for any two (Zou and Donner, 2008: 'MOVER'), so that a table which gives
intervals instead of counts is treated alike.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import beta, norm

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TransferError

LEVEL = 0.95
Ends = tuple[Float[Array, " M"], Float[Array, " M"]]


def clopper_pearson(right: Int[Array, " M"], count: Int[Array, " M"], level: float = LEVEL) -> Ends:
    """The exact interval of a share (Clopper and Pearson, 1934); it reaches 0 if nothing is right, 1 if everything is.

    Raises:
        TransferError: a count is not positive, or more items are right than there are.
    """
    right, count = _counts(right, count)
    tail = (1 - level) / 2
    with np.errstate(invalid="ignore"):  # the ends at 0 and 1 are set below
        low = np.where(right == 0, 0.0, beta.ppf(tail, right, count - right + 1))
        high = np.where(right == count, 1.0, beta.isf(tail, right + 1, count - right))
    return low, high


def wilson(right: Int[Array, " M"], count: Int[Array, " M"], level: float = LEVEL) -> Ends:
    """Wilson's interval of a share (1927), the shares under which what was seen is not too unlikely.

    Raises:
        TransferError: a count is not positive, or more items are right than there are.
    """
    right, count = _counts(right, count)
    far = _far(level)
    share, wide = right / count, far**2 / count
    middle = (share + wide / 2) / (1 + wide)
    half = far * np.sqrt(share * (1 - share) / count + wide / (4 * count)) / (1 + wide)
    return np.where(right == 0, 0.0, middle - half), np.where(right == count, 1.0, middle + half)


def difference(first: Float[Array, " M"], first_ends: Ends, second: Float[Array, " M"], second_ends: Ends) -> Ends:
    """The interval of first − second for independent estimates with intervals (Zou and Donner, 2008)."""
    value = first - second
    down = np.hypot(first - first_ends[0], second_ends[1] - second)
    up = np.hypot(first_ends[1] - first, second - second_ends[0])
    return value - down, value + up


def at_once(value: Float[Array, " M"], ends: Ends, level: float = LEVEL) -> Ends:
    """Intervals that hold for all values together (Bonferroni): ends moved out as those of a normal distribution."""
    tail = (1 - level) / 2
    farther = float(norm.isf(tail / len(value)) / norm.isf(tail))
    return value - farther * (value - ends[0]), value + farther * (ends[1] - value)


def newcombe(
    right: Int[Array, " M"], count: Int[Array, " M"], new_right: Int[Array, " M"], new_count: Int[Array, " M"],
    level: float = LEVEL,
) -> Ends:  # fmt: skip
    """The interval of the drop from one test set to another of other items (Newcombe, 1998, method 10)."""
    first, second = wilson(right, count, level), wilson(new_right, new_count, level)
    return difference(np.divide(right, count), first, np.divide(new_right, new_count), second)


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
    half = _far(level) * np.sqrt(variance)
    return pairs, value, (np.minimum(middle - half, value), np.maximum(middle + half, value))


def mean_drop(original: Bool[Array, "M n"], new: Bool[Array, "M k"], level: float = LEVEL) -> tuple[float, float]:
    """The interval of the mean drop of some models, over the items that all of them have in common.

    It is Newcombe's for the number of items that would tell one model as much: the more, the less the models' errors
    are alike. A normal interval would be too narrow close to 0 and 1, and have no width at all there.
    """
    means, ends = zip(*(_mean_ends(right, level) for right in (original, new)), strict=True)
    low, high = difference(means[0], ends[0], means[1], ends[1])
    return float(low[0]), float(high[0])


def _mean_ends(right: Bool[Array, "M n"], level: float) -> tuple[Float[Array, " 1"], Ends]:
    """Mean accuracy of some models, with its interval over items."""
    models, items = right.shape
    mean = right.mean()
    alone, together = mean * (1 - mean), float(right.mean(axis=0).var())
    telling = items * min(alone / together, models) if together > 0 else float(items)
    return np.array([mean]), wilson(np.array([mean * telling]), np.array([telling]), level)


def _far(level: float) -> float:
    return float(norm.ppf((1 + level) / 2))


def _counts(right: Array, count: Array) -> tuple[Array, Array]:
    right, count = np.asarray(right, np.float64), np.asarray(count, np.float64)
    if (count < 1).any():
        raise TransferError("a test set without items has no accuracy: give positive counts")
    if (right < 0).any() or (right > count).any():
        raise TransferError("more items are right than there are: check the counts")
    return right, count
