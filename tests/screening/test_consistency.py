from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import ScreeningError
from dissensus.screening import agreement_with_others, repeat_consistency

Row = tuple[int, int, int]
row = st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 2))
rows = st.lists(row, min_size=1, max_size=20, unique_by=lambda row: row[:2])


def found(rows: list[Row], questions: int = 5, annotators: int = 4, answers: int = 3) -> list[tuple[float, int]]:
    shares = agreement_with_others(*np.array(rows, int).reshape(-1, 3).T, questions, annotators, answers)
    return list(zip(shares.hits.tolist(), shares.of.tolist(), strict=True))


def plainly(rows: list[Row], person: int) -> tuple[Fraction, int]:
    hits, of = Fraction(0), 0
    for question, who, answer in rows:
        others = Counter(said for asked, other, said in rows if asked == question and other != who)
        if who == person and others:
            top = [said for said, votes in others.items() if votes == max(others.values())]
            hits += Fraction(answer in top, len(top))
            of += 1
    return hits, of


@given(rows)
def test_as_the_words_say_in_exact_fractions(rows: list[Row]) -> None:
    for person, (hits, of) in enumerate(found(rows)):
        expected = plainly(rows, person)
        assert (hits, of) == (pytest.approx(float(expected[0])), expected[1])


@given(rows, st.randoms(use_true_random=False))
def test_order_and_names_do_not_matter(rows: list[Row], random) -> None:
    people, questions, answers = (random.sample(range(n), n) for n in (4, 5, 3))
    renamed = [(questions[question], people[who], answers[answer]) for question, who, answer in rows]
    random.shuffle(renamed)
    before, after = found(rows), found(renamed)
    assert [after[people[person]] for person in range(4)] == [pytest.approx(pair) for pair in before]


def test_the_own_answer_takes_no_part_in_the_majority() -> None:
    # with the own answers every one of the two would be in the majority
    assert found([(0, 0, 0), (0, 1, 1)]) == [(0, 1), (0, 1), (0, 0), (0, 0)]
    assert found([(0, 0, 0), (0, 1, 0)]) == [(1, 1), (1, 1), (0, 0), (0, 0)]


def test_ties_of_the_others_are_shared() -> None:
    assert found([(0, 0, 0), (0, 1, 0), (0, 2, 1)])[0] == (0.5, 1)
    assert found([(0, 0, 2), (0, 1, 0), (0, 2, 1)])[0] == (0, 1)


def test_a_question_without_others_does_not_count() -> None:
    assert found([(0, 0, 0), (1, 0, 1)]) == [(0, 0)] * 4
    assert found([]) == [(0, 0)] * 4


def test_small_integers_do_not_overflow() -> None:
    columns = np.array([(199, who, 1) for who in range(3)], np.uint8).T
    assert agreement_with_others(*columns, 200, 3, 4).hits.tolist() == [1, 1, 1]


def test_answers_out_of_range_are_refused() -> None:
    with pytest.raises(ScreeningError, match="between 0 and 2"):
        found([(0, 0, 3)])


def test_repeats_count_the_same_answer_given_again() -> None:
    shares = repeat_consistency(np.array([0, 0, 2]), np.array([1, 2, 0]), np.array([1, 0, 0]), 4)
    assert shares.hits.tolist() == [1, 0, 1, 0]
    assert [shares.share(person) for person in range(4)] == [0.5, None, 1, None]


def test_repeats_with_answers_missing_are_refused() -> None:
    with pytest.raises(ScreeningError, match="different lengths"):
        repeat_consistency(np.array([0, 0]), np.array([1]), np.array([1, 0]), 1)
