"""The steps of a study of people: what was sampled, how far it is, what was exported and who joined."""

from __future__ import annotations

from dissensus.records.base import Record
from dissensus.records.replica import Problem


class SampledSet(Record):
    """How many images of one test set people label."""

    name: str
    images: int
    classes: int
    wanted: int


class HumanSample(Record):
    """What people are going to label, and what helps them."""

    sets: tuple[SampledSet, ...]
    images: int
    added: int
    training: int
    wanted_training: int
    examples: int
    """Example pictures that can be shown."""
    example_classes: int
    guided: int
    """Classes with an entry in the guide."""
    left_out: tuple[Problem, ...] = ()
    """Images and examples that cannot be used, and why."""


class LabellerStatus(Record):
    """How far one person is."""

    name: str
    trained: int
    right: int
    """Training images that the person got right."""
    labelled: int
    skipped: int
    again: int
    """Images that the person labelled more than once; the last answer counts."""
    reviewed: int
    median_seconds: float | None
    instant: int
    """Answers in under half a second."""


class HumanStatus(Record):
    """How far a study of people is."""

    images: int
    training: int
    labels: int
    """Answers that people have given to images."""
    wanted: int
    reviews: int
    """Questions of the review; None of them are composed before `serve --page review`."""
    review_answers: int
    wanted_reviews: int
    unreviewed: int
    """Predicted labels of images that nobody has been asked to review."""
    decided: int
    """Images with a right label."""
    problematic: int
    models: tuple[str, ...]
    people: tuple[LabellerStatus, ...]


class HumanExport(Record):
    """What was written."""

    folder: str
    files: tuple[str, ...]
    people: int
    images: int


class JoinedPeople(Record):
    """People who are now models of the competition."""

    people: tuple[str, ...]
    labelled: tuple[int, ...]
    """Images that each of them labelled; all others have no prediction."""
    round: int | None
    """The round of their duels; None if nothing had been selected yet, so that the next selection includes them."""
