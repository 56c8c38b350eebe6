"""Medians of times, who is fast and careless, and what people say together."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from dissensus.participants.grading import Grades
from dissensus.participants.sample import NO_LABEL, Participants
from dissensus.participants.times import at_most, carelessness, median_seconds, person_seconds
from dissensus.participants.together import TOGETHER, plurality, with_people_together


def test_poisson_binomial_by_listing_all_outcomes() -> None:
    chances = np.array([0.1, 0.5, 0.9, 0.3])
    for count in range(5):
        expected = sum(
            np.prod([chance if one else 1 - chance for one, chance in zip(outcome, chances, strict=True)])
            for outcome in product((0, 1), repeat=4)
            if sum(outcome) <= count
        )
        assert at_most(chances, count) == pytest.approx(expected)
    assert at_most(np.zeros(0), 0) == 1


def people(right: np.ndarray, seconds: np.ndarray) -> tuple[Participants, Grades]:
    given = Participants(
        tuple("ABCDE")[: len(right)], np.ones(len(right), bool), np.where(right, 0, 1), seconds=seconds
    )
    return given, Grades("top-1", right, np.ones_like(right))


def simulated(rng: np.random.Generator, pace: float, loss: float, n: int = 200) -> tuple[Participants, Grades]:
    easy = rng.beta(12, 1.5, n)
    right = rng.random((4, n)) < np.clip(easy - np.array([[0], [0], [0], [loss]]), 0, 1)
    seconds = np.exp(rng.normal(3, 0.7, n) + rng.normal(0, 0.6, (4, n)))
    seconds[3] *= pace
    return people(right, seconds)


@pytest.mark.parametrize(
    ("pace", "loss", "least", "most"), [(1, 0, 0, 0.05), (0.1, 0, 0, 0.09), (1, 0.3, 0, 0.05), (0.1, 0.3, 0.95, 1)]
)
def test_only_the_fast_and_careless_are_named(pace: float, loss: float, least: float, most: float) -> None:
    rng = np.random.default_rng(5)
    named = np.array([carelessness(*simulated(rng, pace, loss)).is_careless for _ in range(80)])
    assert least <= named[:, 3].mean() <= most
    assert named[:, :3].any(axis=1).mean() <= 0.05


def test_answers_in_less_than_half_a_second_are_counted() -> None:
    seconds = np.array([[0.3, 0.5, 20.0], [20.0, 20.0, np.nan]])
    found = carelessness(*people(np.ones((2, 3), bool), seconds))
    assert found.instant.tolist() == [1, 0]
    assert found.hasty.tolist() == [2, 0]
    assert found.timed.tolist() == [3, 2]
    assert not found.is_careless.any()


@pytest.mark.parametrize("seconds", [None, np.full((1, 4), np.nan), np.full((1, 4), 0.2)])
def test_one_person_cannot_be_compared(seconds: np.ndarray | None) -> None:
    right = np.zeros((1, 4), bool)
    given = Participants(("A",), np.ones(1, bool), np.ones((1, 4), int), seconds=seconds)
    found = carelessness(given, Grades("top-1", right, np.ones_like(right)))
    assert found.p_holm.tolist() == [1]


def test_no_people_at_all() -> None:
    given = Participants(("net",), np.zeros(1, bool), np.zeros((1, 3), int))
    assert len(carelessness(given, Grades("top-1", np.ones((1, 3), bool), np.ones((1, 3), bool))).p_holm) == 0
    assert np.isnan(median_seconds(person_seconds(given))).all()


def test_medians_over_the_people_whose_time_is_known() -> None:
    seconds = np.array([[1.0, np.nan, np.nan], [3.0, 5.0, np.nan], [8.0, 9.0, np.nan]])
    assert median_seconds(seconds)[:2].tolist() == [3, 7]
    assert np.isnan(median_seconds(seconds)[2])


def test_plurality_and_ties() -> None:
    first = np.array([[1, 2, NO_LABEL, 4], [1, 3, NO_LABEL, 5], [2, NO_LABEL, NO_LABEL, NO_LABEL]])
    assert plurality(first).tolist() == [1, 2, NO_LABEL, 4]
    further = np.full((3, 4, 5), NO_LABEL)
    further[..., 0] = first
    further[0, 3, 1] = 5  # the first person lists 5, too
    assert plurality(first, further).tolist() == [1, 2, NO_LABEL, 5]
    assert plurality(first[::-1], further[::-1]).tolist() == [1, 2, NO_LABEL, 5]


def test_people_together_need_two_people() -> None:
    label = np.array([[0, 1], [0, 2], [3, 3]])
    one = Participants(("A", "net", "other"), np.array([True, False, False]), label)
    assert with_people_together(one) == (one, False)
    two, is_added = with_people_together(Participants(("A", "B", "net"), np.array([True, True, False]), label))
    assert is_added
    assert two.names[-1] == TOGETHER
    assert two.label[-1].tolist() == [0, 1]
    assert not two.is_person[-1]


def test_people_together_hear_only_those_asked() -> None:
    label = np.array([[0, 1], [5, 2], [5, 2]])
    asked = np.array([[True, False], [False, True], [False, False]])
    grown, _ = with_people_together(Participants(tuple("ABC"), np.ones(3, bool), label, is_asked=asked))
    assert grown.label[-1].tolist() == [0, 2]
    assert grown.asked[-1].tolist() == [True, True]
