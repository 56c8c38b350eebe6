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
    found = [_drop(result), *_order(result), *_static(result), *_review(result), *_classes(result), *_changes(result)]
    count = result.models[0].anchors
    if count < RULE_OF_THUMB:
        found.append(f"There {'is' if count == 1 else 'are'} only {_counted(count, 'anchor')}, so intervals are wide.")
    return tuple(found)


def _drop(result: VideoResult) -> str:
    last, many = result.mean[-1], len(result.models)
    if not any(one.original or one.perturbed for one in result.models):
        count = _counted(result.models[0].anchors, "anchor")
        return f"No model is right on any of the {count}, so that nothing can be lost: check the labels."
    ends = (last.drop_low, last.drop_high) if last.drop >= 0 else (-last.drop_high, -last.drop_low)
    value, _, interval = points(abs(last.drop), *ends).partition(" (")
    whose = f"on average over {many:,} models" if many > 1 else f"for {result.models[0].model}"
    way = "lower" if last.drop >= 0 else "higher"
    where = f"On the worst of the frames within {result.k} of the anchor"
    count = _counted(result.models[0].anchors, "anchor")
    return f"{where}, accuracy is {value} {way} ({interval} than on the anchors, {whose} and {count}."


def _order(result: VideoResult) -> list[str]:
    if len(result.models) < 2:
        return []
    least, most = min(result.models, key=lambda one: one.drop), max(result.models, key=lambda one: one.drop)
    if least.drop == most.drop:
        return ["All models lose the same."]
    said = (
        f"{least.model} loses least, {points(least.drop, least.drop_low, least.drop_high)}, and {most.model} most, "
        f"{points(most.drop, most.drop_low, most.drop_high)}"
    )
    if not result.pairs:
        return [f"{said}."]
    decided = sum(one.low_at_once > 0 or one.high_at_once < 0 for one in result.pairs)
    return [f"{said}; {decided:,} of {_counted(len(result.pairs), 'pair')} of models clearly differ in their drop."]


def _static(result: VideoResult) -> list[str]:
    if len(result.models) < 2:
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
    said = points(drop) if many > 1 else points(drop, best.drop_low, best.drop_high)
    whose = f"on average over {many:,} detectors" if many > 1 else f"for {best.model}"
    found = [
        f"On the frame within {k} of the anchor where a detector does worst, its mAP is {said} lower than on the "
        f"anchors, {whose} and {_counted(best.anchors, 'anchor')}."
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
    return tuple(found)


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
