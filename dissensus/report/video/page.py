"""The page about robustness along video: what is lost if the camera moves a little?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dissensus.plots import Plot
from dissensus.records import DetectionResult, Strip, VideoResult
from dissensus.report.opening import opening
from dissensus.report.page import Page, Section
from dissensus.report.video.figures import (
    class_plot,
    conditional_plot,
    detection_drop_plot,
    detection_plot,
    distance_plot,
    drop_plot,
    offset_plot,
    rate_plot,
    strip_plot,
)

MOST_MODELS = 100
MOST_ROWS = 60
TITLE = "What is lost if the camera moves a little?"
Thumbnails = Mapping[str, str]
"""Data URIs of frames, by their names."""


def video_page(
    result: VideoResult | None,
    detection: DetectionResult | None = None,
    thumbnails: Thumbnails | None = None,
    title: str = TITLE,
    notes: Sequence[str] = (),
) -> Page:
    """The opening and the sections of the page about classifiers, detectors or both; at least one is needed."""
    told: VideoResult | DetectionResult
    plots: tuple[Plot, ...]
    sections: tuple[Section, ...] = ()
    if result is None:
        assert detection is not None
        told, plots = detection, (detection_plot(detection),)
    else:
        told, plots = result, _some(drop_plot(result), result.plot())
        sections = (
            *strips_section(result, thumbnails or {}),
            models_section(result),
            *single_section(result),
            *groups_section(result),
            *pairs_section(result),
        )
    if detection is not None:
        sections = (*sections, detection_section(detection, has_plots=result is not None))
    noun = "model" if result is not None else "detector"
    return Page(
        opening(title, "video/opening.html", told.words, notes, plots, told=told, noun=noun),
        (*sections, settings_section(result, detection)),
        styles=("shift/shift.css", "video/video.css"),
        scripts=("shift/sorting.js",),
        start=sections[0].id,
    )


def strips_section(result: VideoResult, thumbnails: Thumbnails) -> tuple[Section, ...]:
    """Frames along which the labels of models change."""
    if not result.strips:
        return ()
    plots = tuple(strip_plot(one, number) for number, one in enumerate(result.strips, start=1))
    shown = [_shown(one, thumbnails) for one in result.strips]
    view = {"result": result, "strips": shown}
    return (Section("strips", "Frames", "Frame by frame", "video/strips.html", view, plots=plots),)


def _shown(strip: Strip, thumbnails: Thumbnails) -> dict[str, Any]:
    """A strip with its pictures, and with the runs of equal labels of every model."""
    rows = []
    for row in strip.rows:
        runs: list[dict[str, Any]] = []
        for place, (label, is_right) in enumerate(zip(row.labels, row.is_right, strict=True)):
            if runs and (runs[-1]["label"], runs[-1]["is_right"]) == (label, is_right):
                runs[-1]["length"] += 1
            else:
                runs.append({"label": label, "is_right": is_right, "length": 1, "from": strip.offsets[place]})
        rows.append({"model": row.model, "changes": row.changes, "runs": runs})
    pictures = [thumbnails.get(frame) for frame in strip.frames]
    return {"strip": strip, "rows": rows, "pictures": pictures if any(pictures) else []}


def models_section(result: VideoResult) -> Section:
    """Accuracies and drops of every model."""
    view = {"result": result, "rows": result.models[:MOST_MODELS]}
    return Section("models", "Models", "Model by model", "video/models.html", view)


def single_section(result: VideoResult) -> tuple[Section, ...]:
    """Which frames go wrong: exactly k away, at each offset, and how far their pixels are."""
    plots = _some(conditional_plot(result), offset_plot(result), distance_plot(result))
    if not plots:
        return ()
    view = {"result": result, "rows": result.review[:MOST_ROWS]}
    return (Section("frames", "Which frames", "Which frames go wrong", "video/frames.html", view, plots=plots),)


def groups_section(result: VideoResult) -> tuple[Section, ...]:
    """Drops by class and by frame rate."""
    plots = _some(class_plot(result), rate_plot(result))
    if not plots:
        return ()
    return (Section("classes", "Classes", "Is it a few hard classes?", "video/classes.html", {}, plots=plots),)


def pairs_section(result: VideoResult) -> tuple[Section, ...]:
    """Which models lose more than others."""
    if not result.pairs:
        return ()
    rows = sorted(result.pairs, key=lambda one: (one.low_at_once <= 0 <= one.high_at_once, -abs(one.value)))
    decided = sum(not one.low_at_once <= 0 <= one.high_at_once for one in rows)
    view = {"result": result, "rows": rows[:MOST_ROWS], "decided": decided}
    return (Section("pairs", "Pairs", "Who loses more than whom", "video/pairs.html", view),)


def detection_section(result: DetectionResult, has_plots: bool) -> Section:
    """mAP of detectors on anchors and worst frames, with categories and without."""
    plots = (detection_plot(result), detection_drop_plot(result)) if has_plots else (detection_drop_plot(result),)
    view = {"detection": result, "rows": result.models[:MOST_MODELS], "has_words": has_plots}
    return Section("detection", "Detection", "Detectors", "video/detection.html", view, plots=plots)


def settings_section(result: VideoResult | None, detection: DetectionResult | None) -> Section:
    """Everything the numbers depend on."""
    computed: dict[str, str] = {}
    if result is not None:
        computed |= {
            "frames": f"within {result.k} of the anchor, "
            + ("the anchor among them" if result.is_anchor_included else "without the anchor itself"),
            "anchors": f"{result.models[0].anchors:,} accepted",
            "intervals": f"{100 * result.level:g} %; Clopper–Pearson for accuracies and drops"
            + ("" if result.is_anchor_included else ", Agresti–Min for drops"),
            "differences": f"Agresti–Min; for all pairs together, {result.resamples:,} resamples, seed {result.seed}",
            "made with": result.provenance.package,
        }
    if detection is not None:
        computed |= {
            "detectors": f"COCO’s ten overlaps and 101 recalls; frames within {detection.k} of the anchor",
            "mAP": f"{100 * detection.level:g} % intervals, {detection.resamples:,} resamples, seed {detection.seed}",
        }
    notes = [*(result.notes if result else ()), *(detection.notes if detection else ())]
    return Section("settings", "Settings", "Settings and provenance", "video/settings.html",
                   {"computed": computed, "notes": notes})  # fmt: skip


def _some(*plots: Plot | None) -> tuple[Plot, ...]:
    return tuple(plot for plot in plots if plot is not None)
