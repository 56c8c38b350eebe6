"""Figures about robustness along video: drops over k, single frames, distances, classes and strips."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from dissensus.plots import Plot, dots, dots_over
from dissensus.plots.bands import MOST_SERIES, banded
from dissensus.plots.cells import cells
from dissensus.records import EVERY_MODEL, DetectionResult, GroupDrop, KPoint, Strip, VideoResult
from dissensus.report.wording import counted

MOST_CLASSES = 40
MOST_FAINT = 60
"""Models behind the named ones in a figure of curves; its table has as many."""
MEAN = "mean of all models"


def telling_models(result: VideoResult) -> list[str]:
    """The models that curves name: all if there are few, else the best, and the one that loses most."""
    if len(result.models) <= MOST_SERIES:
        return [one.model for one in result.models]
    best, most = result.models[0].model, max(result.models, key=lambda one: one.drop).model
    return list(dict.fromkeys((best, most)))


def drop_plot(result: VideoResult) -> Plot | None:
    """How much accuracy is lost on the worst frame within k, for every k."""
    if result.k == 0:
        return None
    steps = list(range(result.k + 1))
    named = telling_models(result)
    own: dict[str, list[KPoint]] = {}
    for point in result.points:
        own.setdefault(point.model, []).append(point)
    shown = {MEAN: list(result.mean)} if len(result.models) > MOST_SERIES else {}
    shown |= {name: own[name] for name in named}
    faint = {name: [100 * one.drop for one in rows] for name, rows in own.items() if name not in shown}
    return banded(
        "drop-over-k",
        "Drop in accuracy over k",
        steps,
        {
            name: (
                [100 * one.drop for one in rows],
                [100 * one.drop_low for one in rows],
                [100 * one.drop_high for one in rows],
            )
            for name, rows in shown.items()
        },
        ("k, frames from the anchor", "Drop in accuracy, points"),
        "Accuracy on the anchors minus accuracy on the worst frame within k of them. "
        f"Shaded: {_level(result)} intervals.",
        dict(list(faint.items())[:MOST_FAINT]),
        limits=(0, None) if all(one.drop_low >= 0 for one in result.points) else None,
    )


def conditional_plot(result: VideoResult) -> Plot | None:
    """How often a model stays right exactly k frames away."""
    if not result.conditional:
        return None
    steps = sorted({one.k for one in result.conditional})
    found = {(one.model, one.k): one for one in result.conditional}
    named = telling_models(result)

    def values(name: str, field: str) -> list[float | None]:
        rows = [found.get((name, k)) for k in steps]
        return [None if one is None else 100 * getattr(one, field) for one in rows]

    others = [one.model for one in result.models if one.model not in named]
    return banded(
        "conditional",
        "Right exactly k frames away",
        steps,
        {name: (values(name, "value"), values(name, "low"), values(name, "high")) for name in named},
        ("k, frames from the anchor", "Still right, %"),
        "Of the anchors that a model gets right, how often it also gets the frames exactly k before and after right. "
        f"Shaded: {_level(result)} intervals.",
        {name: values(name, "value") for name in others[:MOST_FAINT]},
    )


def offset_plot(result: VideoResult) -> Plot | None:
    """How often frames at each offset are wrong, with and without review."""
    rows = [one for one in result.offsets if one.model == EVERY_MODEL]
    if len(rows) < 2:
        return None

    def shares(field: str) -> list[float | None]:
        return [None if getattr(one, field) is None else 100 * getattr(one, field) for one in rows]

    both = {"reviewed frames": (shares("reviewed"), None, None)}
    if result.review:
        both["all frames"] = (shares("everything"), None, None)
    return banded(
        "offsets",
        "Errors by offset",
        [one.offset for one in rows],
        both,
        ("Offset from the anchor, frames", "Wrong, % of all predictions"),
        "How often frames before and after the anchor are wrong, over all models.",
        limits=(0, None),
    )


def distance_plot(result: VideoResult) -> Plot | None:
    """How far the pixels of neighbours are from those of their anchors."""
    groups: dict[str, list[float]] = {}
    for one in result.distances:
        groups.setdefault(one.group, []).append(100 * one.share)
    if not groups:
        return None
    shown = dict(list(groups.items())[:MOST_SERIES])
    return banded(
        "distances",
        "Distance between frames and their anchors",
        list(range(256)),
        {name: (shares, None, None) for name, shares in shown.items()},
        ("ℓ∞ distance, levels of 255", "Pairs at most this far apart, %"),
        "The largest difference of any pixel between a frame and its anchor. A mistake is a frame that a model gets "
        "wrong although it gets the anchor right.",
        {name: shares for name, shares in groups.items() if name not in shown},
        "mistakes of other models",
        has_marks=False,
    )


def class_plot(result: VideoResult) -> Plot | None:
    """The best model's accuracy by class, on anchors and on worst frames."""
    best = result.models[0]
    rows = [one for one in result.classes if one.model == best.model]
    if len(rows) < 2:
        return None
    middle = median(one.drop for one in rows)
    caption = (
        f"{best.model}, class by class, largest drop first. Total drop {100 * best.drop:.1f} points, median over "
        f"classes {100 * middle:.1f}."
    )
    return _groups("classes", "Drops by class", sorted(rows, key=lambda one: (-one.drop, one.group)), caption)


def rate_plot(result: VideoResult) -> Plot | None:
    """The best model's accuracy by frame rate."""
    rows = [one for one in result.rates if one.model == result.models[0].model]
    return _groups("rates", "Drops by frame rate", rows, f"{result.models[0].model}.") if len(rows) > 1 else None


def _groups(name: str, title: str, rows: Sequence[GroupDrop], caption: str) -> Plot:
    drawn = list(rows)
    if len(drawn) > MOST_CLASSES:
        caption += f" The first {MOST_CLASSES} of {len(drawn):,}."
        drawn = drawn[:MOST_CLASSES]
    return dots_over(
        name,
        title,
        [f"{one.group} ({one.anchors:,})" for one in drawn],
        {
            "anchors": [(100 * one.original, 100 * one.original_low, 100 * one.original_high) for one in drawn],
            "worst frames": [(100 * one.perturbed, 100 * one.perturbed_low, 100 * one.perturbed_high) for one in drawn],
        },
        "Accuracy, %",
        caption + " In brackets: anchors.",
    )


def strip_plot(strip: Strip, number: int) -> Plot:
    """What every model says about the frames of one anchor."""
    return cells(
        f"strip-{number}",
        f"Labels along {strip.anchor}",
        [one.model for one in strip.rows],
        [f"{offset:+d}".replace("-", "−") if offset else "0" for offset in strip.offsets],
        [one.labels for one in strip.rows],
        [one.is_right for one in strip.rows],
        strip.is_similar,
        "Offset from the anchor, frames",
        "Blue: right, orange: wrong, hatched: left out by review; a thick line is a change.",
    )


def detection_plot(result: DetectionResult) -> Plot:
    """Every detector's mAP on anchors and on its worst frames."""
    return dots_over(
        "detectors",
        "mAP of detectors",
        [one.model for one in result.models],
        {
            "anchors": [(100 * one.original, 100 * one.original_low, 100 * one.original_high) for one in result.models],
            "worst frames": [
                (100 * one.perturbed, 100 * one.perturbed_low, 100 * one.perturbed_high) for one in result.models
            ],
        },
        "mAP, %",
        f"Mean average precision on {counted(result.models[0].anchors, 'anchor')}, and on the frame within {result.k} "
        "of each where the detector does worst.",
    )


def detection_drop_plot(result: DetectionResult) -> Plot:
    """Every detector's drop with its interval."""
    rows = sorted(result.models, key=lambda one: one.drop)
    return dots(
        "detector-drops",
        "Drops of detectors",
        [one.model for one in rows],
        [100 * one.drop for one in rows],
        [100 * one.drop_low for one in rows],
        [100 * one.drop_high for one in rows],
        "Drop in mAP, points",
        "Smallest drop first.",
        decimals=1,
    )


def _level(result: VideoResult) -> str:
    return f"{100 * result.level:g} %"
