"""Accuracies, against closed forms and against drawing from the posterior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.linalg import cho_solve
from scipy.stats import norm
from small_pools import Pool, simulated, with_gaps

from dissensus.planning.accuracy import Accuracies, accuracies
from dissensus.planning.belief import Belief, believe, regressors
from dissensus.planning.cases import Cases

pytestmark = pytest.mark.filterwarnings("error")


def half_asked(pool: Pool, is_exclusive: bool) -> tuple[Belief, np.ndarray, np.ndarray]:
    """A belief after half of the items of every question, the answers, and how many items are left for each case."""
    cases = pool.cases
    given = regressors(cases, is_exclusive)
    items = cases.items[cases.pattern]
    asked = items // 2
    right = np.array(
        [
            pool.recorded.right[first : first + count].sum()
            for first, count in zip(pool.recorded.start, asked, strict=True)
        ]
    )
    return believe(given, right, asked[given.start]), right, items - asked


def simulated_totals(
    cases: Cases, belief: Belief, right: np.ndarray, left: np.ndarray, runs: int, seed: int
) -> np.ndarray:
    """Totals drawn from the posterior: a spread, weights, then the label of every item that is left."""
    rng = np.random.default_rng(seed)
    given = belief.regressors
    found = np.empty((runs, cases.models))
    for run in range(runs):
        spread = rng.choice(len(belief.evidence), p=belief.evidence)
        upper = np.triu(belief.factors[spread][0])
        weights = belief.weights[spread] + np.linalg.solve(upper, rng.normal(size=len(upper)))
        odds = np.exp(given.columns @ weights)
        total = right.astype(float)
        for question, first in enumerate(given.start):
            own = given.group == question
            outcomes = np.append(odds[own], 1.0)
            total[own] += rng.multinomial(left[first], outcomes / outcomes.sum())[:-1]
        found[run] = total @ cases.voters
    return found


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_mean_and_covariance_are_those_of_draws_from_the_posterior(is_exclusive: bool) -> None:
    pool = simulated("typical", 3, 4000, 20)
    belief, right, left = half_asked(pool, is_exclusive)
    found = accuracies(pool.cases, belief, right, left)
    drawn = simulated_totals(pool.cases, belief, right, left, 4000, 0) / pool.cases.pool
    spread = drawn.std(axis=0)
    np.testing.assert_allclose(found.mean, drawn.mean(axis=0), atol=0.1 * spread.max())
    np.testing.assert_allclose(found.covariance, np.cov(drawn.T), atol=0.08 * spread.max() ** 2)


def test_known_weights_leave_only_the_labels_uncertain() -> None:
    """Binomial and multinomial variances, if the posterior of the weights is a point."""
    pool = simulated("typical", 3, 500, 21)
    cases = pool.cases
    left = cases.items[cases.pattern]
    for is_exclusive in (False, True):
        given = regressors(cases, is_exclusive)
        belief = believe(given, np.zeros(len(cases), int), np.zeros(len(given.start), int))
        sure = tuple((factor * 1e6, lower) for factor, lower in belief.factors)
        belief = Belief(given, belief.right, belief.evidence, belief.weights, sure)
        found = accuracies(cases, belief, np.zeros(len(cases), int), left)
        chance = belief.probability
        wanted = np.zeros((3, 3))
        for one in range(len(cases)):
            for other in range(len(cases)):
                together = chance[one] * (one == other)
                if is_exclusive and cases.pattern[one] == cases.pattern[other]:
                    together -= chance[one] * chance[other]
                elif one == other:
                    together -= chance[one] ** 2
                wanted += left[one] * together * np.outer(cases.voters[one], cases.voters[other])
        np.testing.assert_allclose(found.covariance * 500**2, wanted, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found.mean * 500, (left * chance) @ cases.voters)


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_everything_asked_is_everything_known(is_exclusive: bool) -> None:
    pool = with_gaps(simulated("trap", 4, 300, 22), 0.1)
    cases = pool.cases
    given = regressors(cases, is_exclusive)
    right = np.add.reduceat(pool.recorded.right.astype(int), pool.recorded.start)
    belief = believe(given, right, cases.items[cases.pattern][given.start])
    found = accuracies(cases, belief, right, np.zeros(len(cases), int))
    np.testing.assert_allclose(found.mean, pool.accuracies, atol=1e-12)
    np.testing.assert_allclose(found.covariance, 0, atol=1e-15)
    np.testing.assert_allclose(found.best(), pool.accuracies == pool.accuracies.max())


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_gains_forecast_what_one_more_answer_moves(is_exclusive: bool) -> None:
    """Newton's step from the mode, to first order: ask once more, fit again, compare."""
    pool = simulated("typical", 3, 4000, 23)
    cases = pool.cases
    belief, right, left = half_asked(pool, is_exclusive)
    given = belief.regressors
    before = accuracies(cases, belief, right, left)
    asked = (cases.items[cases.pattern] - left)[given.start]
    assert belief.evidence.all()
    for spread in range(len(belief.evidence)):  # one spread at a time: their weights change, too
        alone = replace(given, precisions=given.precisions[[spread]], odds=np.ones(1))
        known = accuracies(cases, believe(alone, right, asked), right, left)
        chance = belief.right[spread]
        for question in range(len(given.start)):
            own = given.group == question
            if left[own][0] == 0:
                continue
            chosen = np.flatnonzero(own)[0]
            more, fewer, once = right.copy(), left.copy(), asked.copy()
            more[chosen] += 1
            fewer[own] -= 1
            once[question] += 1
            after = accuracies(cases, believe(alone, more, once), more, fewer)
            surprise = (np.arange(len(cases)) == chosen)[own] - chance[own]
            forecast = surprise @ before.gains[spread][own]
            np.testing.assert_allclose(after.mean - known.mean, forecast, atol=0.15 * np.abs(forecast).max() + 2e-6)


def test_the_best_of_two_is_a_normal_tail() -> None:
    covariance = np.array([[0.02, 0.005], [0.005, 0.03]]) ** 2 + np.diag([1e-4, 2e-4])
    known = Accuracies(np.array([0.6, 0.62]), covariance, ())
    gap = np.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    assert known.best(100_000)[1] == pytest.approx(norm.cdf(0.02 / gap), abs=0.005)


def test_models_that_are_surely_equal_share_being_the_best() -> None:
    known = Accuracies(np.array([0.5, 0.7, 0.7]), np.ones((3, 3)) * 1e-2, ())
    np.testing.assert_allclose(known.best(), [0, 0.5, 0.5])


def test_a_larger_pool_of_the_same_kind_is_the_same_but_for_its_own_labels() -> None:
    """Ten times as many items, nobody asked: the weights are as uncertain; the labels average out."""
    cases = simulated("typical", 3, 300, 24).cases
    many = Cases(cases.voters, cases.pattern, cases.vote, cases.items * 10, False)
    found = []
    for one in (cases, many):
        given = regressors(one, False)
        nothing = np.zeros(len(one), int)
        belief = believe(given, nothing, nothing)
        found.append(accuracies(one, belief, nothing, one.items[one.pattern]))
        slope = given.columns.T @ (one.voters * (0.25 * one.items[one.pattern])[:, None]) / one.pool
        by_spread = [slope.T @ cho_solve(factor, slope) for factor in belief.factors]
        shared = np.average(by_spread, axis=0, weights=given.odds)
        own = (one.voters.T * one.items[one.pattern]) @ one.voters * 0.25 / one.pool**2
        np.testing.assert_allclose(found[-1].covariance, shared + own, rtol=1e-9)
    np.testing.assert_allclose(found[0].mean, found[1].mean)
    assert (np.diag(found[1].covariance) < np.diag(found[0].covariance)).all()
