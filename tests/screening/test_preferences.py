from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import ScreeningError
from dissensus.screening import PREFERENCES, WeightedAnswers, bt500, p910, preferences

NOTHING = np.zeros(0, np.int64)


def answered(seed: int, people: int = 8, questions: int = 25, noise: float = 12.0):
    """Everybody on every question, one of them at random."""
    rng = np.random.default_rng(seed)
    question, person = np.repeat(np.arange(questions), people), np.tile(np.arange(people), questions)
    quality = rng.uniform(-80, 80, questions)
    value = quality[question] + rng.normal(0, noise, len(question))
    careless = person == people - 1
    value[careless] = rng.uniform(-100, 100, careless.sum())
    return question, person, value.clip(-100, 100), questions, people


def test_the_mean_by_hand() -> None:
    question = np.array([0, 0, 2])
    weighed = PREFERENCES["mean"](question, np.array([0, 1, 0]), np.array([30.0, -10.0, 100.0]), 3, 2)
    preference, weight = preferences(question, weighed, 3)
    assert preference.tolist() == [10, 0, 100]
    assert weight.tolist() == [2, 0, 1]


def test_weights_by_hand_and_never_beyond_the_slider() -> None:
    question = np.array([0, 0, 1])
    preference, weight = preferences(
        question, WeightedAnswers(np.array([60.0, 0.0, 130.0]), np.array([1.0, 3.0, 2.0])), 2
    )
    assert preference.tolist() == [15, 100]
    assert weight.tolist() == [4, 2]


@given(st.integers(0, 10_000))
def test_each_screening_gives_its_own_estimate(seed: int) -> None:
    columns = answered(seed)
    question = columns[0]
    rejecting, soft = bt500(*columns), p910(*columns)
    by_bt500, weight = preferences(question, PREFERENCES["bt500"](*columns), columns[3])
    np.testing.assert_allclose(by_bt500, rejecting.mean, atol=1e-9)
    assert (weight > 0).tolist() == rejecting.is_answered.tolist()
    by_p910, _ = preferences(question, PREFERENCES["p910"](*columns), columns[3])
    np.testing.assert_allclose(by_p910, soft.quality.clip(-100, 100), atol=1e-5)


@given(st.integers(0, 10_000), st.sampled_from(sorted(PREFERENCES)))
def test_the_order_of_answers_does_not_matter_and_signs_turn(seed: int, name: str) -> None:
    question, person, value, questions, people = answered(seed)
    before = preferences(question, PREFERENCES[name](question, person, value, questions, people), questions)[0]
    order = np.random.default_rng(seed).permutation(len(value))
    shuffled = PREFERENCES[name](question[order], person[order], value[order], questions, people)
    np.testing.assert_allclose(preferences(question[order], shuffled, questions)[0], before, atol=1e-6)
    turned = PREFERENCES[name](question, person, -value, questions, people)
    np.testing.assert_allclose(preferences(question, turned, questions)[0], -before, atol=1e-6)
    assert (np.abs(before) <= 100).all()


@pytest.mark.parametrize("name", sorted(PREFERENCES))
def test_no_answers_are_no_preferences(name: str) -> None:
    weighed = PREFERENCES[name](NOTHING, NOTHING, np.zeros(0), 3, 0)
    preference, weight = preferences(NOTHING, weighed, 3)
    assert preference.tolist() == weight.tolist() == [0, 0, 0]


def test_one_answer_of_one_person_is_enough_but_for_p910_which_names_the_person() -> None:
    columns = np.array([0]), np.array([0]), np.array([40.0]), 1, 1
    for name in ("mean", "bt500"):
        assert preferences(columns[0], PREFERENCES[name](*columns), 1)[0].tolist() == [40]
    with pytest.raises(ScreeningError, match="person 0"):
        PREFERENCES["p910"](*columns)


def test_a_rejected_person_counts_nothing() -> None:
    question, person, value, questions, people = answered(1, people=12, questions=60, noise=5)
    weighed = PREFERENCES["bt500"](question, person, value, questions, people)
    assert weighed.weight[person == people - 1].sum() == 0
    assert weighed.weight[person == 0].mean() > 0.8
