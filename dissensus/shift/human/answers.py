"""What people said about the images they labelled: labels, alternatives and active time."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Int
from dissensus.backends import FURTHER
from dissensus.records import Question
from dissensus.shift.human.kept import Photo
from dissensus.steps.workspace import Workspace
from dissensus.store.tables import open_table, read_rows


@dataclass(frozen=True)
class Labelling:
    """One person's labels of one image: the last answer counts, and the time is that of all their answers to it."""

    labels: tuple[int, ...]
    alternative: int | None
    seconds: float | None
    """None if no time is known."""
    answers: int = 1
    is_skipped: bool = False

    @property
    def predicted(self) -> tuple[int, ...]:
        """Every class that the person names."""
        return self.labels if self.alternative is None else (*self.labels, self.alternative)


Labellings = Mapping[str, Mapping[str, Labelling]]
"""By person, then by item."""


def label_question(photo: Photo) -> Question:
    """What is it, among all classes?"""
    return Question(kind="label", body={"item": photo.item})


def labellings(work: Workspace[Any], photos: Sequence[Photo]) -> Labellings:
    """Everybody's labels of these images, without excluded people; in the order in which people first answered."""
    items = {label_question(one).text: one.item for one in photos}
    return answers_in(work, "label", items)


def answers_in(work: Workspace[Any], kind: str, items: Mapping[str, str]) -> Labellings:
    """Everybody's answers to questions of the kind `label`; `items` are what the questions are about, by their text."""
    excluded = work.people.excluded()
    found: dict[str, dict[str, Labelling]] = {}
    for _, _, one, text, person, role, answer, seconds, *_ in work.answers.raw():
        if one != kind or role != "asked" or text not in items or person in excluded:
            continue
        said, own = json.loads(answer), found.setdefault(person, {})
        before = own.get(items[text])
        times = [time for time in (seconds, None if before is None else before.seconds) if time is not None]
        own[items[text]] = Labelling(
            () if said is None else tuple(said["labels"]),
            None if said is None else said["alternative"],
            sum(times) if times else None,
            1 if before is None else before.answers + 1,
            said is None,
        )
    return found


def model_labels(work: Workspace[Any], models: Sequence[str], photos: Sequence[Photo]) -> dict[str, list[int | None]]:
    """What every model predicts for these images; None where it has no prediction."""
    rows = np.array(work.pool.places([one.item for one in photos]), np.int64)
    found = {}
    for name in models:
        labels = read_rows(open_table(work.folder.predictions(name)), rows, ["label"])["label"].tolist()
        found[name] = [None if label == MISSING else int(label) for label in labels]
    return found


def further_labels(work: Workspace[Any], model: str, photos: Sequence[Photo]) -> Int[Array, "n 4"]:
    """The classes that a model ranks 2 to 5 for these images; MISSING where it names no more."""
    rows = np.array(work.pool.places([one.item for one in photos]), np.int64)
    read = read_rows(open_table(work.folder.predictions(model)), rows, list(FURTHER))
    unknown = np.full(len(rows), MISSING, np.uint16)
    return np.stack([read.get(name, unknown) for name in FURTHER], axis=1).astype(np.int64)


def competing(work: Workspace[Any]) -> list[str]:
    """Models of the study that have predictions and are not people who joined it."""
    known = work.settings.models
    return [name for name in known if not known[name].is_person(name) and work.folder.predictions(name).exists()]
