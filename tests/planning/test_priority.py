"""Which selected question to ask first: closed forms, conditioning of normal variables, and what must not matter."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.planning.priority import foremost, priority


def rows_of(*attacks: tuple[int, int, int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Attacker and defender of so many rows each, and one question per row."""
    attacker, defender, count = np.array(attacks).T
    total = int(count.sum())
    return np.repeat(attacker, count), np.repeat(defender, count), np.arange(total)[:, None]


def gains(sides, questions, missing, share=0.5, weight=None) -> np.ndarray:
    weight = np.ones(len(questions)) if weight is None else weight
    return priority(*sides, weight, questions, np.asarray(missing), share)


def test_two_attacks_of_two_rows_by_hand():
    *sides, questions = rows_of((0, 1, 2), (1, 0, 2))
    # variance 1 + 1/2 if nothing counts, 3/8 with one row known, 0 with both; one row of each attack is enough
    assert gains(sides, questions, [1, 1, 1, 1]) == pytest.approx([(12 - 3) / 16] * 4)
    assert gains(sides, questions, [0, 1, 1, 1]) == pytest.approx([0, 3 / 8 / 2, 2 * 9 / 8, 2 * 9 / 8])
    assert gains(sides, questions, [0, 1, 0, 1]) == pytest.approx([0, 3 / 8, 0, 3 / 8])
    assert gains(sides, questions, [0, 0, 0, 1]) == pytest.approx([0, 0, 0, 3 / 8])


def test_the_variance_is_that_of_normal_values_given_the_known_ones():
    rng = np.random.default_rng(1)
    weight, known = rng.uniform(1, 9, 6), np.array([1, 0, 1, 0, 0, 1], bool)
    part = weight / weight.sum()

    def variance(is_known) -> float:
        covariance = np.eye(6) + 1  # independent around a mean that is as uncertain as one of them
        told, rest = covariance[np.ix_(is_known, is_known)], covariance[:, is_known]
        return float(part @ (covariance - rest @ np.linalg.solve(told, rest.T)) @ part)

    *sides, questions = rows_of((0, 1, 6))
    found = gains(sides, questions, ~known * 1, share=0.5, weight=weight)
    for row in np.flatnonzero(~known):
        more = known | (np.arange(6) == row)
        assert found[row] == pytest.approx(variance(known) - variance(more))


def test_a_question_of_several_attacks_gains_in_all_of_them():
    *sides, questions = rows_of((0, 1, 2), (1, 0, 2), (0, 2, 2), (2, 0, 2))
    alone = gains(sides, questions, np.ones(8, int))
    questions[4] = 0
    shared = gains(sides, questions, np.ones(8, int))
    assert shared[0] == pytest.approx(alone[0] + alone[4])
    assert shared[4] == 0
    assert foremost(shared, 1).tolist() == [0]


def test_models_that_are_nearly_compared_come_before_new_ones():
    *sides, questions = rows_of((0, 1, 6), (1, 0, 6), (0, 2, 6), (2, 0, 6))
    missing = np.ones(24, int)
    missing[[0, 1, 2, 6, 7]] = 0  # one more row, and 0 and 1 are compared
    assert set(foremost(gains(sides, questions, missing), 4).tolist()) == {8, 9, 10, 11}
    missing[8] = 0
    assert foremost(gains(sides, questions, missing), 1)[0] >= 12


def test_each_answer_that_a_row_takes_has_an_equal_part():
    *sides, questions = rows_of((0, 1, 3), (1, 0, 3))
    one = gains(sides, questions, np.full(6, 1))
    assert gains(sides, questions, np.full(6, 4)) == pytest.approx(one / 4)
    rated = np.stack([np.arange(6), np.arange(6, 12)], axis=1)  # two items per row
    assert gains(sides, rated, np.ones(12, int)) == pytest.approx(np.tile(one / 2, 2))
    begun = np.ones(12, int)
    begun[0] = 0
    assert gains(sides, rated, begun)[6] == pytest.approx(one[0])


def test_names_of_models_and_questions_and_the_order_of_rows_do_not_matter():
    rng = np.random.default_rng(3)
    pairs = np.argwhere(~np.eye(5, dtype=bool)).repeat(4, axis=0)
    weight, questions = rng.uniform(1, 5, len(pairs)), rng.integers(0, 50, (len(pairs), 1))
    missing = rng.integers(0, 3, 50)
    found = priority(*pairs.T, weight, questions, missing, 0.5)
    models, names, rows = rng.permutation(5), rng.permutation(50), rng.permutation(len(pairs))
    renamed = np.empty(50, int)
    renamed[names] = missing
    again = priority(*models[pairs[rows]].T, 7 * weight[rows], names[questions[rows]], renamed, 0.5)
    assert again[names] == pytest.approx(found)
    assert np.array_equal(found > 0, (missing > 0) & np.isin(np.arange(50), questions))


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_it_ends_when_all_is_answered_and_leaves_nothing_out(share):
    *sides, questions = rows_of((0, 1, 3), (1, 0, 2), (1, 2, 1))  # 2 never attacks 1
    missing, asked = np.full(6, 2), []
    while len(found := foremost(gains(sides, questions, missing, share), 1)):
        missing[found[0]] -= 1
        asked.append(int(found[0]))
    assert sorted(asked) == sorted([*range(6)] * 2)
    assert not missing.any()
    assert np.isfinite(gains(sides, questions, missing, share)).all()


def test_without_rows_nothing_is_first():
    nothing = np.zeros(0, int)
    found = priority(nothing, nothing, np.zeros(0), np.zeros((0, 1), int), np.ones(3, int), 0.5)
    assert found.tolist() == [0, 0, 0]
    assert foremost(found, 5).tolist() == []
    assert foremost(np.zeros(0), 5).tolist() == []


def test_equal_questions_are_in_a_random_order_that_stays():
    equal = foremost(np.full(100, 0.3), 100)
    assert sorted(equal) == list(range(100))
    assert not np.array_equal(equal, np.arange(100))
    assert np.array_equal(equal, foremost(np.full(100, 0.7) * (1 + 1e-13 * np.arange(100)), 100))
    assert foremost(np.array([0.1, 0.5, 0.0, 0.2]), 2).tolist() == [1, 3]
