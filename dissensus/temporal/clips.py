"""Intervals of means over anchors, of which several may come from one clip and are then not independent.

A mean of values between 0 and 1 has the Clopper–Pearson interval of as many independent anchors as would tell as much
(Korn and Graubard, 1998). That number comes from the variance between clips, with one clip that loses everything and
one that loses nothing added, so that it is known even if all values are the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import TemporalError
from dissensus.proportions import LEVEL, Ends, clopper_pearson, normal_quantile

MOST_RESAMPLES = 100_000


def check_settings(level: float, resamples: int, seed: int) -> None:
    """Raise an error if no interval can have this level, or no bootstrap these resamples or this seed."""
    if not 0 < level < 1:
        raise TemporalError(f"the level of intervals is {level}: it has to be between 0 and 1, such as 0.95")
    if not 1 <= resamples <= MOST_RESAMPLES:
        raise TemporalError(f"intervals need 1 to {MOST_RESAMPLES:,} resamples, not {resamples:,}")
    if not 0 <= seed < 2**64:
        raise TemporalError(f"the seed {seed} is not between 0 and 2^64 - 1: choose another")


def clip_numbers(clips: Sequence[Hashable]) -> Int[Array, " A"] | None:
    """The clips of anchors as numbers; None if they are all different, or if there is only one."""
    numbers = {clip: number for number, clip in enumerate(dict.fromkeys(clips))}
    return np.array([numbers[clip] for clip in clips], np.int64) if 1 < len(numbers) < len(clips) else None


def clip_note(clip: Int[Array, " A"] | None) -> tuple[str, ...]:
    """What to say about anchors of the same clip."""
    if clip is None:
        return ()
    count = len(np.unique(clip))
    return (f"Intervals are about other clips: the {len(clip):,} anchors come from {count:,} clips.",)


def folder_note(names: Sequence[str]) -> tuple[str, ...]:
    """What to say about anchors that are all in one folder, which may be one clip or may hold many."""
    if len(names) < 2 or len({name.rpartition("/")[0] for name in names}) > 1:
        return ()
    return ("All anchors are in one folder: if they come from one clip, intervals are too narrow.",)


def resampled(anchors: int, resamples: int, seed: int, clip: Int[Array, " A"] | None = None) -> Float[Array, "B A"]:
    """How often each anchor counts in each bootstrap sample of the clips; weights add up to the number of anchors."""
    count = anchors if clip is None else int(clip.max()) + 1
    drawn = np.random.default_rng(seed).integers(count, size=(resamples, count))
    drawn += count * np.arange(resamples)[:, None]
    counts = np.bincount(drawn.ravel(), minlength=resamples * count).reshape(resamples, count).astype(np.float32)
    if clip is None:
        return counts
    weights = counts[:, clip]
    return weights * (anchors / weights.sum(axis=1, keepdims=True))


def share_ends(values: Float[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL) -> Ends:
    """Intervals of means over anchors of values between 0 and 1: Clopper–Pearson's if they are independent zeros and
    ones, and else those of the number of such anchors that would tell as much."""
    anchors = values.shape[1]
    if clip is None and values.dtype == bool:
        right = values.sum(axis=1)
        return clopper_pearson(right, np.full(right.shape, anchors), level)
    share = np.clip(values.mean(axis=1, dtype=np.float64), 0, 1)
    telling = _telling(values, None, level)
    if clip is not None:
        telling = np.minimum(telling, _telling(values, clip, level))
    low, high = clopper_pearson(share * telling, telling, level)
    return np.minimum(low, share), np.maximum(high, share)


def difference_ends(values: Float[Array, "M A k"], clip: Int[Array, " A"] | None = None, level: float = LEVEL) -> Ends:
    """Intervals of means over anchors of values between −1 and 1.

    As Agresti and Min (2005) do, we add two clips: half of one is lost, half is gained, and the rest stays as it is, so
    that intervals have a width even if all values are zero.
    """
    total, rest, size, count = _sums(values, clip)
    mean = total / (values.shape[1] + 2 * size)
    squares = ((rest - mean[:, None] * _sizes(values, clip)) ** 2).sum(axis=1)
    squares += size**2 * ((1 - mean) ** 2 / 2 + (1 + mean) ** 2 / 2 + mean**2)
    half = far_out(level, None if clip is None else count) * np.sqrt(squares) / (values.shape[1] + 2 * size)
    value = values.mean(axis=1, dtype=np.float64)
    low, high = np.maximum(mean - half, -1.0), np.minimum(mean + half, 1.0)
    return np.minimum(value, low), np.maximum(value, high)


def clip_correction(clips: int | Int[Array, " n"], anchors: int | Int[Array, " n"], level: float) -> Float[Array, " n"]:
    """By what the number of telling anchors shrinks because the variance is known from few clips only."""
    clips, anchors = np.asarray(clips, np.float64), np.asarray(anchors, np.float64)
    shrunk = (1 - 1 / np.maximum(clips, 1)) / np.maximum(1 - 1 / np.maximum(anchors, 1), 0.5)
    return np.where(clips < anchors, shrunk * (normal_quantile(level) / far_out(level, clips)) ** 2, 1.0)


def _telling(values: Float[Array, "M A k"], clip: Int[Array, " A"] | None, level: float) -> Float[Array, "M k"]:
    """How many independent zeros and ones would have the variance between clips that was seen."""
    anchors = values.shape[1]
    total, rest, size, count = _sums(values, clip)
    mean = (total + size) / (anchors + 2 * size)
    squares = ((rest - mean[:, None] * _sizes(values, clip)) ** 2).sum(axis=1)
    squares += size**2 * ((1 - mean) ** 2 + mean**2)
    found = mean * (1 - mean) * (anchors + 2 * size) ** 2 / squares * anchors / (anchors + 2 * size)
    return found if clip is None else found * clip_correction(count, anchors, level)


def _sums(
    values: Float[Array, "M A k"], clip: Int[Array, " A"] | None
) -> tuple[Float[Array, "M k"], Float[Array, "M c k"], float, int]:
    """The sum over all anchors, over those of every clip, the mean number of anchors of a clip, and that of clips."""
    values = values.astype(np.float64)
    rest = values if clip is None else by_clip(values, clip)
    return values.sum(axis=1), rest, values.shape[1] / rest.shape[1], rest.shape[1]


def by_clip(values: Float[Array, "M A ..."], clip: Int[Array, " A"]) -> Float[Array, "M c ..."]:
    """The sum over the anchors of every clip."""
    order = np.argsort(clip, kind="stable")
    starts = np.searchsorted(clip[order], np.unique(clip))
    return np.add.reduceat(values[:, order], starts, axis=1)


def _sizes(values: Float[Array, "M A k"], clip: Int[Array, " A"] | None) -> Float[Array, "c 1"]:
    sizes = np.ones(values.shape[1]) if clip is None else np.unique(clip, return_counts=True)[1].astype(np.float64)
    return sizes[:, None]


def far_out(level: float, clips: int | Float[Array, " n"] | None = None) -> Any:
    """How many standard errors the ends of an interval are away: those of Student's distribution for a variance that is
    known from a few clips, infinitely many from a single one, and those of the normal distribution without clips."""
    if clips is None:
        return normal_quantile(level)
    from scipy.special import stdtrit

    free = np.asarray(clips, np.float64) - 1
    return np.where(free > 0, stdtrit(np.maximum(free, 1), (1 + level) / 2), np.inf)[()]
