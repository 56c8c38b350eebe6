from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.pairwise import accuracy, compare, dominance, tally
from dissensus.records import Outcomes, empty_tally

Row = tuple[int, int, bool, bool]


def outcomes_of(rows: list[Row]) -> Outcomes:
    first, second, first_right, second_right = (
        np.array(column) for column in (zip(*rows, strict=True) if rows else [()] * 4)
    )
    items = np.arange(len(rows))
    return Outcomes(
        first.astype(int), second.astype(int), items, items, first_right.astype(bool), second_right.astype(bool)
    )


@st.composite
def outcome_rows(draw: st.DrawFn) -> list[Row]:
    pairs = st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(lambda pair: pair[0] != pair[1])
    return draw(st.lists(st.tuples(pairs, st.booleans(), st.booleans()).map(lambda row: (*row[0], *row[1:]))))


# model 0 beats 1 alone three times and loses once; both right twice, neither once: 7 items
HAND = outcomes_of(
    [(0, 1, True, False)] * 3 + [(0, 1, False, True)] + [(0, 1, True, True)] * 2 + [(0, 1, False, False)]
)


def test_the_three_cases_by_hand() -> None:
    cases = tally(HAND, 2)
    assert cases.only.tolist() == [[0, 3], [1, 0]]
    assert cases.both.tolist() == [[0, 2], [2, 0]]
    assert cases.neither.tolist() == [[0, 1], [1, 0]]
    assert cases.items.tolist() == [[0, 7], [7, 0]]
    assert cases.right.tolist() == [[0, 5], [3, 0]]


def test_accuracy_and_dominance_by_hand() -> None:
    compared = compare(tally(HAND, 2), smoothing=1)
    np.testing.assert_allclose(compared.accuracy, [[1 / 2, 6 / 9], [4 / 9, 1 / 2]])
    np.testing.assert_allclose(compared.dominance, [[1, 3 / 2], [2 / 3, 1]])
    assert compared.compared.tolist() == [[False, True], [True, False]]


def test_accuracies_of_a_duel_may_sum_to_more_than_one_in_case_one() -> None:
    accuracies = accuracy(tally(outcomes_of([(0, 1, True, True)] * 8), 2), smoothing=1)
    assert accuracies[0, 1] + accuracies[1, 0] == pytest.approx(1.8)


def test_little_smoothing_gives_the_plain_share_of_eq_1() -> None:
    assert accuracy(tally(HAND, 2), smoothing=1e-12)[0, 1] == pytest.approx(5 / 7)


def test_a_duel_without_items_says_one_half_and_nobody_dominates() -> None:
    compared = compare(empty_tally(3), smoothing=2)
    assert (compared.accuracy == 0.5).all()
    assert (compared.dominance == 1).all()
    assert not compared.compared.any()


@given(outcome_rows())
def test_the_tally_as_a_plain_loop(rows: list[Row]) -> None:
    cases = tally(outcomes_of(rows), 4)
    only, both, neither = (np.zeros((4, 4)) for _ in range(3))
    for one, other, one_right, other_right in rows:
        for i, j, i_right, j_right in ((one, other, one_right, other_right), (other, one, other_right, one_right)):
            only[i, j] += i_right and not j_right
            both[i, j] += i_right and j_right
            neither[i, j] += not i_right and not j_right
    np.testing.assert_array_equal(cases.only, only)
    np.testing.assert_array_equal(cases.both, both)
    np.testing.assert_array_equal(cases.neither, neither)
    assert cases.items.sum() == 2 * len(rows)


@given(outcome_rows(), st.floats(0.01, 10))
def test_dominance_is_reciprocal_and_positive(rows: list[Row], smoothing: float) -> None:
    matrix = dominance(accuracy(tally(outcomes_of(rows), 4), smoothing))
    assert (matrix > 0).all()
    np.testing.assert_allclose(matrix * matrix.T, 1)


@given(outcome_rows(), st.permutations(range(4)))
def test_renumbering_the_models_renumbers_the_matrices(rows: list[Row], number: list[int]) -> None:
    renamed = [(number[one], number[other], a, b) for one, other, a, b in rows]
    before, after = compare(tally(outcomes_of(rows), 4), 1.0), compare(tally(outcomes_of(renamed), 4), 1.0)
    np.testing.assert_array_equal(after.accuracy[np.ix_(number, number)], before.accuracy)
    np.testing.assert_array_equal(after.dominance[np.ix_(number, number)], before.dominance)


@given(outcome_rows())
def test_who_is_called_first_does_not_matter(rows: list[Row]) -> None:
    outcomes = outcomes_of(rows)
    swapped = replace(
        outcomes,
        first=outcomes.second,
        second=outcomes.first,
        first_right=outcomes.second_right,
        second_right=outcomes.first_right,
    )
    for name in ("only", "both", "neither"):
        np.testing.assert_array_equal(getattr(tally(outcomes, 4), name), getattr(tally(swapped, 4), name))


@given(outcome_rows(), outcome_rows())
def test_tallies_of_two_rounds_add_up(one: list[Row], other: list[Row]) -> None:
    together = tally(outcomes_of(one + other), 4)
    parts = [tally(outcomes_of(rows), 4) for rows in (one, other)]
    np.testing.assert_array_equal(together.only, parts[0].only + parts[1].only)
    np.testing.assert_array_equal(together.items, parts[0].items + parts[1].items)
