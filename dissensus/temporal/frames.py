"""Which frames go wrong: at exactly k, at each offset, for most models at once; and how often labels change."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, wilson
from dissensus.temporal.anchors import Anchors
from dissensus.temporal.clips import by_clip, clip_correction


def conditional_robustness(
    right: Bool[Array, "M F"], anchors: Anchors, level: float = LEVEL
) -> tuple[Float[Array, "M k"], Ends, Int[Array, "M k"], Int[Array, "M k"]]:
    """P(right at exactly k | right at the anchor) for k = 1 … reach, over the frames k before and k after.

    The two frames of an anchor are not independent, so the interval is Wilson's for the number of frames that would
    tell as much if they were: between the number of anchors and the number of frames.

    Returns:
        The shares, their ends, and how many anchors and frames they rest on; where there are none, the share is 0 and
        its interval all of 0 … 1.
    """
    reach, models = anchors.reach, len(right)
    known = right[:, anchors.home][:, anchors.anchor]
    value, low, high = (np.zeros((models, reach)) for _ in range(3))
    bases, frames = (np.zeros((models, reach), np.int64) for _ in range(2))
    for k in range(1, reach + 1):
        rows = np.flatnonzero(anchors.away == k)
        place = anchors.anchor[rows]
        asked = np.zeros((models, len(anchors)), np.int16)
        held = np.zeros_like(asked)
        for sign in (-k, k):  # an anchor has at most one frame at each
            one = anchors.offset[rows] == sign
            asked[:, place[one]] += known[:, rows[one]]
            held[:, place[one]] += known[:, rows[one]] & right[:, rows[one]]
        total, base = asked.sum(axis=1), (asked > 0).sum(axis=1)
        share = held.sum(axis=1) / np.maximum(total, 1)
        telling = _telling(held - share[:, None] * asked, asked > 0, share, total, anchors.clip, level)
        low[:, k - 1], high[:, k - 1] = wilson(share * telling, telling, level)
        value[:, k - 1], bases[:, k - 1], frames[:, k - 1] = share, base, total
    return value, (np.minimum(low, value), np.maximum(high, value)), bases, frames


def _telling(
    rest: Float[Array, "M A"], is_asked: Bool[Array, "M A"], share: Float[Array, " M"], total: Int[Array, " M"],
    clip: Int[Array, " A"] | None, level: float,
) -> Float[Array, " M"]:  # fmt: skip
    """How many independent frames would have the variance that was seen between anchors, or between clips."""
    base = is_asked.sum(axis=1)
    if clip is not None:
        rest, is_asked = by_clip(rest, clip), by_clip(is_asked.astype(np.int64), clip) > 0
    clips = is_asked.sum(axis=1)
    spread = (rest**2).sum(axis=1) / np.maximum(total, 1) ** 2
    alone = share * (1 - share)
    found = np.divide(alone, spread, out=clips.astype(float), where=spread > 0)
    return np.clip(found, np.where(clips < base, 0, base), total) * clip_correction(clips, base, level)


def worst_frames(right: Bool[Array, "M F"], anchors: Anchors) -> tuple[Int[Array, " A"], Int[Array, " A"]]:
    """For each anchor, the neighbour that most models get wrong, and how many do; the same for all models.

    Of several, the nearest to the anchor, then the earlier one. An anchor without neighbours stands for itself.
    """
    wrong = (~right).sum(axis=0)
    reach = anchors.reach
    rank = wrong * (2 * reach + 2) - 2 * anchors.away - (anchors.offset > 0)
    rank = np.where(anchors.offset == 0, np.iinfo(np.int64).min, rank)
    best = np.maximum.reduceat(rank, anchors.start[:-1])
    rows = np.flatnonzero(rank == best[anchors.anchor])
    return rows, wrong[rows]


def errors_by_offset(right: Bool[Array, "M F"], anchors: Anchors) -> tuple[Int[Array, "M o"], Int[Array, " o"]]:
    """How many frames at the offsets −reach … reach each model gets wrong, and how many there are."""
    reach = anchors.reach
    place = anchors.offset + reach
    frames = np.bincount(place, minlength=2 * reach + 1)
    wrong = np.stack([np.bincount(place[~one], minlength=2 * reach + 1) for one in right])
    return wrong, frames


def label_changes(predicted: Int[Array, "M F"], anchors: Anchors) -> Int[Array, "M A"]:
    """How often the predicted label changes from one frame of an anchor to the next."""
    is_new = np.zeros(predicted.shape, bool)
    is_new[:, 1:] = predicted[:, 1:] != predicted[:, :-1]
    is_new[:, anchors.start[:-1]] = False
    return np.add.reduceat(is_new, anchors.start[:-1], axis=1, dtype=np.int64)
