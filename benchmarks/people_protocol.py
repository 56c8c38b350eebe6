"""People with planted skills through the protocol, many times and without a service: do the results contain the truth?

python benchmarks/people_protocol.py coverage   # intervals by subset, tests, who is careless; reviewers who err or not
python benchmarks/people_protocol.py --help

Images have one or two right labels, some a wrong original label, some are unsuitable. People label them, all labels of
people and models are put to three reviewers as in `dissensus shift human serve --page review`, the majority decides,
and the result is compared with the planted skills.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.tables import Row, parser_of, show_rows
from dissensus.arrays import Array, Float, Int
from dissensus.participants.findings import result_of
from dissensus.participants.sample import Images, LabelSets, Participants
from dissensus.participants.subsets import class_subset
from dissensus.records import HumanResult
from dissensus.screening import Rule
from dissensus.shift.human.kept import EVALUATION, Photo
from dissensus.shift.human.reviews import composed, predicted
from dissensus.shift.human.verdicts import LabelVerdicts, verdicts_of

DOGS, CLASSES, IMAGES, REVIEWERS = 12, 40, 400, 3
SKILLS = {
    "good at objects": (0.6, 0.97, 12.0),
    "good at both": (0.93, 0.95, 12.0),
    "fair": (0.75, 0.8, 9.0),
    "careless": (0.35, 0.4, 0.4),
    "model a": (0.9, 0.9, 0.0),
    "model b": (0.75, 0.75, 0.0),
}
"""Chance of a right label on dogs and on objects, and the median time."""
PEOPLE = 4


@dataclass(frozen=True)
class World:
    """Images with their original label, all right labels, and whether they are unsuitable."""

    original: Int[Array, " n"]
    right: tuple[frozenset[int], ...]
    unfit: Array


def world(rng: np.random.Generator) -> World:
    original = np.arange(IMAGES) % CLASSES
    right = []
    for label in original.tolist():
        other, chance = int(rng.choice(family(label, {label}))), rng.random()
        right.append(frozenset({other} if chance < 0.04 else {label, other} if chance < 0.22 else {label}))
    return World(original, tuple(right), rng.random(IMAGES) < 0.03)


def family(label: int, but: Any) -> list[int]:
    """Classes of the same family: dogs, or objects."""
    found = range(DOGS) if label < DOGS else range(DOGS, CLASSES)
    return [one for one in found if one not in but]


def said(known: World, skill: tuple[float, float, float], rng: np.random.Generator) -> Int[Array, " n"]:
    """A right label as often as the skill says, else a wrong one of the same family."""
    found = []
    for label, right in zip(known.original.tolist(), known.right, strict=True):
        is_right = rng.random() < skill[0 if label < DOGS else 1]
        found.append(int(rng.choice(sorted(right) if is_right else family(label, right))))
    return np.array(found)


def reviewed(known: World, labels: Sequence[Int[Array, " n"]], error: float, rng: np.random.Generator) -> LabelVerdicts:
    """All labels put to reviewers, each of whom errs about a label as often as `error` says."""
    photos = [Photo(str(place), label, "all", EVALUATION, "") for place, label in enumerate(known.original.tolist())]
    people = {str(who): {str(place): [label] for place, label in enumerate(own.tolist())}
              for who, own in enumerate(labels[:PEOPLE])}  # fmt: skip
    models = {str(who): own.tolist() for who, own in enumerate(labels[PEOPLE:])}
    reviews = composed([], predicted(photos, people, models), (1.0 - np.eye(CLASSES)).__getitem__, 0)
    answers = []
    for person in range(REVIEWERS):
        for one in reviews:
            place = int(one.item)
            chosen = [label for label in one.labels if (label in known.right[place]) != (rng.random() < error)]
            answers.append((one, person, "unfit" if known.unfit[place] else chosen))
    return verdicts_of(answers, [f"reviewer {one}" for one in range(REVIEWERS)], "majority", Rule(REVIEWERS))


def simulated(error: float, seed: int) -> HumanResult:
    """One study, from planted skills to the result."""
    rng = np.random.default_rng([seed, int(1000 * error)])
    known = world(rng)
    labels = [said(known, skill, rng) for skill in SKILLS.values()]
    verdicts = reviewed(known, labels, error, rng)
    items = tuple(map(str, range(IMAGES)))
    images = Images(
        items,
        known.original,
        np.arange(IMAGES) // CLASSES % 2,
        ("original", "new"),
        LabelSets.of(verdicts.right.get(item, ()) for item in items),
        LabelSets.of(verdicts.judged.get(item, ()) for item in items),
        np.array([item in verdicts.unfit for item in items]),
    )
    seconds = np.stack([_times(skill[2], rng) for skill in SKILLS.values()])
    everybody = Participants(tuple(SKILLS), np.arange(len(SKILLS)) < PEOPLE, np.stack(labels), seconds=seconds)
    dogs = np.arange(CLASSES) < DOGS
    subsets = [class_subset("dogs", dogs, known.original), class_subset("objects", ~dogs, known.original)]
    return result_of(everybody, images, subsets, tuple(map(str, range(CLASSES))), resamples=400, seed=seed)


def _times(median: float, rng: np.random.Generator) -> Float[Array, " n"]:
    return median * rng.lognormal(0, 0.4, IMAGES) if median else np.full(IMAGES, np.nan)


def coverage(runs: int) -> Iterator[Row]:
    """How often intervals contain what was planted, and how often tests find what was planted, and what was not."""
    for error in (0.0, 0.03, 0.1):
        found = [simulated(error, seed) for seed in range(runs)]
        for name, skill in SKILLS.items():
            for subset, planted in (("dogs", skill[0]), ("objects", skill[1])):
                about = {"reviewers err": error, "participant": name, "subset": subset, "planted": planted}
                yield about | _covered(found, name, subset, planted)
        named = Counter(one.person for result in found for one in result.people if one.is_careless)
        yield {
            "reviewers err": error,
            "careless is named": named["careless"] / runs,
            "somebody else is": sum(named.values()) / runs - named["careless"] / runs,
            "bad at dogs is found": np.mean([_is_special(one, "good at objects") for one in found]).item(),
            "a model is special": np.mean([_is_special(one, "model a") for one in found]).item(),
            "good at both above model b": np.mean([_is_above(one, "good at both", "model b") for one in found]).item(),
        }


def _covered(found: Sequence[HumanResult], name: str, subset: str, planted: float) -> Row:
    """The mean estimate, and the share of intervals that contain the planted accuracy."""
    rows = [result.accuracy(name, subset=subset) for result in found]
    share = np.mean([(one.low or 0) <= planted <= (one.high or 0) for one in rows])
    return {"mean": round(float(np.mean([one.accuracy or 0 for one in rows])), 3), "coverage": round(float(share), 3)}


def _is_special(result: HumanResult, name: str) -> bool:
    return any(
        one.p_adjusted < 0.05
        for one in result.subset_tests
        if (one.participant, one.subset, one.test_set) == (name, "dogs", result.main_set)
    )


def _is_above(result: HumanResult, first: str, second: str) -> bool:
    key = result.metric, result.main_set
    return any(
        one.is_decided and (one.difference > 0) == (one.first == first)
        for one in result.pairs
        if {one.first, one.second} == {first, second} and (one.metric, one.test_set) == key
    )


def main() -> None:
    parser = parser_of(__doc__, ("coverage",))
    given = parser.parse_args()
    show_rows(coverage(given.runs or 200), given.json)


if __name__ == "__main__":
    main()
