from __future__ import annotations

import choix
import evalica
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from dissensus.errors import RankingError
from dissensus.ranking import bradley_terry, connected_groups, davidson

MODELS = 5
seeds = st.integers(0, 2**32 - 1)


def played(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Wins both ways on a chain, so that the maximum exists, and anything elsewhere."""
    rng = np.random.default_rng(seed)
    wins = rng.integers(0, 6, size=(MODELS, MODELS)) + np.eye(MODELS, k=1) + np.eye(MODELS, k=-1)
    np.fill_diagonal(wins, 0)
    ties = np.triu(rng.integers(0, 5, size=(MODELS, MODELS)), 1)
    return wins.astype(float), (ties + ties.T).astype(float)


def minus_davidson_likelihood(point: np.ndarray, wins: np.ndarray, ties: np.ndarray) -> float:
    strength, nu = np.exp(point[:-1]), np.exp(point[-1])
    root = np.sqrt(np.outer(strength, strength))
    total = strength[:, None] + strength + nu * root
    return -(wins * np.log(strength[:, None] / total)).sum() - (np.triu(ties, 1) * np.log(nu * root / total)).sum()


def test_two_models_have_a_closed_form() -> None:
    np.testing.assert_allclose(bradley_terry(np.array([[0, 7.5], [2.5, 0]])), [np.log(3) / 2, -np.log(3) / 2])


def test_two_models_with_ties_have_a_closed_form() -> None:
    # Three free probabilities, two free parameters: p_1/p_2 = 8/2 and ν = 3/√(8·2).
    strengths, nu = davidson(np.array([[0, 8.0], [2, 0]]), np.array([[0, 3.0], [3, 0]]))
    np.testing.assert_allclose(strengths, [np.log(2), -np.log(2)])
    assert nu == pytest.approx(3 / 4)


@given(seeds)
@settings(max_examples=20)
def test_plain_equals_choix_and_evalica(seed: int) -> None:
    wins, _ = played(seed)
    ours = bradley_terry(wins)
    data = [(i, j) for i in range(MODELS) for j in range(MODELS) for _ in range(int(wins[i, j]))]
    np.testing.assert_allclose(ours, choix.opt_pairwise(MODELS, data, alpha=0, tol=1e-10), atol=1e-5)
    np.testing.assert_allclose(ours, choix.ilsr_pairwise(MODELS, data, tol=1e-10), atol=1e-6)
    theirs = evalica.bradley_terry(
        [i for i, _ in data], [j for _, j in data], [evalica.Winner.X] * len(data), tolerance=1e-12, limit=10_000
    ).scores.sort_index()
    np.testing.assert_allclose(ours, np.log(theirs) - np.log(theirs).mean(), atol=1e-8)


@given(seeds)
@settings(max_examples=20)
def test_davidson_equals_a_direct_likelihood_maximiser(seed: int) -> None:
    wins, ties = played(seed)
    strengths, nu = davidson(wins, ties)
    start = np.zeros(MODELS + 1)
    best = minimize(minus_davidson_likelihood, start, args=(wins, ties), method="BFGS", options={"gtol": 1e-7}).x
    np.testing.assert_allclose(strengths, best[:-1] - best[:-1].mean(), atol=1e-5)
    assert np.log(nu) == pytest.approx(best[-1], abs=1e-5)


@given(seeds, st.permutations(range(MODELS)), st.floats(1e-3, 1e3))
@settings(max_examples=30)
def test_renumbering_renumbers_and_the_scale_of_counts_does_not_matter(
    seed: int, order: list[int], scale: float
) -> None:
    wins, ties = played(seed)
    strengths, nu = davidson(wins, ties)
    take = np.ix_(order, order)
    again, nu_again = davidson(scale * wins[take], scale * ties[take])
    np.testing.assert_allclose(again, strengths[order], atol=1e-8)
    assert nu_again == pytest.approx(nu)
    turned, _ = davidson(wins.T, ties)
    np.testing.assert_allclose(turned, -strengths, atol=1e-8)


def test_without_ties_davidson_is_plain() -> None:
    wins, ties = played(3)
    strengths, nu = davidson(wins, 0 * ties)
    np.testing.assert_array_equal(strengths, bradley_terry(wins))
    assert nu == 0


def test_arguments_stay_as_they_are() -> None:
    wins, ties = played(4)
    before = wins.copy(), ties.copy()
    davidson(wins, ties)
    np.testing.assert_array_equal(before, (wins, ties))


def test_very_unequal_models_converge() -> None:
    wins = np.array([[0, 1e6, 0], [1, 0, 1e6], [0, 1e-3, 0]])
    expected = np.array([np.log(1e6), 0, np.log(1e-9)])
    np.testing.assert_allclose(bradley_terry(wins), expected - expected.mean(), rtol=1e-7)


def has_a_maximum(wins: np.ndarray, ties: np.ndarray) -> bool:
    """By linear programming: no direction (u, h) along which every observed outcome stays the likeliest or gains."""
    rows, h = [], np.eye(MODELS + 1)[-1]
    for i in range(MODELS):
        for j in range(MODELS):
            apart = np.eye(MODELS + 1)[i] - np.eye(MODELS + 1)[j]
            rows += [apart, apart - 2 * h] if wins[i, j] else []
            rows += [2 * h - apart, 2 * h + apart] if ties[i, j] else []
    slopes = np.array(rows)
    bounds = [(0, 0)] + [(-1, 1)] * MODELS
    return linprog(-slopes.sum(axis=0), A_ub=-slopes, b_ub=np.zeros(len(slopes)), bounds=bounds).fun > -1e-9


@given(seeds)
@settings(max_examples=60)
def test_raises_exactly_where_no_maximum_exists(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = (rng.random((MODELS, MODELS)) < 0.25) * 1.0
    np.fill_diagonal(wins, 0)
    ties = np.triu(rng.random((MODELS, MODELS)) < 0.3, 1) * 1.0
    ties[0, 1] = 1.0
    ties += ties.T
    try:
        davidson(wins, ties)
        raised = False
    except RankingError:
        raised = True
    if len(connected_groups(wins + wins.T + ties > 0)) == 1:
        assert raised != has_a_maximum(wins, ties)


@pytest.mark.parametrize(
    ("wins", "ties", "message"),
    [
        ([[0, 3], [0, 0]], [[0, 0], [0, 0]], "model 0 never lost to or tied with any"),
        ([[0, 1, 1], [1, 0, 1], [0, 0, 0]], np.zeros((3, 3)), "model 2 never won or tied against any"),
        ([[0, 2, 0], [1, 0, 0], [0, 0, 0]], np.zeros((3, 3)), "no judged item connects model 2 with model 0, model 1"),
        (np.zeros((2, 2)), [[0, 5], [5, 0]], "every comparison is a tie"),
        ([[0, 3], [0, 0]], [[0, 2], [2, 0]], "no win contradicts a single order"),
    ],
    ids=["never lost", "never won", "unconnected", "all ties", "never lost but tied"],
)
def test_an_estimate_that_does_not_exist_is_refused(wins: list, ties: list, message: str) -> None:
    with pytest.raises(RankingError, match=message):
        davidson(np.array(wins, dtype=float), np.array(ties, dtype=float))
