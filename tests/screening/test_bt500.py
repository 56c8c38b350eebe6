from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rated import columns_of, panel, sureal, with_careless
from scipy.stats import kurtosis

from dissensus.errors import ScreeningError
from dissensus.screening import Bt500, bt500

seeds = st.integers(0, 2**32 - 1)


def plainly(
    table: np.ndarray, limit: float = 0.05, balance: float | None = None, ddof: int = 1
) -> tuple[np.ndarray, list[int]]:
    """The recommendation, one answer after the other: 1 and −1 for outliers; and who is rejected."""

    def sides(answers: np.ndarray) -> np.ndarray:
        found = np.zeros(answers.shape, dtype=int)
        for q, row in enumerate(answers):
            told = row[~np.isnan(row)]
            if len(told) < 3 or np.ptp(told) == 0:
                continue
            times = 2 if 2 <= kurtosis(told, fisher=False) <= 4 else np.sqrt(20)
            for p, value in enumerate(row):
                if not np.isnan(value) and abs(value - told.mean()) >= times * told.std(ddof=ddof):
                    found[q, p] = np.sign(value - told.mean())
        return found

    first = sides(table)
    rejected = []
    for p in range(table.shape[1]):
        high, low, of = (first[:, p] > 0).sum(), (first[:, p] < 0).sum(), (~np.isnan(table[:, p])).sum()
        if (high + low) / of > limit and (balance is None or abs(high - low) / (high + low) < balance):
            rejected.append(p)
    rest = table.copy()
    rest[:, rejected] = np.nan
    second = sides(rest)
    second[:, rejected] = first[:, rejected]
    return second, rejected


def require_sound(found: Bt500) -> None:
    assert np.isfinite(found.mean).all()
    assert 0 <= found.removed <= 1
    np.testing.assert_array_equal(found.outliers.hits, found.high + found.low)


# -- planted careless people


@pytest.mark.parametrize("balance", [None, 0.3])
@pytest.mark.parametrize("careless", [1, 2, 3])
@pytest.mark.parametrize("seed", range(3))
def test_on_the_papers_size_exactly_the_careless_are_rejected(seed: int, careless: int, balance: float | None) -> None:
    table, who = with_careless(panel(seed, 31, 1440, scatter=(12, 18), bias=4), seed, careless)
    found = bt500(*columns_of(table), balance=balance)
    require_sound(found)
    assert set(found.rejected) == who
    assert found.removed < 0.05


@pytest.mark.parametrize("seed", range(5))
def test_in_a_smaller_study_exactly_the_careless_are_rejected(seed: int) -> None:
    table, who = with_careless(panel(seed, 20, 200), seed, 2)
    assert set(bt500(*columns_of(table)).rejected) == who


def test_how_often_the_rule_is_right_in_small_studies() -> None:
    """Not always: among 36 questions two outliers are more than 5 %, and honest people have them."""
    right, honest_rejected = 0, {None: 0, 0.3: 0}
    for seed in range(100):
        table, who = with_careless(panel(seed, 20, 200), seed, 2)
        right += set(bt500(*columns_of(table)).rejected) == who
        short, who = with_careless(panel(seed, 30, 36), seed, 1)
        for balance in honest_rejected:
            honest_rejected[balance] += len(set(bt500(*columns_of(short), balance=balance).rejected) - who)
    assert right >= 90
    assert honest_rejected[None] > 200
    assert honest_rejected[0.3] < honest_rejected[None] / 2


def test_the_reason_is_in_words() -> None:
    table = np.tile([-1.0, 0, 1], (40, 10))
    table[:4, 29], table[4:6, 29] = 100, -100
    found = bt500(*columns_of(table))
    assert found.rejected == {
        29: "6 of 40 answers (15 %) are outliers, 4 above and 2 below the others' answers; the limit is 5 %"
    }
    assert (found.high[29], found.low[29]) == (4, 2)
    # four against two is no balance of 0.3
    assert not bt500(*columns_of(table), balance=0.3).rejected


# -- closed forms


def test_the_limits_of_both_cases() -> None:
    # 4 against 1: kurtosis 3.25, the odd one is 2 population deviations away, which is a limit and counts as beyond
    five = np.array([[0.0, 0, 0, 0, 7]])
    assert bt500(*columns_of(five), ddof=0).is_outlier.tolist() == [False] * 4 + [True]
    assert not bt500(*columns_of(five), ddof=1).is_outlier.any()
    # one against n is √n population deviations away, and far from Gaussian; fewer than 20 others can never be enough
    for others, is_beyond in ((19, False), (20, True), (30, True)):
        row = np.array([[0.0] * others + [5]])
        assert bt500(*columns_of(row), ddof=0).is_outlier.any() == is_beyond


def test_outliers_are_left_out_of_the_mean_and_counted() -> None:
    row = np.array([[0.0, 1, -1, 2, -2, 0, 1, -1, 0, 30] + [0.0] * 20, [4.0] * 10 + [np.nan] * 20])
    found = bt500(*columns_of(row))
    assert found.is_outlier.sum() == 1
    assert found.mean.tolist() == [0, 4]
    assert found.removed == pytest.approx(1 / 40)
    assert found.too_few == tuple(range(30))
    assert not found.rejected


def test_a_question_without_an_accepted_answer_is_said() -> None:
    table, who = with_careless(panel(0, 20, 200), 0, 2)
    table = np.vstack([table, np.full(20, np.nan)])
    table[-1, sorted(who)] = 7.0
    found = bt500(*columns_of(table))
    assert set(found.rejected) == who
    assert found.is_answered.tolist() == [True] * 200 + [False]
    assert found.mean[-1] == 0


# -- other implementations


@pytest.mark.parametrize("balance", [None, 0.3])
@given(seeds)
@settings(max_examples=12)
def test_as_the_rule_one_answer_after_the_other(balance: float | None, seed: int) -> None:
    table, _ = with_careless(panel(seed, 9, 40), seed, 2)
    table[np.random.default_rng(seed).random(table.shape) < 0.2] = np.nan
    expected, rejected = plainly(table, balance=balance)
    found = bt500(*columns_of(table), balance=balance, fewest=1)
    question, person, *_ = columns_of(table)
    assert list(found.rejected) == rejected
    np.testing.assert_array_equal(found.is_outlier, expected[question, person] != 0)
    np.testing.assert_array_equal(found.is_accepted, ~found.is_outlier & ~np.isin(person, rejected))


@pytest.mark.parametrize("seed", range(6))
def test_as_sureal_up_to_its_conventions(seed: int) -> None:
    """sureal divides by n, always asks for balance, and removes people but no single answers."""
    table, _ = with_careless(panel(seed, 24, 120), seed, 3)
    table = table + np.random.default_rng(seed).uniform(-0.4, 0.4, table.shape)
    theirs = sureal("SubjrejMosModel", table, subject_rejection=True)
    ours = bt500(*columns_of(table), balance=0.3, ddof=0)
    assert set(ours.rejected) == set(np.flatnonzero(theirs["observer_rejected"]).tolist())
    np.testing.assert_allclose(ours.outliers.hits / 120, theirs["observer_rejected_1st_stats"])
    kept = np.setdiff1d(np.arange(24), list(ours.rejected))
    np.testing.assert_allclose(theirs["quality_scores"], table[:, kept].mean(axis=1))


# -- properties


@given(seeds, st.floats(0.01, 100), st.floats(-1e4, 1e4))
@settings(max_examples=20)
def test_order_numbers_unit_and_origin_do_not_matter(seed: int, scale: float, shift: float) -> None:
    rng = np.random.default_rng(seed)
    table, _ = with_careless(panel(seed, 14, 60), seed, 2)
    table[rng.random(table.shape) < 0.1] = np.nan
    found = bt500(*columns_of(table))
    moved = bt500(*columns_of(scale * table + shift))
    np.testing.assert_array_equal(moved.is_accepted, found.is_accepted)
    np.testing.assert_allclose(moved.mean[found.is_answered], scale * found.mean[found.is_answered] + shift, atol=1e-6)
    turned = bt500(*columns_of(-table))
    np.testing.assert_array_equal(turned.high, found.low)
    question, person, value, questions, people = columns_of(table)
    rows, of_question, of_person = rng.permutation(len(value)), rng.permutation(questions), rng.permutation(people)
    again = bt500(of_question[question[rows]], of_person[person[rows]], value[rows], questions, people)
    np.testing.assert_array_equal(again.is_accepted, found.is_accepted[rows])
    assert set(again.rejected) == {int(of_person[p]) for p in found.rejected}
    np.testing.assert_allclose(again.mean[of_question], found.mean, atol=1e-9)


# -- degenerate panels


def test_nobody_differs_or_nobody_else_answered() -> None:
    for table in (np.full((30, 5), 0.1), panel(0, 2, 30), panel(0, 1, 30)):
        found = bt500(*columns_of(table))
        require_sound(found)
        assert not found.is_outlier.any()
        assert not found.rejected
        np.testing.assert_allclose(found.mean, table.mean(axis=1))


def test_few_answers_are_never_enough_to_reject() -> None:
    table = panel(1, 30, 40)
    table[19:, 0] = np.nan
    table[:19, 0] = np.where(table[:19, 1:].mean(axis=1) > 0, -100, 100)
    found = bt500(*columns_of(table))
    assert found.too_few == (0,)
    assert 0 not in found.rejected
    assert 0 in bt500(*columns_of(table), fewest=19).rejected


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (([], [], [], 0, 0), "no answers"),
        (([0], [0, 1], [1.0], 1, 2), "different lengths"),
        (([0], [2], [1.0], 1, 2), "numbers of people"),
        (([1], [0], [1.0], 1, 2), "numbers of questions"),
        (([0], [0], [np.nan], 1, 1), "NaN or infinite"),
    ],
)
def test_what_is_no_table_is_refused(columns: tuple, message: str) -> None:
    question, person, value, questions, people = columns
    with pytest.raises(ScreeningError, match=message):
        bt500(np.array(question, int), np.array(person, int), np.array(value, float), questions, people)


def test_rejecting_everybody_is_refused() -> None:
    with pytest.raises(ScreeningError, match="all 12 people have more than 0 % outliers, so nobody would be left"):
        bt500(*columns_of(panel(0, 12, 300)), limit=0.0)
