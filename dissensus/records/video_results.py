"""Robustness along video: the whole result of classifiers and of detectors, as words, frames and a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from dissensus.frames import frame_named, frame_of
from dissensus.records.base import Provenance, Record
from dissensus.records.display import aligned, paragraphs, table
from dissensus.records.shift import DropDifference, percent
from dissensus.records.video import (
    CategoryPrecision,
    Conditional,
    DistancePoint,
    GroupDrop,
    KPoint,
    ModelDetection,
    ModelVideo,
    OffsetErrors,
    ReviewEffect,
    Strip,
    WorstDetection,
    WorstFrame,
)

if TYPE_CHECKING:
    from dissensus.plots import Plot

VideoFrame = Literal[
    "models", "points", "pairs", "conditional", "offsets", "review", "worst", "distances", "classes", "rates", "strips"
]
DetectionFrame = Literal["models", "categories", "worst"]
VIDEO_HEADS = ("model", "anchors, %", "worst frames, %", "drop", "same frames for all, %", "label changes")
"""Columns of `VideoResult.rows`."""
DETECTION_HEADS = ("model", "mAP on anchors, %", "on worst frames, %", "drop", "AP50", "localisation drop")
"""Columns of `DetectionResult.rows`."""


class VideoResult(Record):
    """Classifiers along video, with the main answer in words first."""

    words: tuple[str, ...]
    models: tuple[ModelVideo, ...]
    """Best on the anchors first."""
    k: int
    """The largest distance from an anchor that counts."""
    is_anchor_included: bool
    """Whether the anchor is among the frames that the worst one is chosen from."""
    mean: tuple[KPoint, ...]
    """Means over all models, for every k."""
    points: tuple[KPoint, ...]
    """Every model at every k."""
    pairs: tuple[DropDifference, ...] = ()
    """By how much one model drops more than another; empty if there are too many pairs."""
    conditional: tuple[Conditional, ...] = ()
    offsets: tuple[OffsetErrors, ...] = ()
    review: tuple[ReviewEffect, ...] = ()
    """Empty unless review left something out."""
    worst: tuple[WorstFrame, ...] = ()
    distances: tuple[DistancePoint, ...] = ()
    classes: tuple[GroupDrop, ...] = ()
    rates: tuple[GroupDrop, ...] = ()
    strips: tuple[Strip, ...] = ()
    """The anchors along which labels change most."""
    notes: tuple[str, ...] = ()
    level: float
    resamples: int
    seed: int
    provenance: Provenance

    def to_frame(self, what: VideoFrame = "models") -> Any:
        """A tidy frame: one of models, points, pairs, conditional, offsets, review, worst, distances, classes, …

        Raises:
            ValueError: the frame is unknown.
        """
        if what == "strips":
            return frame_of(self._strip_columns())
        return frame_named(
            what,
            {
                "models": (ModelVideo, self.models),
                "points": (KPoint, self.points),
                "pairs": (DropDifference, self.pairs),
                "conditional": (Conditional, self.conditional),
                "offsets": (OffsetErrors, self.offsets),
                "review": (ReviewEffect, self.review),
                "worst": (WorstFrame, self.worst),
                "distances": (DistancePoint, self.distances),
                "classes": (GroupDrop, self.classes),
                "rates": (GroupDrop, self.rates),
            },
            "strips",
        )

    def _strip_columns(self) -> dict[str, list[Any]]:
        """One row for every model and frame of the strips."""
        cells = [(strip, row, n) for strip in self.strips for row in strip.rows for n in range(len(strip.frames))]
        return {
            "anchor": [strip.anchor for strip, _, _ in cells],
            "frame": [strip.frames[n] for strip, _, n in cells],
            "offset": [strip.offsets[n] for strip, _, n in cells],
            "is_similar": [strip.is_similar[n] for strip, _, n in cells],
            "model": [row.model for _, row, _ in cells],
            "label": [row.labels[n] for _, row, n in cells],
            "is_right": [row.is_right[n] for _, row, n in cells],
        }

    def plot(self) -> Plot:
        """Accuracy on the worst frames against accuracy on the anchors, with y = x."""
        from dissensus.plots.paired import Pair, paired

        names = {one.model for one in self.models[:6]} if len(self.models) > 10 else {one.model for one in self.models}
        pairs = [
            Pair(
                one.model,
                one.original,
                one.perturbed,
                (one.original_low, one.original_high),
                (one.perturbed_low, one.perturbed_high),
                f"Drop {percent(one.drop, one.drop_low, one.drop_high)}",
                one.model in names,
            )
            for one in self.models
        ]
        labels = ("Accuracy on anchors, %", f"Accuracy on the worst frame within {self.k}, %")
        caption = f"Each mark is a model. Bars: {100 * self.level:g} % intervals. Below the dashed line: a loss."
        return paired(
            "video-accuracies", "Anchors against their worst frames", pairs, labels, caption=caption,
            keys=("no drop (y = x)", "", ""),
        )  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """For every model: accuracies and drop in per cent with intervals, and how often its label changes."""
        return [
            (
                one.model,
                percent(one.original, one.original_low, one.original_high),
                percent(one.perturbed, one.perturbed_low, one.perturbed_high),
                percent(one.drop, one.drop_low, one.drop_high),
                percent(one.static, one.static_low, one.static_high),
                "–" if one.changes is None else f"{one.changes:.2f}",
            )
            for one in self.models
        ]

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(VIDEO_HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + self.plot()._repr_html_() + table(VIDEO_HEADS, self.rows())


class DetectionResult(Record):
    """Detectors along video, with the main answer in words first."""

    words: tuple[str, ...]
    models: tuple[ModelDetection, ...]
    """Best on the anchors first."""
    k: int
    anchors: int
    categories: tuple[CategoryPrecision, ...] = ()
    worst: tuple[WorstDetection, ...] = ()
    notes: tuple[str, ...] = ()
    level: float
    resamples: int
    seed: int
    provenance: Provenance

    def to_frame(self, what: DetectionFrame = "models") -> Any:
        """A tidy frame: models, categories or worst.

        Raises:
            ValueError: the frame is unknown.
        """
        return frame_named(
            what,
            {
                "models": (ModelDetection, self.models),
                "categories": (CategoryPrecision, self.categories),
                "worst": (WorstDetection, self.worst),
            },
        )

    def rows(self) -> list[tuple[str, ...]]:
        """For every detector: mAP on anchors and worst frames with intervals, and the drop without categories."""
        return [
            (
                one.model,
                percent(one.original, one.original_low, one.original_high),
                percent(one.perturbed, one.perturbed_low, one.perturbed_high),
                percent(one.drop, one.drop_low, one.drop_high),
                f"{percent(one.original_50)} → {percent(one.perturbed_50)}",
                percent(one.located_drop, one.located_drop_low, one.located_drop_high),
            )
            for one in self.models
        ]

    def __repr__(self) -> str:
        return "\n".join([*self.words, *aligned(DETECTION_HEADS, self.rows())])

    __str__ = __repr__

    def _repr_html_(self) -> str:
        return paragraphs(self.words) + table(DETECTION_HEADS, self.rows())
