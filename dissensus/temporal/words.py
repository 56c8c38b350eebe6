"""The main answer about classifiers and detectors along video, in plain sentences."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, median

from dissensus.proportions import points
from dissensus.records import ModelDetection, VideoResult

RULE_OF_THUMB = 30
"""Anchors below which intervals are said to be wide."""


def main_answer(result: VideoResult) -> tuple[str, ...]:
    """What is lost near the anchors, by whom, on which frames, and what review and classes have to do with it."""
    if any(one.original > 0 or one.perturbed > 0 for one in result.models):
        lost = [_drop(result), *_order(result), *_static(result), *_review(result), *_classes(result)]
    else:
        lost = [_nothing_to_lose(result)]
    found = [*lost, *_changes(result)]
    count = result.models[0].anchors
    if count < RULE_OF_THUMB:
        found.append(f"There {'is' if count == 1 else 'are'} only {_counted(count, 'anchor')}, so intervals are wide.")
    return tuple(found)


def _nothing_to_lose(result: VideoResult) -> str:
    wrong = "No model is" if len(result.models) > 1 else f"{result.models[0].model} is not"
    return f"{wrong} right on any anchor, so there is no accuracy to lose near the anchors."


def _drop(result: VideoResult) -> str:
    last, many = result.mean[-1], len(result.models)
    whose = f"on average over {many:,} models" if many > 1 else f"for {result.models[0].model}"
    where = f"On the worst of the frames within {result.k} of the anchor"
    count = _counted(result.models[0].anchors, "anchor")
    said = _lower(last.drop, last.drop_low, last.drop_high)
    return f"{where}, accuracy is {said} than on the anchors, {whose} and {count}."


def _lower(drop: float, low: float | None = None, high: float | None = None) -> str:
    """A drop in words: '3.1 points lower (2.0 to 4.2)'; a gain is so much higher."""
    way = "lower" if drop >= 0 else "higher"
    if low is None or high is None:
        return f"{points(abs(drop))} {way}"
    value, _, interval = points(abs(drop), *((low, high) if drop >= 0 else (-high, -low))).partition(" (")
    return f"{value} {way} ({interval}"


def _order(result: VideoResult) -> list[str]:
    if len(result.models) < 2:
        return []
    least, most = min(result.models, key=lambda one: one.drop), max(result.models, key=lambda one: one.drop)
    if least.drop == most.drop:
        return ["All models lose the same."] if most.drop else []
    said = (
        f"{least.model} loses least, {points(least.drop, least.drop_low, least.drop_high)}, and {most.model} most, "
        f"{points(most.drop, most.drop_low, most.drop_high)}"
    )
    if not result.pairs:
        return [f"{said}."]
    decided = sum(one.low_at_once > 0 or one.high_at_once < 0 for one in result.pairs)
    return [f"{said}; {decided:,} of {_counted(len(result.pairs), 'pair')} of models clearly differ in their drop."]


def _static(result: VideoResult) -> list[str]:
    if len(result.models) < 2 or not any(one.drop or one.static_drop for one in result.models):
        return []
    drop = mean(one.static_drop for one in result.models)
    return [
        "If every model gets the same frame of each anchor, the one that most of them miss, the mean drop is "
        f"{points(drop)}."
    ]


def _review(result: VideoResult) -> list[str]:
    if not result.review:
        return []
    before, after = mean(one.drop for one in result.review), mean(one.reviewed_drop for one in result.review)
    return [f"Without review, the mean drop would be {points(before)} instead of {points(after)}."]


def _classes(result: VideoResult) -> list[str]:
    best = result.models[0]
    own = [one for one in result.classes if one.model == best.model]
    if len(own) < 2:
        return []
    middle = median(one.drop for one in own)
    if not best.drop and not middle:
        return []
    return [
        f"For {best.model}, the total drop is {points(best.drop)} and the median drop of its {len(own):,} classes "
        f"{points(middle)}."
    ]


def _changes(result: VideoResult) -> list[str]:
    known = [one for one in result.models if one.changes is not None]
    if not known:
        return []
    least, most = (pick(known, key=lambda one: one.changes or 0) for pick in (min, max))
    if least.changes == most.changes:
        return [f"Along the frames of an anchor, the predicted label changes {least.changes:.1f} times on average."]
    return [
        f"Along the frames of an anchor, the label of {least.model} changes {least.changes:.1f} times on average, "
        f"that of {most.model} {most.changes:.1f} times."
    ]


def detection_answer(models: Sequence[ModelDetection], k: int) -> tuple[str, ...]:
    """What detectors lose near the anchors, and whether they still find the boxes."""
    best, many = models[0], len(models)
    drop, located = mean(one.drop for one in models), mean(one.located_drop for one in models)
    said = _lower(drop) if many > 1 else _lower(drop, best.drop_low, best.drop_high)
    whose = f"on average over {many:,} detectors" if many > 1 else f"for {best.model}"
    found = [
        f"On the frame within {k} of the anchor where a detector does worst, its mAP is {said} than on the anchors, "
        f"{whose} and {_counted(best.anchors, 'anchor')}."
    ]
    if many > 1:
        least, most = min(models, key=lambda one: one.drop), max(models, key=lambda one: one.drop)
        found.append(
            f"{least.model} loses least, {points(least.drop, least.drop_low, least.drop_high)}, and {most.model} "
            f"most, {points(most.drop, most.drop_low, most.drop_high)}."
        )
    found.append(
        f"For boxes alone, whatever their category, the drop is {points(located)}{' on average' * (many > 1)}."
    )
    if 1 < best.anchors < RULE_OF_THUMB:
        found.append(f"There are only {best.anchors} anchors with boxes, so intervals may be too narrow.")
    return tuple(found)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
