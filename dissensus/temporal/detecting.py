"""Detectors along video: the frame near each anchor where a detector does worst, and mAP there and on the anchors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TemporalError
from dissensus.proportions import LEVEL
from dissensus.records import CategoryPrecision, DetectionResult, ModelDetection, Provenance, WorstDetection
from dissensus.temporal.accuracy import percentiles, resampled
from dissensus.temporal.boxes import Detections, Truth
from dissensus.temporal.precision import (
    UNDEFINED,
    Matched,
    average_precision,
    image_precision,
    matched,
    mean_precision,
)
from dissensus.temporal.words import detection_answer
from dissensus.version import __version__

RESAMPLES = 500


@dataclass(frozen=True)
class FrameSets:
    """Anchors among images: rows start[a] … start[a + 1] are the frames of anchor a, itself at offset 0."""

    names: Sequence[str]
    start: Int[Array, " A+1"]
    image: Int[Array, " F"]
    offset: Int[Array, " F"]

    @property
    def home(self) -> Int[Array, " A"]:
        """The row of every anchor's own frame."""
        return np.flatnonzero(self.offset == 0)


@dataclass(frozen=True)
class Measured:
    """One detector: the worst row of every anchor, and its precision on anchors and worst frames."""

    worst: Int[Array, " A"]
    each: Float[Array, " N"]
    is_known: Bool[Array, " N"]
    original: Float[Array, "B C T"]
    """Of the anchors as they are, then of every resample of them."""
    perturbed: Float[Array, "B C T"]

    def means(self, level: float) -> tuple[tuple[float, float, float], ...]:
        """mAP on the anchors, on the worst frames, and the drop, each with its ends."""
        first, second = mean_precision(self.original), mean_precision(self.perturbed)
        is_known = (first != UNDEFINED) & (second != UNDEFINED)
        return tuple(_ends(one, is_known, level) for one in (first, second, first - second))


def worst_rows(each: Float[Array, " N"], is_known: Bool[Array, " N"], sets: FrameSets) -> Int[Array, " A"]:
    """For each anchor, its frame of least average precision: of several the nearest, then the earlier.

    A frame without a box to find has no average precision and is never the worst, unless the anchor has no other.
    """
    anchor = np.repeat(np.arange(len(sets.names)), np.diff(sets.start))
    value = np.where(is_known[sets.image], each[sets.image], np.inf)
    order = np.lexsort((sets.offset, np.abs(sets.offset), value, anchor))
    worst = order[sets.start[:-1]]
    return np.where(is_known[sets.image[worst]], worst, sets.home)


def measured(truth: Truth, found: Detections, sets: FrameSets, weights: Float[Array, "B A"]) -> Measured:
    """One detector on the anchors and on its worst frames, for every set of weights of the anchors."""
    matches = matched(truth, found)
    each, is_known = image_precision(matches)
    worst = worst_rows(each, is_known, sets)
    original, perturbed = (
        average_precision(*_chosen(matches, sets.image[rows], weights)) for rows in (sets.home, worst)
    )
    return Measured(worst, each, is_known, original, perturbed)


def detection_result_of(
    truth: Truth,
    detectors: Mapping[str, Detections],
    sets: FrameSets,
    images: Sequence[str],
    categories: Sequence[str],
    k: int,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    inputs: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
) -> DetectionResult:
    """Detectors along video, as a whole.

    Raises:
        TemporalError: there is no detector, or no box to find near any anchor.
    """
    if not detectors:
        raise TemporalError("there are no detectors: give the boxes of at least one")
    has_box = np.bincount(truth.image[truth.counts], minlength=truth.images) > 0
    if not has_box[sets.image[sets.home]].any():
        raise TemporalError("no anchor has an annotated box that counts, so mAP is undefined")
    count = int(np.logical_or.reduceat(has_box[sets.image], sets.start[:-1]).sum())
    weights = np.concatenate([np.ones((1, len(sets.names)), np.float32), resampled(len(sets.names), resamples, seed)])
    models, precisions, worst = [], list[CategoryPrecision](), list[WorstDetection]()
    for name, found in detectors.items():
        whole = measured(truth, found, sets, weights)
        boxes = measured(truth.merged(), found.merged(), sets, weights)
        models.append(_model(name, whole, boxes, count, level))
        precisions += _categories(name, whole, truth, sets, categories)
        worst += _worst(name, whole, sets, images)
    models.sort(key=lambda one: (-one.original, one.model))
    left_out = len(sets.names) - count
    more = [f"{left_out:,} anchors have no annotated box in any of their frames."] if left_out else []
    return DetectionResult(
        words=detection_answer(models, k),
        models=tuple(models),
        k=k,
        anchors=len(sets.names),
        categories=tuple(precisions),
        worst=tuple(worst),
        notes=(*notes, *more),
        level=level,
        resamples=resamples,
        seed=seed,
        provenance=Provenance(
            method="detection pm-k",
            parameters={"k": k, "level": level, "resamples": resamples},
            inputs=dict(inputs or {}),
            seed=seed,
            package=f"dissensus {__version__}",
        ),
    )


def _chosen(
    found: Matched, image: Int[Array, " A"], weights: Float[Array, "B A"]
) -> tuple[Matched, Float[Array, "B n"]]:
    """Only the images that are chosen, and how often each counts: as often as the anchors that chose it."""
    kept, place = np.unique(image, return_inverse=True)
    number = np.full(found.images, -1)
    number[kept] = np.arange(len(kept))
    rows = number[found.image] >= 0
    spread = np.zeros((len(image), len(kept)), np.float32)
    spread[np.arange(len(image)), place] = 1
    some = replace(
        found, images=len(kept), image=number[found.image[rows]], category=found.category[rows],
        score=found.score[rows], state=found.state[:, rows], wanted=found.wanted[:, kept],
    )  # fmt: skip
    return some, weights @ spread


def _ends(values: Float[Array, " B"], is_known: Bool[Array, " B"], level: float) -> tuple[float, float, float]:
    """The first value, which is the estimate, with percentiles of the others that are known."""
    value, drawn = float(values[0]), values[1:][is_known[1:]]
    if not len(drawn):
        return value, value, value
    low, high = percentiles(drawn[:, None], values[:1], level)
    return value, float(low[0]), float(high[0])


def _model(name: str, whole: Measured, boxes: Measured, count: int, level: float) -> ModelDetection:
    original, perturbed, drop = whole.means(level)
    located, located_perturbed, located_drop = boxes.means(level)
    half = [float(mean_precision(one[:1, :, :1])[0]) for one in (whole.original, whole.perturbed)]
    return ModelDetection(
        model=name, anchors=count, original=original[0], original_low=original[1], original_high=original[2],
        perturbed=perturbed[0], perturbed_low=perturbed[1], perturbed_high=perturbed[2],
        drop=drop[0], drop_low=drop[1], drop_high=drop[2], original_50=half[0], perturbed_50=half[1],
        located=located[0], located_perturbed=located_perturbed[0], located_drop=located_drop[0],
        located_drop_low=located_drop[1], located_drop_high=located_drop[2],
    )  # fmt: skip


def _categories(
    name: str, whole: Measured, truth: Truth, sets: FrameSets, categories: Sequence[str]
) -> list[CategoryPrecision]:
    on_anchors = np.isin(truth.image, sets.image[sets.home]) & truth.counts
    boxes = np.bincount(truth.category[on_anchors], minlength=truth.categories)
    both = [one[0].mean(axis=1) for one in (whole.original, whole.perturbed)]
    return [
        CategoryPrecision(
            model=name,
            category=categories[place],
            original=None if whole.original[0, place, 0] == UNDEFINED else float(both[0][place]),
            perturbed=None if whole.perturbed[0, place, 0] == UNDEFINED else float(both[1][place]),
            boxes=int(boxes[place]),
        )
        for place in range(truth.categories)
        if whole.original[0, place, 0] != UNDEFINED or whole.perturbed[0, place, 0] != UNDEFINED
    ]


def _worst(name: str, whole: Measured, sets: FrameSets, images: Sequence[str]) -> list[WorstDetection]:
    home = sets.home
    return [
        WorstDetection(
            model=name,
            anchor=anchor,
            frame=images[int(sets.image[row])],
            offset=int(sets.offset[row]),
            original=float(whole.each[sets.image[own]]) if whole.is_known[sets.image[own]] else None,
            perturbed=float(whole.each[sets.image[row]]),
        )
        for anchor, row, own in zip(sets.names, whole.worst, home, strict=True)
        if whole.is_known[sets.image[row]]
    ]
