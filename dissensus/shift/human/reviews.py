"""The review: which of these labels are right for this image? Over everything that anybody predicts, in disguise.

Nobody learns who predicted what. Every question mixes labels of people and labels of models wherever the image has
both, so that none is known to be about people alone. Once composed, a question never changes; labels that are
predicted later get questions of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float
from dissensus.discrepancy.labels import distances_from
from dissensus.records import Question
from dissensus.replicas.chance import chance
from dissensus.shift.human.kept import Photo
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_table, write_table

MOST_OPTIONS = 8
"""Labels that one question offers: more cannot be compared at a glance."""
Distances = Callable[[int], Float[Array, " C"]]
"""From one class to all of them."""
SCHEMA = pa.schema({"item": pa.string(), "labels": pa.list_(pa.int32())})


@dataclass(frozen=True)
class Predicted:
    """The labels that anybody predicts for one image."""

    original: int
    people: frozenset[int]
    models: frozenset[int]

    @property
    def every(self) -> frozenset[int]:
        return self.people | self.models | {self.original}


@dataclass(frozen=True)
class Review:
    """One question: which of these labels does the image show?"""

    item: str
    labels: tuple[int, ...]

    @property
    def question(self) -> Question:
        return Question(
            kind="pick", body={"item": self.item, "options": sorted(self.labels), "several": True, "every": True}
        )


def predicted(
    photos: Sequence[Photo],
    people: Mapping[str, Mapping[str, Iterable[int]]],
    models: Mapping[str, Sequence[int | None]],
) -> dict[str, Predicted]:
    """What is predicted for every image: `people` by person and item, `models` in the order of the images."""
    return {
        photo.item: Predicted(
            photo.label,
            frozenset(label for own in people.values() for label in own.get(photo.item, ())),
            frozenset(label for own in models.values() if (label := own[place]) is not None),
        )
        for place, photo in enumerate(photos)
    }


def kept_reviews(work: Workspace[Any]) -> list[Review]:
    """All questions, in the order in which they were composed."""
    path = work.folder.human_reviews
    if not exists(path):
        return []
    return [Review(row["item"], tuple(row["labels"])) for row in read_table(path).to_pylist()]


def unasked(reviews: Sequence[Review], wanted: Mapping[str, Predicted]) -> dict[str, list[int]]:
    """The predicted labels of every image that no question offers yet."""
    asked: dict[str, set[int]] = {}
    for one in reviews:
        asked.setdefault(one.item, set()).update(one.labels)
    left = {item: sorted(one.every - asked.get(item, set())) for item, one in wanted.items()}
    return {item: labels for item, labels in left.items() if labels}


def compose_reviews(work: Workspace[Any], wanted: Mapping[str, Predicted]) -> list[Review]:
    """Add questions about labels that are in none yet, and keep all of them."""
    known = kept_reviews(work)
    if not unasked(known, wanted):
        return known
    every = [*known, *composed(known, wanted, distances_from(work.classes), work.settings.human.seed)]
    rows = [{"item": one.item, "labels": list(one.labels)} for one in every]
    write_table(work.folder.human_reviews, pa.Table.from_pylist(rows, SCHEMA), {})
    return every


def composed(known: Sequence[Review], wanted: Mapping[str, Predicted], distances: Distances, seed: int) -> list[Review]:
    """Questions about the labels that no question offers yet."""
    return [
        Review(item, tuple(sorted(with_company(labels, item, wanted[item], distances, seed))))
        for item, every in unasked(known, wanted).items()
        for labels in _divided(every, item, seed)
    ]


def with_company(labels: Collection[int], item: str, said: Predicted, distances: Distances, seed: int) -> set[int]:
    """The labels, with one more of people or of models where all are of the others, and two at least.

    A label that nobody predicts only comes in if everybody says the same: the class nearest to it.
    """
    found = {*labels}
    for own in (said.people, said.models):
        if own and found.isdisjoint(own):
            found.add(min(own, key=lambda label: chance(seed, "company", item, label)))
    if len(found) < 2:
        found |= {*_at_random(said.every - found, item, seed)[:1]}
    if len(found) < 2:
        (only,) = found
        away = distances(only).copy()
        away[list(found)] = np.inf
        nearest = np.flatnonzero(away == away.min()).tolist()
        found |= {*_at_random(nearest, item, seed)[:1]}
    return found


def _divided(labels: Sequence[int], item: str, seed: int) -> list[list[int]]:
    """As few parts as possible, of nearly the same size, in an order that nobody chose."""
    mixed, parts = _at_random(labels, item, seed), -(-len(labels) // MOST_OPTIONS)
    return [mixed[part::parts] for part in range(parts)]


def _at_random(labels: Iterable[int], item: str, seed: int) -> list[int]:
    return sorted(labels, key=lambda label: chance(seed, "review", item, label))
