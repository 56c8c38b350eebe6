"""Everything about people and models on the same images, as one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import ParticipantError
from dissensus.participants.grading import Grades, graded, unjudged
from dissensus.participants.missed import missed
from dissensus.participants.orders import orders
from dissensus.participants.pairs import Comparison, compared
from dissensus.participants.sample import Images, Participants, Subset, require_sound
from dissensus.participants.tables import (
    BETWEEN,
    MODELS,
    PEOPLE,
    Field,
    accuracy_rows,
    gap_rows,
    order_rows,
    pair_rows,
    rank_rows,
    reversal_rows,
    subset_rows,
)
from dissensus.participants.times import FAST, carelessness, median_seconds, person_seconds
from dissensus.participants.timing import person_rows, time_bins
from dissensus.participants.together import TOGETHER, with_people_together
from dissensus.participants.words import main_answer, notes_of
from dissensus.proportions import LEVEL
from dissensus.records import EVERYTHING, HumanResult, Provenance
from dissensus.records.human import Kind
from dissensus.version import __version__

RESAMPLES = 10_000
"""Random draws of classes for the test of a subset."""
ONE, SEVERAL, QUICK = "one right label", "several right labels", "fast images"
WITH, ONLY = "with problematic images", "only problematic images"
FAMILIES = {
    "paired tests": "McNemar’s exact test; Holm over all pairs of participants on a test set, by each metric",
    "neighbours": "Holm over the pairs that are next to each other in the order by accuracy",
    "subsets": "participants: largest change in each draw of classes, times subsets and test sets; means: Holm",
    "fast and careless": "the larger of two exact one-sided tests; Holm over people",
    "gain by multi-label": "Holm over participants",
}
"""Which tests are adjusted together."""


@dataclass(frozen=True)
class Kept:
    """Images that count, and those of them and others that subsets without a class are made of."""

    main: Bool[Array, " n"]
    whole: Bool[Array, " n"]
    """With problematic images."""
    problematic: Bool[Array, " n"]
    rightless: int
    """Images left out because no label is right for them, or nobody has reviewed them."""


def result_of(
    participants: Participants,
    images: Images,
    subsets: Sequence[Subset] = (),
    classes: Sequence[str] = (),
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = 0,
    keeps_problematic: bool = False,
) -> HumanResult:
    """People and models on the same images.

    Problematic images are left out, as in the thesis, unless `keeps_problematic`; the accuracies on them and with them
    are in the result either way. If labels were reviewed, images without a right label are left out of everything.

    Raises:
        ParticipantError: the arrays do not fit together, or no image is left.
    """
    names = tuple(classes) or _numbers(participants, images)
    require_sound(participants, images, subsets, len(names))
    _require_settings(participants.names, images.sets, level, resamples)
    everybody, has_together = with_people_together(participants)
    kept = _kept(images, keeps_problematic)
    field = Field(everybody.names, _kinds(everybody, has_together), _sets(images, kept.main), level)
    grades = graded(everybody, images)
    main = grades["multi-label"] if "multi-label" in grades else grades["top-1"]
    masks = _masks(everybody, images, subsets, kept)
    of_problematic = {name: mask for name, mask in masks.items() if name in (WITH, ONLY)}
    whole = Field(field.names, field.kinds, _sets(images, kept.whole), level)
    others = unjudged(everybody, images)
    met = {metric: _compared(field, grades[metric], level) for metric in dict.fromkeys((main.metric, "top-1"))}
    accuracies = (
        *accuracy_rows(
            field, grades, {name: mask for name, mask in masks.items() if name not in of_problematic}, others
        ),
        *accuracy_rows(whole, grades, of_problematic, others),
    )
    pairs = tuple(
        row
        for metric, by_set in met.items()
        for test_set, one in by_set.items()
        for row in pair_rows(field, metric, test_set, one)
    )
    ranks = tuple(
        row
        for metric, by_set in met.items()
        for test_set, one in by_set.items()
        for row in rank_rows(field, test_set, grades[metric].on(field.sets[test_set]), one)
    )
    main_set = next(iter(field.sets))
    both = orders(grades["top-1"].on(kept.main), main.on(kept.main), level) if main.metric == "multi-label" else None
    counted = replace(everybody, is_asked=everybody.asked & kept.main)
    people = person_rows(field, counted, carelessness(counted, main.on(kept.main), level))
    parts = {
        "metric": main.metric,
        "test_sets": tuple(name for name in images.sets if name in field.sets),
        "subsets": tuple(masks),
        "images": int(kept.main.sum()),
        "accuracies": accuracies,
        "gaps": gap_rows(field, grades, [name for name in images.sets if name in field.sets]),
        "pairs": pairs,
        "ranks": ranks,
        "order": () if both is None else order_rows(field, both),
        "reversals": ()
        if both is None
        else reversal_rows(field, both, met["top-1"][main_set], met["multi-label"][main_set]),
        "kendall_tau": None if both is None else both.tau,
        "subset_tests": subset_rows(field, main, subsets, images.truth, resamples, seed),
        "people": people,
        "times": time_bins(median_seconds(person_seconds(everybody)), field.sets, images.sets),
        "missed": missed(everybody, images, main.on(kept.main), field.of("person"), field.of("model"), names),
        "notes": notes_of(everybody, images, kept.main, kept.problematic, kept.rightless, others, keeps_problematic),
        "level": level,
        "provenance": _provenance(level, resamples, seed, keeps_problematic),
    }
    unsaid = HumanResult(words=(), **parts)
    return HumanResult(words=main_answer(unsaid), **parts)


def _require_settings(names: Sequence[str], sets: Sequence[str], level: float, resamples: int) -> None:
    taken = next((name for name in (TOGETHER, PEOPLE, MODELS, BETWEEN) if name in names), None)
    if taken is not None:
        raise ParticipantError(f"a participant cannot be called '{taken}', as a part of the result is: rename it")
    if len(sets) > 1 and EVERYTHING in sets:
        raise ParticipantError(f"one of several test sets cannot be called '{EVERYTHING}', as all are: rename it")
    if not 0 < level < 1:
        raise ParticipantError(f"the level must lie between 0 and 1, not at {level}: give 0.95 for 95 %")
    if resamples < 1:
        raise ParticipantError(f"{resamples} draws of classes are too few: give at least one")


def _numbers(participants: Participants, images: Images) -> tuple[str, ...]:
    """Numbers as names of the classes, up to the highest one that occurs."""
    labels = [participants.label, images.truth, participants.top5, participants.alternative]
    labels += [sets.label for sets in (images.right, images.reviewed) if sets is not None]
    highest = max((int(one.max(initial=0)) for one in labels if one is not None), default=0)
    return tuple(map(str, range(highest + 1)))


def _kept(images: Images, keeps_problematic: bool) -> Kept:
    has_right = np.ones(len(images.items), bool) if images.right is None else images.right.sizes > 0
    if images.right is not None and not has_right.any():
        raise ParticipantError("no image has a right label: review some labels first, or leave out the review")
    problematic = images.problematic & has_right
    main = has_right if keeps_problematic else has_right & ~problematic
    if not main.any():
        raise ParticipantError("all images are problematic, so that none is left: keep them, or give other images")
    return Kept(main, has_right, problematic, int((~has_right).sum()))


def _kinds(participants: Participants, has_together: bool) -> tuple[Kind, ...]:
    kinds: list[Kind] = ["person" if one else "model" for one in participants.is_person.tolist()]
    return (*kinds[:-1], "people together") if has_together else tuple(kinds)


def _sets(images: Images, kept: Bool[Array, " n"]) -> dict[str, Bool[Array, " n"]]:
    """The kept images of every test set; all of them together first, if there are several sets."""
    each = {name: kept & (images.test_set == number) for number, name in enumerate(images.sets)}
    each = {name: mask for name, mask in each.items() if mask.any()}
    if len(each) > 1 and EVERYTHING in each:
        raise ParticipantError(f"a test set beside others cannot be called '{EVERYTHING}': rename it")
    return each if len(each) < 2 else {EVERYTHING: kept} | each


def _masks(
    participants: Participants, images: Images, subsets: Sequence[Subset], kept: Kept
) -> dict[str, Bool[Array, " n"]]:
    """Images of every subset, all of them first; a subset without an image that counts is left out."""
    masks = {EVERYTHING: np.ones(len(images.items), bool)}
    for subset in subsets:
        if subset.name in (*masks, ONE, SEVERAL, QUICK, WITH, ONLY):
            raise ParticipantError(f"a subset cannot be called '{subset.name}', as another one is: rename it")
        masks[subset.name] = subset.is_in
    if images.right is not None:
        masks |= {ONE: images.right.sizes == 1, SEVERAL: images.right.sizes > 1}
    seconds = median_seconds(person_seconds(participants))
    if not np.isnan(seconds).all():
        masks[QUICK] = np.nan_to_num(seconds, nan=np.inf) <= FAST
    masks = {name: mask for name, mask in masks.items() if (mask & kept.main).any()}
    if kept.problematic.any():
        masks |= {WITH: kept.whole, ONLY: kept.problematic}
    return masks


def _compared(field: Field, grades: Grades, level: float) -> Mapping[str, Comparison]:
    return {test_set: compared(grades.on(in_set), level) for test_set, in_set in field.sets.items()}


def _provenance(level: float, resamples: int, seed: int, keeps_problematic: bool) -> Provenance:
    return Provenance(
        method="people as a baseline",
        parameters={
            "level": level,
            "draws of classes": resamples,
            "keeps problematic images": keeps_problematic,
            "multiplicity": FAMILIES,
        },
        inputs={},
        seed=seed,
        package=f"dissensus {__version__}",
    )
