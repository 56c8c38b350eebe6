"""Robustness along video, part by part: accuracies on anchors and on the worst of their neighbours.

All accuracies, drops and shares are fractions. A drop is the accuracy on anchors minus that on the worst frames, so
that a positive drop is a loss.
"""

from __future__ import annotations

from dissensus.records.base import Record

EVERY_MODEL = ""
"""Name in place of a model's in rows that are about all models together."""


class Drop(Record):
    """A model on some anchors and on the worst frames near them: accuracy, or average precision, with intervals."""

    model: str
    anchors: int
    original: float
    original_low: float
    original_high: float
    perturbed: float
    perturbed_low: float
    perturbed_high: float
    drop: float
    drop_low: float
    drop_high: float


class ModelVideo(Drop):
    """One model on the anchors and on the worst frames within the largest k."""

    static: float
    """Accuracy on the worst frames of all models together: for each anchor, the neighbour that most models miss."""
    static_low: float
    static_high: float
    static_drop: float
    changes: float | None
    """How often the predicted label changes along an anchor's frames, on average; None if only errors are known."""


class KPoint(Record):
    """A model's accuracy on the worst frames within k of the anchors, and its drop."""

    model: str
    k: int
    accuracy: float
    low: float
    high: float
    drop: float
    drop_low: float
    drop_high: float


class Conditional(Record):
    """How often a model that is right on the anchor is right exactly k frames before or after it, too."""

    model: str
    k: int
    value: float
    low: float
    high: float
    anchors: int
    """Anchors that the model gets right and that have a similar frame at this distance."""
    frames: int


class OffsetErrors(Record):
    """How often frames at one offset are wrong, with review and without; shares are None without a frame."""

    model: str
    """`EVERY_MODEL` if all models are counted together."""
    offset: int
    reviewed: float | None
    reviewed_frames: int
    everything: float | None
    all_frames: int


class ReviewEffect(Record):
    """A model's accuracies on all anchors with all of their neighbours, as if nobody had reviewed them."""

    model: str
    anchors: int
    original: float
    perturbed: float
    drop: float
    reviewed_drop: float


class WorstFrame(Record):
    """The neighbour of an anchor that most models get wrong."""

    anchor: str
    frame: str
    offset: int
    wrong: int
    """How many models get it wrong."""


class DistancePoint(Record):
    """The share of pairs (anchor, neighbour) of one group whose pixels differ by at most this distance (ℓ∞)."""

    group: str
    distance: float
    share: float
    pairs: int


class GroupDrop(Drop):
    """A model on the anchors of one class, or of one frame rate."""

    group: str


class StripRow(Record):
    """One model along the frames of an anchor: its label for each, and whether it is right."""

    model: str
    labels: tuple[str, ...]
    is_right: tuple[bool, ...]
    changes: int


class Strip(Record):
    """An anchor's frames in order of time, with what every model says about each."""

    anchor: str
    frames: tuple[str, ...]
    offsets: tuple[int, ...]
    is_similar: tuple[bool, ...]
    truth: tuple[str, ...]
    """Names of the anchor's labels."""
    rows: tuple[StripRow, ...]


class ModelDetection(Drop):
    """A detector on the anchors and on its worst frames: mean average precision, and the same without categories.

    Only anchors with an annotated box in one of their frames count.
    """

    original_50: float
    """At an overlap (IoU) of one half."""
    perturbed_50: float
    located: float
    """Localisation only: all categories count as one."""
    located_perturbed: float
    located_drop: float
    located_drop_low: float
    located_drop_high: float


class CategoryPrecision(Record):
    """A detector's average precision in one category on anchors and worst frames; None where it has no boxes."""

    model: str
    category: str
    original: float | None
    perturbed: float | None
    boxes: int
    """Annotated boxes on the anchors that count."""


class WorstDetection(Record):
    """The frame of an anchor on which a detector has the least average precision."""

    model: str
    anchor: str
    frame: str
    offset: int
    original: float | None
    """Average precision on the anchor; None if it has no box that counts."""
    perturbed: float
