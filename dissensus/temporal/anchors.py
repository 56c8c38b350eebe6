"""Anchor frames with their neighbours, and which predictions for them are right.

A row is one frame of one anchor: the anchor itself at offset 0, and its neighbours at the offsets −k … k. The rows of
an anchor are consecutive and in order of time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TemporalError, some
from dissensus.temporal.clips import clip_numbers

UNKNOWN = -1
"""A prediction that there is not: it is wrong."""


@dataclass(frozen=True)
class Anchors:
    """Anchors and their frames; rows start[a] … start[a + 1] belong to anchor a.

    `is_similar` says which frames reviewers accepted; an anchor whose own frame is not accepted counts only without
    review. The labels of row f are label[label_start[f] : label_start[f + 1]]; a row without any has its anchor's.
    """

    names: Sequence[str]
    start: Int[Array, " A+1"]
    frames: Sequence[str]
    offset: Int[Array, " F"]
    is_similar: Bool[Array, " F"]
    label_start: Int[Array, " F+1"]
    label: Int[Array, " L"]
    rate: Float[Array, " A"] | None = None
    """Frames per second; 0 if unknown."""
    distance: Float[Array, " F"] | None = field(default=None, repr=False)
    """ℓ∞ distance of each frame from its anchor, 0 to 255; negative if unknown."""
    clip: Int[Array, " A"] | None = None
    """The clip of each anchor as a number, if some share one; None: every anchor has its own."""

    def __post_init__(self) -> None:
        anchors, rows = len(self.names), len(self.offset)
        if not anchors:
            raise TemporalError("there are no anchors: give at least one frame with a label")
        sizes = np.diff(self.start)
        if len(self.start) != anchors + 1 or self.start[0] != 0 or self.start[-1] != rows or (sizes < 1).any():
            raise TemporalError("the rows of the anchors do not add up: `start` has one entry per anchor and one more")
        if len(self.frames) != rows or len(self.is_similar) != rows or len(self.label_start) != rows + 1:
            raise TemporalError("frames, offsets, reviews and labels differ in length: give one of each per row")
        zeros = np.add.reduceat(self.offset == 0, self.start[:-1])
        if (zeros != 1).any():
            wrong = [self.names[place] for place in np.flatnonzero(zeros != 1).tolist()]
            raise TemporalError(f"an anchor needs itself at offset 0 exactly once: {some(wrong)}")
        inside = np.delete(np.diff(self.offset), self.start[1:-1] - 1)
        if (inside <= 0).any():
            raise TemporalError("the frames of an anchor are not in order of time, or one of them occurs twice")
        if self.clip is not None and len(self.clip) != anchors:
            raise TemporalError(f"there are {len(self.clip):,} clips for {anchors:,} anchors: give one of each")
        empty = np.diff(self.label_start)[self.home] == 0
        if empty.any():
            raise TemporalError(
                f"anchors without a label: {some([self.names[place] for place in np.flatnonzero(empty).tolist()])}; "
                "label them or leave them out"
            )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def anchor(self) -> Int[Array, " F"]:
        """The anchor of every row."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    @cached_property
    def home(self) -> Int[Array, " A"]:
        """The row of every anchor's own frame."""
        return np.flatnonzero(self.offset == 0)

    @cached_property
    def away(self) -> Int[Array, " F"]:
        """How many frames every row is away from its anchor."""
        return np.abs(self.offset)

    @cached_property
    def reach(self) -> int:
        """The largest distance from an anchor."""
        return int(self.away.max())

    @cached_property
    def is_accepted(self) -> Bool[Array, " A"]:
        """Which anchors reviewers accepted."""
        return self.is_similar[self.home]

    @property
    def is_reviewed(self) -> bool:
        """Whether review has left out any frame."""
        return not bool(self.is_similar.all())

    @cached_property
    def labels_of_rows(self) -> tuple[Int[Array, " F+1"], Int[Array, " L"]]:
        """Labels as they count: a row's own, or else its anchor's."""
        count = np.diff(self.label_start)
        source = np.where(count > 0, np.arange(len(count)), self.home[self.anchor])
        start, places = gathered(self.label_start, source)
        return start, self.label[places]

    def reviewed(self) -> tuple[Anchors, Int[Array, " f"]]:
        """The accepted anchors with their similar frames, and which rows these are.

        Raises:
            TemporalError: no anchor was accepted.
        """
        return self.kept(self.is_similar & self.is_accepted[self.anchor])

    def kept(self, is_kept: Bool[Array, " F"]) -> tuple[Anchors, Int[Array, " f"]]:
        """Some of the rows; anchors whose own row is not kept leave with all of their rows.

        Raises:
            TemporalError: no anchor is left.
        """
        alive = is_kept[self.home]
        if not alive.any():
            raise TemporalError("no anchor is left after review: nothing can be measured")
        rows = np.flatnonzero(is_kept & alive[self.anchor])
        start, label = self.labels_of_rows
        ends, places = gathered(start, rows)
        counts = np.bincount(self.anchor[rows], minlength=len(self))[alive]
        left = Anchors(
            [self.names[place] for place in np.flatnonzero(alive).tolist()],
            np.concatenate([[0], np.cumsum(counts)]),
            [self.frames[row] for row in rows.tolist()],
            self.offset[rows],
            self.is_similar[rows],
            ends,
            label[places],
            None if self.rate is None else self.rate[alive],
            None if self.distance is None else self.distance[rows],
            None if self.clip is None else clip_numbers(self.clip[alive].tolist()),
        )
        return left, rows


def gathered(start: Int[Array, " F+1"], rows: Int[Array, " f"]) -> tuple[Int[Array, " f+1"], Int[Array, " l"]]:
    """The entries of some rows, one row after the other: where each row starts among them, and their places."""
    sizes = np.diff(start)[rows]
    ends = np.concatenate([[0], np.cumsum(sizes)])
    return ends, np.repeat(start[rows] - ends[:-1], sizes) + np.arange(ends[-1])


def right_frames(predicted: Int[Array, "M F"], anchors: Anchors) -> Bool[Array, "M F"]:
    """Whether each model predicts any of the labels of each row; `UNKNOWN` is wrong.

    Raises:
        TemporalError: the predictions are not for these rows.
    """
    if predicted.ndim != 2 or predicted.shape[1] != len(anchors.offset):
        raise TemporalError(
            f"predictions have the shape {predicted.shape}: expected one row per model and {len(anchors.offset):,} "
            "columns, one per frame of an anchor"
        )
    start, label = anchors.labels_of_rows
    row = np.repeat(np.arange(len(anchors.offset)), np.diff(start))
    hits = predicted[:, row] == label
    return np.logical_or.reduceat(hits, start[:-1], axis=1) & (predicted != UNKNOWN)
