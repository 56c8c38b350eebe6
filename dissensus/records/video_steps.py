"""The steps of a study along video: what was collected, and how far the review is."""

from __future__ import annotations

from dissensus.records.base import Record
from dissensus.records.replica import Problem


class VideoCollected(Record):
    """Clips, anchors and frames that can be used, and what cannot."""

    clips: int
    """Clips that have an anchor."""
    anchors: int
    frames: int
    """Frames, each counted once."""
    pairs: int
    """Pairs of an anchor and a neighbour."""
    k: int
    short: int
    """Anchors with fewer than 2k neighbours, near the ends of clips or where frames are missing."""
    classes: int
    """Classes of the labels that anchors have."""
    uncovered: int
    """Classes of the study that belong to none of the labels' classes: predictions of them are never right."""
    farthest: float | None
    """The largest time between an anchor and a neighbour, in seconds; None if times are not known."""
    variable: tuple[str, ...]
    """Clips whose frames are not equally far apart in time."""
    ended: tuple[Problem, ...]
    """Clips that end early, and where."""
    missing: tuple[str, ...]
    """Frames that are not on disk."""
    problems: tuple[Problem, ...]
    """Clips and anchors that are not used, and why."""
    is_reviewed: bool
    """Whether the file of anchors lists only neighbours that reviewers called similar."""


class VideoStatus(Record):
    """How far the review of the pairs is, and which models have predictions."""

    collected: VideoCollected
    answers: int
    """Answers in the first stage, of those that are wanted."""
    wanted: int
    reviewed: int
    """Pairs that are decided."""
    accepted: int
    disputed: int
    """Pairs that somebody called dissimilar, wrong or unsure."""
    joint: int
    """Pairs that wait for the joint review."""
    reasons: dict[str, int]
    """Why pairs are rejected, by how many."""
    agreement: str
    """Krippendorff's alpha of the first stage, or why there is none."""
    kept_anchors: int
    people: tuple[str, ...]
    models: tuple[str, ...]
