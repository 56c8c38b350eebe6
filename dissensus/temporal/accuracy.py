"""Accuracy on the worst frame within k of the anchor (pm-k, Equation 4.2.1 of the thesis), for every k at once.

A model is right about an anchor within k exactly if the nearest frame that it gets wrong is farther than k away. So
one pass finds that distance for every model and anchor, and all accuracies are counts of it.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, clopper_pearson, normal_quantile
from dissensus.temporal.anchors import Anchors


def nearest_errors(right: Bool[Array, "M F"], anchors: Anchors) -> Int[Array, "M A"]:
    """How far the nearest wrong frame is from each anchor; the anchor itself is at 0, and reach + 1 means none."""
    never = anchors.reach + 1
    away = np.where(right, np.int32(never), anchors.away.astype(np.int32))
    return np.minimum.reduceat(away, anchors.start[:-1], axis=1)


def right_within(
    right: Bool[Array, "M F"], anchors: Anchors, k: int | None = None, is_anchor_included: bool = True
) -> Bool[Array, "M A k+1"]:
    """Whether each model is right about each anchor on all frames within 0, 1, … k of it.

    Without the anchor among the frames, as in the thesis, an anchor that has no neighbour within k still counts with
    its own frame, so that every anchor is defined at every k.
    """
    reach = anchors.reach if k is None else k
    steps = np.minimum(np.arange(reach + 1), anchors.reach)  # farther away, there is nothing more to get wrong
    nearest = nearest_errors(right, anchors)
    if is_anchor_included:
        return nearest[:, :, None] > steps
    is_home = anchors.offset == 0
    beyond = nearest_errors(right | is_home, anchors)
    alone = np.where(is_home, anchors.reach + 1, anchors.away)
    first = np.minimum.reduceat(alone, anchors.start[:-1])
    at_home = right[:, anchors.home]
    return np.where(first[:, None] > steps, at_home[:, :, None], beyond[:, :, None] > steps)


def accuracies(within: Bool[Array, "M A k"], level: float = LEVEL) -> tuple[Float[Array, "M k"], Ends]:
    """Accuracy of every model at every k, with Clopper–Pearson intervals."""
    count = within.shape[1]
    right = within.sum(axis=1)
    return right / count, clopper_pearson(right, np.full(right.shape, count), level)


def drops(
    within: Bool[Array, "M A k"], weights: Float[Array, "B A"], level: float = LEVEL
) -> tuple[Float[Array, "M k"], Ends]:
    """How much accuracy every model loses from its anchors to the worst frames within every k.

    If no model gains anything, which the anchor among the frames ensures, a drop is the share of anchors that are lost
    on the way, and has a Clopper–Pearson interval: resampling anchors draws from that very binomial distribution, but
    its percentiles have no width if nothing is lost. Otherwise the interval is made of percentiles of `resamples`.
    """
    anchors = within.shape[1]
    lost = within[:, :, :1] & ~within
    gained = ~within[:, :, :1] & within
    value = (lost.sum(axis=1) - gained.sum(axis=1)) / anchors
    if not gained.any():
        count = lost.sum(axis=1)
        return value, clopper_pearson(count, np.full(count.shape, anchors), level)
    change = lost.astype(np.float32) - gained
    drawn = np.stack([weights @ change[:, :, k].T for k in range(within.shape[2])], axis=2) / anchors
    return value, percentiles(drawn, value, level)


def mean_drops(
    within: Bool[Array, "M A k"], weights: Float[Array, "B A"], level: float = LEVEL
) -> tuple[Float[Array, " k"], Ends]:
    """The mean drop over all models at every k, for other anchors and the same models."""
    lost = (within[:, :, :1].astype(np.float32) - within).mean(axis=0)
    value = lost.mean(axis=0, dtype=np.float64)
    return value, percentiles((weights @ lost) / within.shape[1], value, level)


def drop_pairs(
    within: Bool[Array, "M A"], original: Bool[Array, "M A"], weights: Float[Array, "B A"], level: float = LEVEL
) -> tuple[Int[Array, "p 2"], Float[Array, " p"], Ends, Ends]:
    """By how much the first of two models drops more than the second, on the same resamples for all models.

    Returns:
        Pairs of models, differences, ends for each pair, and ends that hold for all pairs together: no resample's
        largest deviation, in standard errors, lies outside more often than the level allows.
    """
    models, anchors = within.shape
    first, second = np.triu_indices(models, 1)
    lost = original.astype(np.float32) - within
    value = (lost.sum(axis=1, dtype=np.float64)[first] - lost.sum(axis=1, dtype=np.float64)[second]) / anchors
    drawn = (weights @ lost.T) / anchors
    difference = drawn[:, first] - drawn[:, second]
    spread = _difference_spread(lost, first, second)
    ends = percentiles(difference, value, level)
    if not len(first):
        return np.zeros((0, 2), np.int64), value, ends, ends
    far = np.quantile((np.abs(difference - value) / spread).max(axis=1), level)
    far = max(float(far), normal_quantile(level))
    at_once = np.minimum(ends[0], value - far * spread), np.maximum(ends[1], value + far * spread)
    return np.stack([first, second], axis=1), value, ends, at_once


def _difference_spread(
    lost: Float[Array, "M A"], first: Int[Array, " p"], second: Int[Array, " p"]
) -> Float[Array, " p"]:
    """Standard errors of differences of drops; at least that of a single anchor on which two models differ."""
    anchors = lost.shape[1]
    products = lost @ lost.T
    total = lost.sum(axis=1)
    squares = np.diagonal(products)[first] + np.diagonal(products)[second] - 2 * products[first, second]
    mean = (total[first] - total[second]) / anchors
    return np.sqrt(np.maximum(squares - anchors * mean**2, 1.0)) / anchors


def resampled(anchors: int, resamples: int, seed: int) -> Float[Array, "B A"]:
    """How often each anchor is in each bootstrap sample of the anchors."""
    drawn = np.random.default_rng(seed).integers(anchors, size=(resamples, anchors))
    drawn += anchors * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * anchors)
    return counts.reshape(resamples, anchors).astype(np.float32)


def percentiles(drawn: Float[Array, "B ..."], value: Float[Array, ...], level: float) -> Ends:
    """Percentile intervals over the first axis, widened to hold the estimate itself."""
    tail = (1 - level) / 2
    columns = np.ascontiguousarray(drawn.reshape(len(drawn), -1).T)  # several times as fast as across rows
    low, high = np.quantile(columns, (tail, 1 - tail), axis=1).reshape(2, *drawn.shape[1:])
    return np.minimum(low, value), np.maximum(high, value)
