"""Controls and repeats cannot be told from the study's own questions by anything that a person sees of them."""

from __future__ import annotations

from collections import Counter
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import chi2_contingency

from dissensus.labeling import Queue
from dissensus.labeling.order import group_words, question_words
from dissensus.labeling.person import Person

SIZES = (2, 2, 2, 2, 3, 3, 4)
"""How many labels models gave to a picture: pictures of a study have two or more."""
PICTURES, CONTROLS, PEOPLE = 140, 120, 40
SURE = 1e-4
"""A test is wrong about chance this often; the seeds are fixed, so that it is always wrong or never."""


class Picture(NamedTuple):
    """What a person sees in a row about one picture, and what it was for."""

    role: str
    size: int
    before: int
    after: int
    position: int
    first: int


def made(own: int = 1, rates: tuple[float, float] = (0.1, 0.1), kind: type[Queue] = Queue) -> Queue:
    """A study for everybody, whose owner gave `own` controls about each picture."""
    queue = kind(PEOPLE, 60.0, *rates)
    pictures = [f"picture {n}" for n in range(PICTURES) for _ in range(SIZES[n % len(SIZES)])]
    queue.need(added(queue, pictures))
    of_control = [f"control {n}" for n in range(CONTROLS)]
    queue.controls = [*added(queue, of_control * own)]
    queue.fillers = [*added(queue, of_control * (max(SIZES) - min(own, max(SIZES))))]
    for seed in range(PEOPLE):
        queue.join(str(seed), seed)
    return queue


def added(queue: Queue, pictures: list[str]) -> range:
    groups = group_words("contains", pictures)
    return queue.add(groups, question_words(groups, [f"question {len(queue) + n}" for n in range(len(pictures))]))


def session(queue: Queue, name: str) -> list[Picture]:
    """What a person sees from the first question to the last."""
    given = []
    while (following := queue.next(name, 0.0)) is not None:
        given.append(following)
    runs = [[*run] for _, run in groupby(given, key=lambda one: queue.groups[one[0]])]
    assert all(len({role for _, role in run}) == 1 for run in runs)
    size = [0, *map(len, runs), 0]
    # the first one is of the lesser text as often as not
    first = [int(queue.words[run[0][0]] == min(queue.words[one] for one, _ in run)) for run in runs]
    return [Picture(run[0][1], size[n + 1], size[n], size[n + 2], n, first[n]) for n, run in enumerate(runs)]


def chance(seen: list[Picture], role: str, feature: list[int]) -> float:
    """How probable it is that a feature says as much about a role by chance (chi-squared)."""
    values = sorted(set(feature))
    counted = Counter(zip([one.role == role for one in seen], feature, strict=True))
    table = np.array([[counted[is_role, value] for value in values] for is_role in (False, True)])
    enough = table.sum(axis=0) >= 40  # chi-squared needs a few of each
    table = np.column_stack([table[:, enough], table[:, ~enough].sum(axis=1, keepdims=True)])
    assert enough.sum() > 1, "too few of every value but one"
    return float(chi2_contingency(table[:, table.sum(axis=0) > 0]).pvalue)


def chances(queue: Queue, *roles: str) -> dict[tuple[str, str], float]:
    """How probable it is by chance that what everybody sees says as much about each role, by role and feature."""
    sessions = [session(queue, str(seed)) for seed in range(PEOPLE)]
    found = {}
    for role in roles:
        # a repeat cannot come among the first ten questions; the ends of a session have no picture on one side
        seen = [one for run in sessions for one in run[8:-1] if one.role in ("asked", role)]
        assert sum(one.role == role for one in seen) > 200
        features = {
            "count": [one.size for one in seen],
            "count before": [one.before for one in seen],
            "count after": [one.after for one in seen],
            "position": [one.position // 20 for one in seen],
            "parity": [one.position % 2 for one in seen],
            "order": [one.first * 10 + one.size for one in seen],
        }
        found |= {(role, name): chance(seen, role, feature) for name, feature in features.items()}
    return found


@pytest.mark.parametrize("own", [1, 2, 6])
def test_nothing_that_is_seen_predicts_a_role(own: int) -> None:
    found = chances(made(own), "control", "repeat")
    assert min(found.values()) > SURE, found


class Telling(Queue):
    """A queue whose controls give themselves away by one feature."""

    feature = ""

    def _begin(self, person: Person, following: int | None) -> None:
        pictures = len({self.groups[one] for one in person.asked})
        before, after = (self._is_large(one) for one in (person.asked[-1:], [following]))
        tells = {
            "parity": pictures % 9 == 0,  # with its control every tenth picture
            "position": pictures < PICTURES / 2,
            "count before": before,
            "count after": after,
        }
        if tells.get(self.feature, pictures % 5 == 0):
            super()._begin(person, following)

    def _is_large(self, questions: list[int | None]) -> bool:
        return any(np.sum(self.groups == self.groups[one]) == max(SIZES) for one in questions if one is not None)

    def _sorted(self, person: Person, questions: list[int]) -> list[int]:
        if self.feature == "order":
            return sorted(questions, key=lambda one: self.words[one])
        return super()._sorted(person, questions)


@pytest.mark.parametrize("feature", ["count", "count before", "count after", "position", "parity", "order"])
def test_controls_that_give_themselves_away_are_noticed(feature: str) -> None:
    queue = made(rates=(1.0, 0.0), kind=Telling)
    queue.feature = feature
    if feature == "count":
        queue.fillers = []
    assert chances(queue, "control")["control", feature] < SURE


def test_a_control_may_come_first_and_repeats_as_soon_as_there_are_originals() -> None:
    queue = made(rates=(0.5, 0.5))
    sessions = [session(queue, str(seed)) for seed in range(PEOPLE)]
    firsts = Counter(run[0].role for run in sessions)
    assert abs(firsts["control"] / PEOPLE - 0.5) < 4 * 0.5 / np.sqrt(PEOPLE)
    lasts = Counter(run[-1].role for run in sessions)
    assert 0 < lasts["asked"] < PEOPLE


def test_controls_and_repeats_keep_their_share_of_questions() -> None:
    queue = made()
    sessions = [session(queue, str(seed)) for seed in range(PEOPLE)]
    asked = sum(one.size for run in sessions for one in run if one.role == "asked")
    for role in ("control", "repeat"):
        share = sum(one.size for run in sessions for one in run if one.role == role) / asked
        assert abs(share - 0.1) < 0.01, role


def test_nobody_gets_a_control_who_has_nothing_else_to_do() -> None:
    queue = made(rates=(0.9, 0.9))
    queue.need([])
    assert queue.next("0", 0.0) is None


def test_a_picture_asked_with_others_has_its_number_of_questions() -> None:
    """Of two kinds, each control is as long as the study's pictures of its own kind."""
    queue = Queue(1, 60.0, 0.9, 0.0)
    pairs = group_words("choice", [f"pair {n}" for n in range(50)])
    queue.add(pairs, question_words(pairs, map(str, range(50))), kind=1)
    pictures = [f"picture {n // 3}" for n in range(150)]
    queue.need([*range(50), *added(queue, pictures)])
    pairs = group_words("choice", [f"control {n}" for n in range(20)])
    queue.controls = [*queue.add(pairs, question_words(pairs, map(str, range(20))), kind=1)]
    queue.controls += added(queue, [f"control picture {n}" for n in range(20)])
    queue.fillers = [*added(queue, [f"control picture {n}" for n in range(20)] * 2)]
    queue.join("0", 0)
    given = []
    while (following := queue.next("0", 0.0)) is not None:
        given.append(following)
    runs = Counter(
        (role, int(queue.kinds[run[0][0]]), len(run))
        for (_, role), run in (
            (key, [*run]) for key, run in groupby(given, key=lambda one: (queue.groups[one[0]], one[1]))
        )
    )
    assert {key[1:] for key in runs if key[0] == "asked"} == {(1, 1), (0, 3)}
    assert {key[1:] for key in runs if key[0] == "control"} == {(1, 1), (0, 3)}
