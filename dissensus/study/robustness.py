"""Robustness along video, from predictions or boxes in memory or in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dissensus.records import DetectionResult, VideoResult


def video_robustness(
    predictions: Mapping[str, Any],
    anchors: Any,
    labels: Any,
    *,
    frames: Sequence[str] | None = None,
    similar: Any = None,
    k: int | None = None,
    is_anchor_included: bool = True,
    rates: Mapping[str, float] | None = None,
    distances: Mapping[tuple[str, str], float] | None = None,
    clips: Mapping[str, str] | None = None,
    classes: Mapping[Any, str] | Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 2_000,
    seed: int = 0,
) -> VideoResult:
    """How much accuracy classifiers lose if the camera moves a little: on the worst frame near each anchor (pm-k).

    Args:
        predictions: For every model, a dict from frames to labels, a path to one as JSON, or labels in the order of
            `frames`. Frames without a prediction count as wrong.
        anchors: For every anchor frame its neighbours: names whose last numbers are frame numbers, or a dict of their
            offsets; or a path to such a dict as JSON.
        labels: One label or several for every frame; a prediction is right if it is any of them. Frames without one
            have their anchor's.
        frames: The order of predictions that are not dicts.
        similar: For every accepted anchor, the frames that reviewers found similar and rightly labelled; None: all.
        k: How far from an anchor to look; None: as far as there are frames.
        is_anchor_included: Whether the anchor itself is among the frames that the worst one is chosen from.
        rates: Frames per second, by anchor.
        distances: ℓ∞ distances by (anchor, frame).
        clips: The clip of every anchor, since anchors of one clip are not independent; None: its folder, unless all
            anchors are in the same folder.
        classes: Names of the classes, by label.
        level: Confidence level of all intervals.
        resamples: Bootstrap samples for differences between models that hold for all pairs together.
        seed: Of the bootstrap.

    Raises:
        TemporalError: something is missing or does not fit together.

    Example:
        >>> found = video_robustness({"net": {"f1": "cat", "f2": "dog"}}, {"f1": ["f2"]}, {"f1": "cat"})
        >>> found.models[0].drop
        1.0
    """
    from dissensus.shift.video.memory import anchors_of, predicted_rows
    from dissensus.temporal.clips import folder_note
    from dissensus.temporal.findings import Settings, result_of

    made, names = anchors_of(anchors, labels, similar, rates, distances, clips)
    models, predicted, names, notes = predicted_rows(predictions, made, names, frames)
    if classes is not None:
        called = {str(key): str(name) for key, name in _items(classes)}
        names = [called.get(name, name) for name in names]
    if clips is None:
        notes += folder_note([name for name in made.names if "/" in name])
    settings = Settings(k, is_anchor_included, level, resamples, seed)
    return result_of(models, made, predicted, names, settings, notes=notes)


def detection_robustness(
    truth: Any,
    detections: Mapping[str, Any],
    anchors: Any = None,
    k: int = 10,
    *,
    level: float = 0.95,
    resamples: int = 500,
    seed: int = 0,
) -> DetectionResult:
    """How much mean average precision detectors lose on the frame near each anchor where they do worst.

    Args:
        truth: A path to a COCO file, or its contents.
        detections: For every detector, a path to its boxes in COCO's result format, or the list of them.
        anchors: File names or ids of the anchors; a dict from each to {frame: offset}; or None: the middle of every
            2k + 1 images in each folder.
        k: How many images before and after an anchor count, in the order of file names within a folder.
        level: Confidence level of all intervals.
        resamples: Bootstrap samples of the anchors; of the folders if several anchors are in one of them.
        seed: Of the bootstrap.

    Raises:
        TemporalError: the boxes cannot be read, or no anchor has a box to find.
    """
    from dissensus.shift.video.coco import detections_of, frame_sets, images_of
    from dissensus.temporal.detecting import detection_result_of

    images = images_of(truth)
    found, notes = {}, list[str]()
    for name, source in detections.items():
        found[name], more = detections_of(source, images, name)
        notes += more
    sets = frame_sets(images, anchors, k)
    inputs = {name: str(source) for name, source in detections.items() if isinstance(source, str | Path)}
    return detection_result_of(
        images.truth, found, sets, images.names, images.categories, k, level, resamples, seed, inputs, notes
    )


def write_video_page(
    result: VideoResult | None,
    path: str | Path | None = None,
    figures: str | Path | None = None,
    detection: DetectionResult | None = None,
    thumbnails: Mapping[str, str] | None = None,
) -> Path | None:
    """Write the page about robustness along video, and every figure (SVG, PDF, CSV) and table (CSV) to a folder.

    Args:
        result: Classifiers, or None.
        path: Where to write the page.
        figures: The folder for the figures.
        detection: Detectors, or None.
        thumbnails: Small pictures of frames as data URIs, by frame, for the strips.

    Raises:
        TemporalError: there is neither a result of classifiers nor one of detectors.
    """
    from dissensus.errors import TemporalError
    from dissensus.report.video.page import video_page
    from dissensus.steps.writing import write_page

    if result is None and detection is None:
        raise TemporalError("there is nothing to show: give the result of classifiers, of detectors, or both")
    return write_page(video_page(result, detection, thumbnails), path, figures)


def _items(classes: Mapping[Any, str] | Sequence[str]) -> Any:
    return classes.items() if isinstance(classes, Mapping) else enumerate(classes)
