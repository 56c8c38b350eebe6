"""Intervals for the results of a laconic test: means over classes, shares, and rank correlations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.special import ndtr
from scipy.stats import rankdata, t

from dissensus.arrays import Array, Float, Int
from dissensus.errors import ReductionError
from dissensus.proportions import LEVEL

RESAMPLES = 4000
FEWEST_MODELS = 3
SLOPES = np.sin(np.linspace(-np.pi / 2, np.pi / 2, 161))
"""Correlations that an interval is chosen from; they are closer to each other towards ±1."""


@dataclass(frozen=True)
class Estimate:
    """A mean over classes with its intervals at several levels; the intervals are None if there is only one image."""

    value: float
    images: int
    intervals: tuple[tuple[float, float], ...] | None


def stratified(
    columns: Float[Array, "n k"],
    label: Int[Array, " n"],
    levels: Sequence[float] = (LEVEL,),
    resamples: int = RESAMPLES,
    seed: int = 0,
    is_positive: bool = False,
) -> list[Estimate]:
    """The mean over classes of every column's class means, with intervals.

    An interval spans two: percentiles of means of resampled images, and Student's interval with Welch's degrees of
    freedom, which matters for few images, whose resamples are too much alike. If values are positive (`is_positive`),
    it also spans Student's interval of the logarithm, since the largest values may be missing from the sample, and its
    lower end is not negative.

    Of a class with n images, n − 1 are drawn with replacement, which gives the resampled mean the variance of the mean
    (Rao and Wu, 1988); the percentiles are as far out as Student's t requires. Classes with one image are resampled
    together, as if they were one class, which makes them vary too much rather than too little; if there is only one of
    them, it is assumed to vary around its mean as the others do around theirs.
    """
    values = [columns[label == one] for one in np.unique(label)]
    value = np.mean([one.mean(axis=0) for one in values], axis=0)
    if len(columns) == 1:
        return [Estimate(float(one), 1, None) for one in value]
    single = [one for one in values if len(one) == 1]
    strata = [(one, 1) for one in values if len(one) > 1]
    if len(single) > 1:
        strata.append((np.concatenate(single), len(single)))
    alone, images = int(len(single) == 1), sum(len(one) for one, _ in strata)
    rng = np.random.default_rng(seed)
    drawn = np.zeros((resamples, columns.shape[1]))
    variance, squares = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    for one, classes in strata:
        count = len(one)
        weights = rng.multinomial(count - 1, np.full(count, 1 / count), size=resamples) / (count - 1)
        drawn += classes * (weights @ (one - one.mean(axis=0)))
        part = one.var(axis=0, ddof=1) * (classes**2 / count + alone * count / images)
        variance += part
        squares += part**2 / (count - 1)
    if alone:  # as far from its mean as the other images are from theirs
        apart = [(one - one.mean(axis=0)) * (len(one) / (len(one) - 1)) ** 0.5 for one, _ in strata]
        drawn += np.concatenate(apart)[rng.integers(images, size=resamples)]
    drawn = value + drawn / len(values)
    error = np.sqrt(variance) / len(values)
    freedom = np.where(squares > 0, variance**2 / np.where(squares > 0, squares, 1), 1)
    bounds = [_span(value, drawn, error, freedom, level, is_positive) for level in levels]
    low, high = (np.stack(ends, axis=1) for ends in zip(*bounds, strict=True))
    return [
        Estimate(float(value[place]), len(columns), tuple(zip(low[place].tolist(), high[place].tolist(), strict=True)))
        for place in range(len(value))
    ]


def _span(
    value: Float[Array, " k"], drawn: Float[Array, "B k"], error: Array, freedom: Array, level: float, is_positive: bool
) -> tuple[Array, Array]:
    """The ends of the interval of every column, at one level."""
    far = t.ppf((1 + level) / 2, freedom)
    tail = ndtr(-far)
    ends = [
        (np.quantile(drawn[:, place], tail[place]), np.quantile(drawn[:, place], 1 - tail[place]))
        for place in range(len(value))
    ]
    low, high = np.array(ends).T
    low, high = np.minimum(low, value - far * error), np.maximum(high, value + far * error)
    if not is_positive:
        return low, high
    steps = np.minimum(far * error / value, 100)
    return np.maximum(low, 0), np.maximum(high, value * np.exp(steps))


def spearman(
    first: Sequence[float], second: Sequence[float], level: float = LEVEL, seed: int = 0
) -> tuple[float, float, float]:
    """Spearman correlation with an interval for the population that the models are a sample of.

    The interval has every correlation under which what was seen, or something more extreme, is not too unlikely, as
    Clopper and Pearson's. Up to simulation it is exact for values that a monotone change makes normal, however few:
    three models in perfect order exclude only strong correlations in the other direction.

    Raises:
        ReductionError: there are fewer than three models, or all have the same value.
    """
    many = len(first)
    if many < FEWEST_MODELS:
        raise ReductionError(f"a correlation needs at least {FEWEST_MODELS} models, here are {many}")
    if len(set(first)) == 1 or len(set(second)) == 1:
        raise ReductionError("all models have the same value: there is no order to correlate")
    value = float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])
    drawn, tail = _drawn_correlations(many, seed), (1 - level) / 2
    as_large, as_small = (drawn >= value - 1e-9).mean(axis=1), (drawn <= value + 1e-9).mean(axis=1)
    # the rank correlation of two normal variables, from their correlation
    ranked = 6 / np.pi * np.arcsin(SLOPES / 2)
    return value, float(ranked[as_large >= tail].min()), float(ranked[as_small >= tail].max())


@lru_cache(32)
def _drawn_correlations(many: int, seed: int, resamples: int = RESAMPLES) -> Float[Array, "s B"]:
    """Spearman correlations of `many` pairs of normal values, for each of the `SLOPES`."""
    rng = np.random.default_rng(seed)
    one, noise = rng.standard_normal((2, resamples, many))
    ranks = rankdata(one, axis=1) - (many + 1) / 2
    found = [rankdata(slope * one + (1 - slope**2) ** 0.5 * noise, axis=1) - (many + 1) / 2 for slope in SLOPES]
    return np.stack([(ranks * other).sum(axis=1) for other in found]) * 12 / (many * (many**2 - 1))
