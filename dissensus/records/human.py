"""People and models on the same images, part by part: accuracies, gaps, paired tests, subsets, times, missed images.

All accuracies and differences are fractions, all p-values are two-sided unless they say otherwise.
"""

from __future__ import annotations

from typing import Literal

from dissensus.records.base import Record

Metric = Literal["top-1", "top-5", "multi-label", "imputed"]
"""Right if the original label comes first · is among the labels · if the first label is one of the right labels ·
likewise, with alternatives in place of escape hatches."""
Kind = Literal["person", "model", "people together", "mean", "difference"]
Misser = Literal["all models", "all people", "everybody"]
EVERYTHING = "all images"
"""The subset and the test set that hold every image."""


class ParticipantAccuracy(Record):
    """How often one participant is right, with a Clopper–Pearson interval; None if no image counts."""

    participant: str
    kind: Kind
    metric: Metric
    test_set: str
    subset: str
    right: int
    count: int
    accuracy: float | None
    low: float | None
    high: float | None
    unjudged: int = 0
    """First labels that nobody reviewed; they count as wrong."""


class AccuracyGap(Record):
    """How much accuracy a participant loses from one test set to another: first minus second."""

    participant: str
    kind: Kind
    metric: Metric
    first_set: str
    second_set: str
    first: float
    second: float
    gap: float
    low: float
    high: float


class PairedTest(Record):
    """McNemar's exact test between two participants on the images that both were asked about.

    `p_holm` allows for all pairs of participants on the test set, `p_neighbours` only for pairs that are next to each
    other in the order by accuracy (None for others).
    """

    first: str
    second: str
    metric: Metric
    test_set: str
    count: int
    only_first: int
    """Images that only the first gets right."""
    only_second: int
    difference: float
    """Accuracy of the first minus that of the second, on the images they share."""
    low: float
    high: float
    p: float
    p_mid: float
    p_holm: float
    is_neighbour: bool
    p_neighbours: float | None
    is_decided: bool
    """Whether one is really above the other, all pairs looked at together."""


class ParticipantRank(Record):
    """A participant's rank by accuracy, and the ranks that the paired tests leave open, all pairs together."""

    participant: str
    kind: Kind
    metric: Metric
    test_set: str
    accuracy: float
    rank: int
    rank_low: int
    """One more than the participants that are really above."""
    rank_high: int
    """The number of participants less those that are really below."""


class OrderChange(Record):
    """What multi-label accuracy does to a participant's place in the order, on the same images as top-1."""

    participant: str
    kind: Kind
    top1: float
    multi: float
    rank_top1: int
    rank_multi: int
    rank_change: int
    """Ranks gained by multi-label accuracy."""
    gain: float
    """Multi-label minus top-1 accuracy, less the mean of that over all participants."""
    low: float
    high: float
    p: float
    p_holm: float
    """Allows for all participants."""
    is_favoured: bool
    """Whether the participant gains really more, or really less, than the others."""


class Reversal(Record):
    """Two participants whose order differs between top-1 and multi-label accuracy."""

    first: str
    """Ahead by top-1."""
    second: str
    """Ahead by multi-label."""
    top1_difference: float
    multi_difference: float
    top1_p_holm: float
    multi_p_holm: float
    p: float
    """That the difference between the two does not change, for this pair alone."""
    p_holm: float
    """Allows for all pairs of participants."""
    is_clear: bool
    """Whether the difference changes by more than chance, all pairs looked at together."""
    is_decided: bool
    """Whether both orders are decided, in opposite ways."""


class SubsetTest(Record):
    """How accuracy changes when images are restricted to some classes, against as many classes drawn at random."""

    subset: str
    test_set: str
    participant: str
    """A participant, the mean of people, the mean of models, or people minus models."""
    kind: Kind
    metric: Metric
    classes: int
    of_classes: int
    images: int
    change: float
    """Accuracy on the subset minus accuracy on all images."""
    low: float
    high: float
    """Between these ends lie the changes of the drawn classes, as often as the level says."""
    p: float
    p_adjusted: float
    """Allows for all participants, subsets and test sets; means allow for each other."""


class PersonTime(Record):
    """How long a person takes, and whether they are fast and careless."""

    person: str
    asked: int
    skipped: int
    """Without any label."""
    timed: int
    """Answers with a known time."""
    median_seconds: float | None
    instant: int
    """Answers in under half a second."""
    hasty: int
    """Answers in under half a second, or in less than a quarter of what the others took for the image."""
    compared: int
    """Answers with a known time to images that somebody else also answered."""
    accuracy_hasty: float | None
    """On the images that the person answered hastily and somebody else answered, too."""
    others_hasty: float | None
    """Mean accuracy of the others on the same images."""
    p_fast: float
    """One-sided: that no more than a quarter of the answers would be hasty."""
    p_worse: float
    """One-sided: that the person is no worse than the others on the images answered hastily."""
    p_holm: float
    """The larger of both, allowing for all people."""
    is_careless: bool


class TimeBin(Record):
    """Number of images by the median of the seconds that people took; `high` is None for the last, open bin."""

    test_set: str
    low: float
    high: float | None
    images: int


class MissedImage(Record):
    """An image that all models, all people or everybody get wrong."""

    item: str
    test_set: str
    missed_by: Misser
    truth: str
    right: tuple[str, ...]
    """Names of the right labels."""
    people_said: tuple[str, ...]
    """Most frequent first labels of people, first the most frequent."""
    models_said: tuple[str, ...]
