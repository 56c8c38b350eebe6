from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.competition.one_order import rank
from dissensus.errors import RankingError
from dissensus.ranking import (
    Margins,
    bootstrap,
    comparison_bars,
    hodgerank,
    rank_sets,
    resampled_margins,
    resampled_tallies,
)
from dissensus.ranking.shared_items import Errors
from dissensus.records import Outcomes, Tally

LEVEL = 0.9


def separated(estimate: np.ndarray, samples: np.ndarray, level: float) -> np.ndarray:
    return resampled_margins(estimate, samples, level).separated(estimate)


@pytest.mark.parametrize("truth", [np.zeros(6), np.array([0, 0, 0, 2, 2, 9.0])], ids=["all equal", "three levels"])
def test_no_pair_is_wrongly_separated_more_often_than_promised(truth: np.ndarray) -> None:
    """Correlated normal estimates: the share of experiments with any wrong separation is at most 1 − level."""
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(6, 6)) / 2
    experiments, wrong, apart = 400, 0, 0
    for _ in range(experiments):
        estimate = truth + mixing @ rng.normal(size=6)
        better = separated(estimate, estimate + rng.normal(size=(300, 6)) @ mixing.T, LEVEL)
        wrong += (better & (truth[:, None] <= truth)).any()
        apart += better[5, :3].all()
    assert wrong / experiments <= 1 - LEVEL + 0.04  # 2.6 standard errors of the simulation
    if (truth == 0).all():
        assert wrong / experiments >= 1 - LEVEL - 0.05  # nor are the intervals needlessly wide
    else:
        assert apart / experiments > 0.9


def strengths_of(tally: Tally) -> np.ndarray:
    accuracy = (tally.right + 1) / (tally.items + 2)
    return hodgerank(np.log(accuracy / accuracy.T), tally.items)


@pytest.mark.slow
def test_rank_sets_of_simulated_duels_hold_the_true_ranks() -> None:
    """The whole way from judged items: all rank sets hold the true rank in about `level` of the experiments or more."""
    rng = np.random.default_rng(1)
    ability = np.array([0.75, 0.6, 0.6, 0.4])
    true_low, true_high = rank_sets(ability[:, None] > ability)
    first, second = (np.repeat(index, 50) for index in np.triu_indices(4, 1))
    held, widths = 0, []
    for _ in range(100):
        right = rng.random((2, len(first))) < ability[[first, second]]
        outcomes = Outcomes(first, second, np.arange(len(first)), np.ones_like(first), *right)
        samples, _ = bootstrap(strengths_of, resampled_tallies(outcomes, 4, 200, rng))
        estimate = strengths_of(resampled_once(outcomes))
        low, high = rank_sets(separated(estimate, samples, LEVEL))
        held += (low <= true_low).all() and (high >= true_high).all()
        widths.append(high - low)
    assert held >= 84
    assert np.mean(widths) < 2


def resampled_once(outcomes: Outcomes) -> Tally:
    """The tally itself: every item once."""
    only, both, neither = np.zeros((3, 4, 4))
    one, two = outcomes.first_right, outcomes.second_right
    for matrix, i, j, rows in [
        (only, outcomes.first, outcomes.second, one & ~two),
        (only, outcomes.second, outcomes.first, two & ~one),
        (both, outcomes.first, outcomes.second, one & two),
        (both, outcomes.second, outcomes.first, one & two),
        (neither, outcomes.first, outcomes.second, ~one & ~two),
        (neither, outcomes.second, outcomes.first, ~one & ~two),
    ]:
        np.add.at(matrix, (i[rows], j[rows]), 1)
    return Tally(only, both, neither)


def test_models_that_never_differ_are_never_separated() -> None:
    rng = np.random.default_rng(0)
    strength = rng.normal(5, 0.1, size=(500, 1))
    samples = np.hstack([strength, strength + 1e-15 * rng.random((500, 1)), np.full((500, 1), -5.0)])
    better = separated(np.array([5, 5 + 1e-14, -5]), samples, LEVEL)
    assert not better[:2, :2].any()
    assert better[:2, 2].all()


def test_without_any_spread_nothing_is_separated() -> None:
    assert not separated(np.array([3.0, 1.0]), np.array([[3.0, 1.0]] * 10), LEVEL).any()


def test_rank_sets_count_who_is_surely_better_and_worse() -> None:
    better = np.array([[0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=bool)
    low, high = rank_sets(better)
    np.testing.assert_array_equal(low, [1, 1, 2, 3])
    np.testing.assert_array_equal(high, [2, 3, 4, 4])


def test_too_few_resamples_are_refused() -> None:
    for samples in (np.empty((0, 0)), np.ones((1, 2))):
        with pytest.raises(RankingError, match="fewer than two bootstrap resamples"):
            separated(np.ones(2), samples, LEVEL)


def test_fewer_may_be_first_than_have_rank_one_in_their_set() -> None:
    """Comparisons with one model need less evidence than comparisons of all; the best model is kept as promised."""
    rng = np.random.default_rng(2)
    truth, lost, fewer = np.array([1.0, 0.7, 0.4, 0.0, 0.0, 0.0]), 0, 0
    for _ in range(300):
        estimate = truth + 0.3 * rng.standard_normal(6)
        margins = resampled_margins(estimate, estimate + 0.3 * rng.standard_normal((300, 6)), LEVEL)
        possible, by_sets = margins.may_be_first(estimate), rank_sets(margins.separated(estimate))[0] == 1
        assert possible[estimate.argmax()]
        assert not (possible & ~by_sets).any()
        lost += not possible[0]
        fewer += possible.sum() < by_sets.sum()
    assert lost / 300 <= 1 - LEVEL + 0.03
    assert fewer > 30


@pytest.mark.parametrize("models", [2, 3, 8])
def test_bars_overlap_where_models_are_not_separated(models: int) -> None:
    rng = np.random.default_rng(models)
    strengths, own = rng.normal(size=models), rng.uniform(0.5, 2, models)
    margins = own[:, None] + own  # exactly what bars can show
    half = comparison_bars(strengths, margins)
    apart = strengths[:, None] - half[:, None] > strengths + half
    np.testing.assert_array_equal(apart, Margins(margins, margins).separated(strengths))


@given(st.integers(0, 10_000), st.integers(2, 9))
def test_models_whose_bars_do_not_overlap_are_separated(seed: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    strengths, margins = rng.normal(size=models), rng.exponential(size=(models, models))
    margins = np.where(margins > 3, np.inf, margins)
    margins = np.maximum(margins, margins.T)
    half = comparison_bars(strengths, margins)
    apart = strengths[:, None] - half[:, None] > strengths + half + 1e-9
    assert not (apart & ~Margins(margins, margins).separated(strengths)).any()
    assert np.isfinite(half).all()


def test_bars_that_never_separate_just_touch() -> None:
    half = comparison_bars(np.array([3.0, 1.0]), np.full((2, 2), np.inf))
    np.testing.assert_allclose(half, [1, 1])


def test_of_two_models_the_first_needs_as_much_as_a_separation() -> None:
    """Either of two equal models could be ruled out by the other, so one-sided margins would err twice as often."""
    samples = np.random.default_rng(0).standard_normal((500, 2))
    two = resampled_margins(np.zeros(2), samples, 0.95)
    np.testing.assert_array_equal(two.first, two.pairs)
    by_formula = Errors(np.ones((2, 2)), np.full((2, 2), 5.0)).margins(0.95)
    np.testing.assert_array_equal(by_formula.first, by_formula.pairs)
    three = Errors(np.ones((3, 3)), np.full((3, 3), 5.0)).margins(0.95)
    assert (three.first < three.pairs).all()


@pytest.mark.parametrize(("items", "is_separated"), [(3, False), (5, False), (6, True), (9, True)])
def test_a_handful_of_items_separates_nothing(items: int, is_separated: bool) -> None:
    zeros, won = np.zeros(items, np.int64), np.ones(items, bool)
    outcomes = Outcomes(zeros, zeros + 1, np.arange(items), np.arange(items) + 1, won, ~won)
    found = rank(outcomes, ["a", "b"])
    assert (found.words[0] == "a is first.") == is_separated
