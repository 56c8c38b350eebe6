"""People and models of a study on the same images: everything that is known, and the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Float, Int
from dissensus.errors import StudyError, counted
from dissensus.labeling.kinds.label import MOST_LABELS
from dissensus.participants.findings import result_of
from dissensus.participants.sample import NO_LABEL, Images, LabelSets, Participants
from dissensus.records import HumanResult
from dissensus.report.human.page import MOST_CARDS, human_page
from dissensus.report.page import Page
from dissensus.report.pictures import picture_side
from dissensus.shift.human.answers import Labelling, competing, further_labels, labellings, model_labels
from dissensus.shift.human.files import read_person, read_right
from dissensus.shift.human.kept import Sample, kept_sample
from dissensus.shift.human.reviews import Predicted, Review, kept_reviews, predicted, unasked
from dissensus.shift.human.subsets import read_subsets
from dissensus.shift.human.verdicts import LabelVerdicts, label_verdicts, labelled_after_review
from dissensus.steps.pictures import thumbnails
from dissensus.steps.workspace import Workspace

SHORTEST = 1e-3
"""Seconds of an answer that took no time at all."""


@dataclass(frozen=True)
class Given:
    """What comes as a file instead of from the study: label sets, and people's labels by name."""

    right: Path | None = None
    people: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Protocol:
    """Everything that is known about people and models at one moment; parts are read when they are needed."""

    work: Workspace[Any]
    given: Given = field(default_factory=Given)

    @cached_property
    def sample(self) -> Sample:
        return kept_sample(self.work)

    @cached_property
    def labels(self) -> dict[str, Mapping[str, Labelling]]:
        """Everybody's labels, by person and item."""
        found = dict(labellings(self.work, self.sample.evaluation))
        for name, path in self.given.people.items():
            if name in found:
                raise StudyError(f"{name} has labelled images in the study: give the labels of {path} another name")
            found[name] = read_person(path, self.work, self.sample.evaluation)
        return found

    @cached_property
    def models(self) -> dict[str, list[int | None]]:
        return model_labels(self.work, competing(self.work), self.sample.evaluation)

    @cached_property
    def predicted(self) -> dict[str, Predicted]:
        """What anybody predicts for every image."""
        people = {name: {item: one.predicted for item, one in own.items()} for name, own in self.labels.items()}
        return predicted(self.sample.evaluation, people, self.models)

    @cached_property
    def reviews(self) -> list[Review]:
        return kept_reviews(self.work)

    @cached_property
    def verdicts(self) -> LabelVerdicts:
        return label_verdicts(self.work, self.reviews)

    @cached_property
    def unasked(self) -> dict[str, list[int]]:
        """Predicted labels that nobody has been asked to review."""
        return unasked(self.reviews, self.predicted)

    def participants(self) -> Participants:
        """People first, then models.

        Raises:
            StudyError: there is nobody at all.
        """
        names = (*self.labels, *self.models)
        if not names:
            root = self.work.folder.root
            raise StudyError(
                f"there is nobody to compare: ask people with dissensus shift human serve {root}, or add models with "
                f"dissensus predict {root}"
            )
        parts = [self._person(own) for own in self.labels.values()] + [self._model(name) for name in self.models]
        labels, further, alternative, asked, seconds = (np.stack(column) for column in zip(*parts, strict=True))
        return Participants(
            tuple(self._distinct(names)),
            np.arange(len(names)) < len(self.labels),
            labels,
            further,
            alternative,
            asked,
            seconds,
        )

    def _distinct(self, names: Sequence[str]) -> list[str]:
        """The names, where a person has that of a model as well marked as a person."""
        found = list(names)
        for place, name in enumerate(self.labels):
            while found.count(found[place]) > 1 and (name in self.models or found[place] != name):
                found[place] += " (person)"
        return found

    def _person(self, own: Mapping[str, Labelling]) -> tuple[Array, ...]:
        photos = self.sample.evaluation
        said = [own.get(one.item) for one in photos]
        further = _padded([() if one is None else one.labels for one in said])
        alternative = [NO_LABEL if one is None or one.alternative is None else one.alternative for one in said]
        asked = np.array([one is not None for one in said], bool)
        return further[:, 0], further, np.array(alternative, np.int64), asked, _seconds(said)

    def _model(self, name: str) -> tuple[Array, ...]:
        labels = [NO_LABEL if label is None else label for label in self.models[name]]
        first, count = np.array(labels, np.int64), len(labels)
        more = further_labels(self.work, name, self.sample.evaluation)
        further = np.full((count, MOST_LABELS), NO_LABEL, np.int64)
        if (more != MISSING).any():  # otherwise it names one class only, and its top-5 accuracy is unknown
            further = np.column_stack([first, np.where(more == MISSING, NO_LABEL, more)])
        return first, further, np.full(count, NO_LABEL), np.ones(count, bool), np.full(count, np.nan)

    def images(self) -> Images:
        """The images, with the labels that reviewers, or a file, find right."""
        photos, sets = self.sample.evaluation, self.sample.sets
        items, right, judged, unfit = tuple(one.item for one in photos), *self.label_sets()
        return Images(
            items,
            self.sample.truth,
            np.array([sets.index(one.set) for one in photos], np.int64),
            sets,
            None if right is None else LabelSets.of(right.get(item, ()) for item in items),
            None if judged is None else LabelSets.of(judged.get(item, ()) for item in items),
            np.array([item in unfit for item in items], bool),
        )

    def label_sets(
        self,
    ) -> tuple[Mapping[str, frozenset[int]] | None, Mapping[str, frozenset[int]] | None, frozenset[str]]:
        """The right labels, all judged ones, and images that are unsuitable; None without a review."""
        if self.given.right is not None:
            return (*read_right(self.given.right, self.work, self.sample.evaluation), frozenset())
        if not self.verdicts.right:
            return None, None, self.verdicts.unfit
        return self.verdicts.right, self.verdicts.judged, self.verdicts.unfit


def result(protocol: Protocol, subsets: str | None = None) -> HumanResult:
    """People and models on the same images."""
    work, participants = protocol.work, protocol.participants()
    parts = read_subsets(subsets, work, protocol.sample.truth)
    return result_of(participants, protocol.images(), parts, work.classes.names, seed=work.settings.human.seed)


def page(protocol: Protocol, found: HumanResult) -> Page:
    """The page about a result, with the pictures of missed images."""
    return human_page(found, notes=notes(protocol), pictures=_pictures(protocol, found))


def notes(protocol: Protocol) -> tuple[str, ...]:
    """What readers must know first: the study's own notes, and how far the review is."""
    return (*protocol.work.settings.notes, *_notes_on_review(protocol))


def _notes_on_review(protocol: Protocol) -> Iterator[str]:
    if protocol.given.right is not None:
        yield f"The right labels are those of {protocol.given.right.name}."
    elif not protocol.verdicts.right:
        why = "Labels have not been reviewed"
        if protocol.verdicts.answers:
            needed = protocol.work.settings.human.reviewers
            why = f"Reviewers have found no label right, or fewer than {needed:,} have answered (human.reviewers)"
        yield f"{why}, so that only the original label of each image counts as right."
    elif count := sum(map(len, protocol.unasked.values())):
        labels, wrong = ("label has", "it counts") if count == 1 else ("labels have", "they count")
        yield f"{count:,} predicted {labels} not been put to reviewers yet; {wrong} as wrong."
    if late := labelled_after_review(protocol.work, protocol.sample.evaluation, protocol.reviews):
        labels = counted(late, "label was", "labels were")
        yield f"{labels} given, or changed, by people who had already seen the review of the same image."


def _pictures(protocol: Protocol, found: HumanResult) -> dict[str, str]:
    """Thumbnails of missed images, as data URIs by item."""
    each: dict[str, list[str]] = {}
    for one in found.missed:
        each.setdefault(one.missed_by, []).append(one.item)
    items = list(dict.fromkeys(item for own in each.values() for item in own[:MOST_CARDS]))
    return thumbnails(protocol.work.pool, items, picture_side(len(items)), protocol.work.progress)


def _padded(labels: Sequence[Sequence[int]]) -> Int[Array, "n 5"]:
    found = np.full((len(labels), MOST_LABELS), NO_LABEL, np.int64)
    for place, own in enumerate(labels):
        kept = list(own)[:MOST_LABELS]
        found[place, : len(kept)] = kept
    return found


def _seconds(said: Sequence[Labelling | None]) -> Float[Array, " n"]:
    known = [None if one is None or one.seconds is None else max(one.seconds, SHORTEST) for one in said]
    return np.array([np.nan if one is None else one for one in known])
