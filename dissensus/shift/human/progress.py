"""status: how far people are with training, labelling and the review."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from dissensus.participants.times import INSTANT
from dissensus.records.human_steps import HumanStatus, LabellerStatus
from dissensus.shift.human.answers import Labelling, answers_in
from dissensus.shift.human.results import Protocol
from dissensus.steps.workspace import Workspace


def status(work: Workspace[Any]) -> HumanStatus:
    """How far the study of people is."""
    known, settings = Protocol(work), work.settings.human
    sample, verdicts = known.sample, known.verdicts
    trained = _trained(known)
    names = dict.fromkeys((*known.labels, *trained, *verdicts.people))
    return HumanStatus(
        images=len(sample.evaluation),
        training=len(sample.training),
        labels=sum(map(len, known.labels.values())),
        wanted=len(sample.evaluation) * settings.people,
        reviews=len(known.reviews),
        review_answers=verdicts.answers,
        wanted_reviews=len(known.reviews) * settings.reviewers,
        unreviewed=sum(map(len, known.unasked.values())),
        decided=sum(one.item in verdicts.right for one in sample.evaluation),
        problematic=sum(_is_problematic(known, one.item, one.label) for one in sample.evaluation),
        models=tuple(known.models),
        people=tuple(_person(name, known, trained.get(name, (0, 0)), verdicts.people.get(name, 0)) for name in names),
    )


def _is_problematic(known: Protocol, item: str, original: int) -> bool:
    verdicts = known.verdicts
    is_wrong = original in verdicts.judged.get(item, ()) and original not in verdicts.right.get(item, ())
    return item in verdicts.unfit or is_wrong


def _trained(known: Protocol) -> dict[str, tuple[int, int]]:
    """By person: how many images they trained on, and how many they got right; each counts once, the last time."""
    label = {one.item: one.label for one in known.sample.training}
    if not label:
        return {}
    texts = {}
    for _, _, kind, text, *_ in known.work.answers.raw():
        if kind == "label" and text not in texts and (item := _item_trained(text)) in label:
            texts[text] = item
    found: dict[str, tuple[int, int]] = {}
    for name, own in answers_in(known.work, "label", texts).items():
        right = sum(one.labels[:1] == (label[item],) for item, one in own.items())
        found[name] = len(own), right
    return found


def _item_trained(text: str) -> str:
    return str(json.loads(text)["item"])


def _person(name: str, known: Protocol, trained: tuple[int, int], reviewed: int) -> LabellerStatus:
    own: Mapping[str, Labelling] = known.labels.get(name, {})
    seconds = [one.seconds for one in own.values() if one.seconds is not None]
    return LabellerStatus(
        name=name,
        trained=trained[0],
        right=trained[1],
        labelled=len(own),
        skipped=sum(one.is_skipped for one in own.values()),
        again=sum(one.answers > 1 for one in own.values()),
        reviewed=reviewed,
        median_seconds=float(np.median(seconds)) if seconds else None,
        instant=sum(one < INSTANT for one in seconds),
    )
