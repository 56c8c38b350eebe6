"""The belief, against other optimisers, numeric derivatives and brute-force integrals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import LogisticRegression
from small_pools import pool_of, simulated, with_gaps

from dissensus.planning.belief import SPREADS, SPREADS_OF_CLASSES, WIDE, Belief, Regressors, believe, regressors
from dissensus.planning.cases import FEATURES

pytestmark = pytest.mark.filterwarnings("error")


def answered(given: Regressors, seed: int, most: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Random answers: how often each case was right, how often each question was asked."""
    rng = np.random.default_rng(seed)
    asked = rng.integers(most + 1, size=len(given.start))
    right = np.zeros(len(given.group), np.int64)
    for question, first in enumerate(given.start):
        cases = np.flatnonzero(given.group == question)
        assert cases[0] == first
        for _ in range(asked[question]):
            chosen = rng.integers(len(cases) + 1)
            if chosen < len(cases):
                right[cases[chosen]] += 1
    return right, asked


def loss_of(
    given: Regressors, precision: np.ndarray, right: np.ndarray, asked: np.ndarray, weights: np.ndarray
) -> float:
    """The negative log of likelihood times prior, question by question: written from the definition."""
    found = 0.5 * float(precision @ weights**2)
    logits = given.columns @ weights
    for question, count in enumerate(asked):
        own = given.group == question
        total = np.log(1 + np.exp(logits[own]).sum())
        found += count * total - right[own] @ logits[own]
    return found


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_modes_are_those_of_another_optimiser(is_exclusive: bool) -> None:
    given = regressors(with_gaps(simulated("typical", 3, 200, 2), 0.1).cases, is_exclusive)
    right, asked = answered(given, 0)
    belief = believe(given, right, asked)
    for number, precision in enumerate(given.precisions):
        other = minimize(
            lambda w, precision=precision: loss_of(given, precision, right, asked, w),
            np.zeros(len(precision)),
            options={"gtol": 1e-8},
        )
        np.testing.assert_allclose(belief.weights[number], other.x, atol=2e-3)
        assert loss_of(given, precision, right, asked, belief.weights[number]) <= other.fun + 1e-6


def test_single_labels_are_scikit_learns_logistic_regression() -> None:
    given = regressors(simulated("trap", 5, 300, 3).cases, False)
    right, asked = answered(given, 1)
    belief = believe(given, right, asked)
    for number, precision in enumerate(given.precisions):
        rows = np.vstack([given.columns, given.columns]) / np.sqrt(precision)
        other = LogisticRegression(C=1.0, fit_intercept=False, tol=1e-10, max_iter=10_000)
        truth = np.repeat([1, 0], len(right))
        other.fit(rows, truth, sample_weight=np.append(right, asked - right))
        np.testing.assert_allclose(belief.weights[number] * np.sqrt(precision), other.coef_[0], atol=2e-3)


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_factors_are_those_of_the_numeric_hessian(is_exclusive: bool) -> None:
    given = regressors(simulated("typical", 3, 200, 4).cases, is_exclusive)
    right, asked = answered(given, 2)
    belief = believe(given, right, asked)
    for number, precision in enumerate(given.precisions):
        size, step = len(precision), 1e-3
        mode, near = belief.weights[number], np.eye(len(precision)) * step
        numeric = np.empty((size, size))
        for i in range(size):
            for j in range(size):
                corners = [
                    sign * other * loss_of(given, precision, right, asked, mode + sign * near[i] + other * near[j])
                    for sign in (1, -1)
                    for other in (1, -1)
                ]
                numeric[i, j] = sum(corners) / (4 * step**2)
        upper = np.triu(belief.factors[number][0])
        np.testing.assert_allclose(upper.T @ upper, numeric, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("is_exclusive", [False, True])
def test_evidence_is_nearly_the_integral(columns: int, is_exclusive: bool) -> None:
    """Laplace's approximation, where it is good: 40 questions with answers of one or two columns."""
    rng = np.random.default_rng(5)
    cases = 40
    group = np.arange(cases) // 2 if is_exclusive else np.arange(cases)
    precisions = np.tile([[0.25], [1.0], [9.0]], (1, columns))
    start = np.flatnonzero(np.diff(group, prepend=-1))
    given = Regressors(rng.normal(size=(cases, columns)), precisions, np.ones(3), start, group)
    right, asked = answered(given, 6)
    grid = np.linspace(-3, 3, 61)
    points = np.stack(np.meshgrid(*[grid] * columns), axis=-1).reshape(-1, columns)
    flat = np.array([loss_of(given, np.zeros(columns), right, asked, point) for point in points])
    integrals = [
        np.sum(np.exp(flat.min() - flat - 0.5 * points**2 @ precision)) * np.sqrt(np.prod(precision))
        for precision in precisions
    ]
    np.testing.assert_allclose(believe(given, right, asked).evidence, integrals / np.sum(integrals), atol=0.01)


def test_odds_multiply_the_evidence() -> None:
    given = regressors(simulated("typical", 3, 100, 11).cases, False)
    right, asked = answered(given, 7)
    even, odd = np.ones(len(SPREADS)), np.array([4.0, 1.0, 2.0, 1.0])
    found, plain = (believe(replace(given, odds=odds), right, asked).evidence for odds in (odd, even))
    np.testing.assert_allclose(found, odd * plain / (odd @ plain), atol=5e-3)


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_without_answers_labels_are_as_likely_as_none_and_spreads_as_their_odds(is_exclusive: bool) -> None:
    cases = simulated("typical", 4, 100, 7).cases
    given = regressors(cases, is_exclusive)
    belief = believe(given, np.zeros(len(cases), int), np.zeros(len(given.start), int))
    wanted = 1 / (1 + cases.labels) if is_exclusive else np.full(len(cases), 0.5)
    np.testing.assert_allclose(belief.probability, wanted)
    np.testing.assert_allclose(belief.evidence, given.odds / given.odds.sum())
    np.testing.assert_allclose(belief.weights, 0)


@pytest.mark.parametrize("is_exclusive", [False, True])
@pytest.mark.parametrize("answer", [0, 1])
def test_perfectly_separated_answers_stay_finite(is_exclusive: bool, answer: int) -> None:
    """All of 100,000 answers are for the first label of their item, or for none."""
    given = regressors(simulated("trap", 3, 100, 8).cases, is_exclusive)
    asked = np.full(len(given.start), 100_000)
    right = np.zeros(len(given.group), np.int64)
    right[given.start] = answer * 100_000
    belief = believe(given, right, asked)
    assert np.isfinite(belief.weights).all()
    assert ((belief.probability >= 0) & (belief.probability <= 1)).all()
    assert belief.evidence.sum() == pytest.approx(1)
    if is_exclusive:
        assert (np.add.reduceat(belief.probability, given.start) <= 1 + 1e-12).all()


def test_labels_that_exclude_each_other_share_one_probability() -> None:
    given = regressors(simulated("typical", 5, 300, 9).cases, True)
    belief = believe(given, *answered(given, 3))
    assert (np.add.reduceat(belief.probability, given.start) < 1).all()


def test_where_each_item_has_one_label_excluding_changes_nothing() -> None:
    gone = 65_535
    cases = pool_of(np.array([[0, gone, 0], [gone, 1, 0]]), np.array([0, 0, 0])).cases
    own, other = regressors(cases, True), regressors(cases, False)
    assert not own.is_exclusive
    right, asked = answered(own, 4)
    np.testing.assert_array_equal(believe(own, right, asked).probability, believe(other, right, asked).probability)


@pytest.mark.parametrize("is_exclusive", [False, True])
def test_the_result_does_not_depend_on_where_the_search_starts(is_exclusive: bool) -> None:
    given = regressors(simulated("trap", 5, 300, 10).cases, is_exclusive)
    first, second = answered(given, 5), answered(given, 6)
    afresh, onwards = believe(given, *second), believe(given, *second, believe(given, *first))
    np.testing.assert_allclose(onwards.probability, afresh.probability, atol=1e-3)
    np.testing.assert_allclose(onwards.evidence, afresh.evidence, atol=1e-3)


def test_answers_in_two_halves_count_as_much_as_at_once() -> None:
    """A pool in which every case is listed twice, each with half of the answers."""
    given = regressors(simulated("typical", 3, 100, 11).cases, False)
    right, asked = answered(given, 7)
    twice = Regressors(
        np.repeat(given.columns, 2, axis=0),
        given.precisions,
        given.odds,
        np.arange(2 * len(right)),
        np.arange(2 * len(right)),
    )
    found = believe(twice, np.repeat(right, 2), np.repeat(asked, 2))
    np.testing.assert_allclose(found.weights, believe(given, 2 * right, 2 * asked).weights, atol=1e-3)


def test_the_order_of_models_does_not_matter() -> None:
    pool = simulated("typical", 4, 150, 12, classes=5, is_named=True)
    beliefs: list[Belief] = []
    for order in ([0, 1, 2, 3], [2, 3, 1, 0]):
        cases = pool.cases
        turned = type(cases)(cases.voters[:, order], cases.pattern, cases.vote, cases.items, True)
        given = regressors(turned, True)
        beliefs.append(believe(given, *answered(given, 8)))
    np.testing.assert_allclose(beliefs[0].probability, beliefs[1].probability, atol=1e-3)


def test_classes_have_effects_only_if_they_are_few_and_named() -> None:
    few = simulated("typical", 3, 100, 13, classes=5, is_named=True).cases
    many = simulated("typical", 3, 100, 13, classes=50, is_named=True).cases
    unnamed = simulated("typical", 3, 100, 13, classes=5).cases
    assert len(regressors(few, False).precisions) == len(SPREADS_OF_CLASSES)
    own = len(FEATURES)
    assert regressors(few, False).columns.shape[1] > own + 3 + 5
    for cases in (many, unnamed):
        given = regressors(cases, False)
        assert given.precisions.shape == (len(SPREADS), own + 3)
        np.testing.assert_allclose(given.precisions[:, :own], WIDE**-2)
        np.testing.assert_allclose(given.precisions[:, own:], np.array(SPREADS)[:, [0, 0, 0]] ** -2.0)
