"""Accuracy on the worst frame within k of the anchor (pm-k, Equation 4.2.1 of the thesis), for every k at once.

A model is right about an anchor within k exactly if the nearest frame that it gets wrong is farther than k away. So
one pass finds that distance for every model and anchor, and all accuracies are counts of it.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, normal_quantile
from dissensus.temporal.anchors import Anchors
from dissensus.temporal.clips import difference_ends, share_ends

PAIRS_AT_ONCE = 500
"""Pairs of models whose anchors are compared at once, to save memory."""


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


def accuracies(
    within: Bool[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL
) -> tuple[Float[Array, "M k"], Ends]:
    """Accuracy of every model at every k, with Clopper–Pearson intervals; `clip` says which anchors share a clip."""
    return within.mean(axis=1, dtype=np.float64), share_ends(within, clip, level)


def drops(
    within: Bool[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL
) -> tuple[Float[Array, "M k"], Ends]:
    """How much accuracy every model loses from its anchors to the worst frames within every k.

    If no model gains anything, which the anchor among the frames ensures, a drop is the share of anchors that are lost
    on the way, and has an interval of shares; otherwise one of differences.
    """
    lost = within[:, :, :1] & ~within
    gained = ~within[:, :, :1] & within
    value = (lost.sum(axis=1) - gained.sum(axis=1)) / within.shape[1]
    if not gained.any():
        return value, _from_zero(share_ends(lost, clip, level))
    return value, _from_zero(difference_ends(lost.astype(np.float64) - gained, clip, level))


def mean_drops(
    within: Bool[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL
) -> tuple[Float[Array, " k"], Ends]:
    """The mean drop over all models at every k, for other anchors and the same models."""
    lost = (within[:, :, :1].astype(np.float64) - within).mean(axis=0, keepdims=True)
    value = lost.mean(axis=1)
    is_gained = bool((~within[:, :, :1] & within).any())
    low, high = difference_ends(lost, clip, level) if is_gained else share_ends(lost, clip, level)
    low, high = _from_zero((low, high))
    return value[0], (low[0], high[0])


def _from_zero(ends: Ends) -> Ends:
    """The same intervals, but without a width at k = 0, where nothing can be lost."""
    is_away = np.arange(ends[0].shape[-1]) > 0
    return np.where(is_away, ends[0], 0.0), np.where(is_away, ends[1], 0.0)


def mean_accuracies(
    within: Bool[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL
) -> tuple[Float[Array, " k"], Ends]:
    """The mean accuracy over all models at every k, for other anchors and the same models."""
    share = within.mean(axis=0, keepdims=True, dtype=np.float64)
    low, high = share_ends(share, clip, level)
    return share.mean(axis=1)[0], (low[0], high[0])


def drop_pairs(
    within: Bool[Array, "M A"], original: Bool[Array, "M A"], weights: Float[Array, "B A"],
    clip: Int[Array, " A"] | None = None, level: float = LEVEL,
) -> tuple[Int[Array, "p 2"], Float[Array, " p"], Ends, Ends]:  # fmt: skip
    """By how much the first of two models drops more than the second, on the same resamples for all models.

    Returns:
        Pairs of models, differences, ends for each pair, and ends that hold for all pairs together: as much wider as
        the largest deviation of a resample, in standard errors, is beyond that of a single pair.
    """
    models, anchors = within.shape
    first, second = np.triu_indices(models, 1)
    if not len(first):
        return np.zeros((0, 2), np.int64), np.zeros(0), (np.zeros(0), np.zeros(0)), (np.zeros(0), np.zeros(0))
    lost = original.astype(np.float32) - within
    value = (lost.sum(axis=1, dtype=np.float64)[first] - lost.sum(axis=1, dtype=np.float64)[second]) / anchors
    drawn = (weights @ lost.T) / anchors
    low, high = np.zeros(len(first)), np.zeros(len(first))
    for start in range(0, len(first), PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        apart = lost[first[some]] - lost[second[some]]
        ends = difference_ends(apart[:, :, None], clip, level)
        low[some], high[some] = ends[0][:, 0], ends[1][:, 0]
    drawn = drawn[:, first] - drawn[:, second] - value
    deviation = np.abs(drawn) / np.maximum(np.sqrt((drawn**2).mean(axis=0)), 1 / anchors**2)
    wider = max(float(np.quantile(deviation.max(axis=1), level)) / normal_quantile(level), 1.0)
    middle, half = (low + high) / 2, (high - low) / 2
    at_once = np.minimum(low, middle - wider * half), np.maximum(high, middle + wider * half)
    return np.stack([first, second], axis=1), value, (low, high), at_once
