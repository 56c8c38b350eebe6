from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.ranking import ATTACK_RANKERS, named
from dissensus.ranking.quotients import credit_hodgerank, credit_perron

MODELS = 5
seeds = st.integers(0, 2**32 - 1)
quotients = pytest.mark.parametrize("method", ["hodgerank", "perron"])


def credited(seed: int, models: int = MODELS) -> np.ndarray:
    credits = np.random.default_rng(seed).random((models, models)) + 0.05
    np.fill_diagonal(credits, 0)
    return credits


def log_strengths(method: str, credits: np.ndarray) -> np.ndarray:
    ranker = ATTACK_RANKERS[method]
    found = ranker.comparable(ranker.strengths(credits))
    return found - found.mean(axis=-1, keepdims=True)


# -- closed forms and other implementations


@given(seeds)
@settings(max_examples=20)
def test_with_all_pairs_hodgerank_is_a_mean_of_logarithms(seed: int) -> None:
    credits = credited(seed) + np.eye(MODELS)
    np.testing.assert_allclose(credit_hodgerank(credits), np.log(credits / credits.T).mean(axis=1), atol=1e-10)


@given(seeds)
@settings(max_examples=20)
def test_with_all_pairs_perron_is_the_principal_eigenvector(seed: int) -> None:
    credits = credited(seed) + np.eye(MODELS)
    values, vectors = np.linalg.eig(credits / credits.T)
    principal = np.abs(vectors[:, values.real.argmax()].real)
    np.testing.assert_allclose(credit_perron(credits), principal / principal.sum(), rtol=1e-9)


@quotients
@given(seeds)
@settings(max_examples=20)
def test_consistent_quotients_give_back_the_strengths_whoever_never_met(method: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    strength, size = rng.normal(0, 1, MODELS), rng.uniform(1, 9, (MODELS, MODELS))
    credits = (size * size.T) * np.exp((strength[:, None] - strength) / 2)
    met = np.abs(np.subtract.outer(range(MODELS), range(MODELS))) <= 1 + seed % MODELS
    np.testing.assert_allclose(log_strengths(method, credits * met), strength - strength.mean(), atol=1e-8)


# -- properties of every method for attacks


@pytest.mark.parametrize("method", ATTACK_RANKERS)
@given(st.floats(1e-2, 1e2), st.floats(1e-2, 1e2))
@settings(max_examples=20)
def test_of_two_models_the_one_with_more_credit_is_ahead(method: str, one: float, other: float) -> None:
    first, second = log_strengths(method, np.array([[0, one], [other, 0]]))
    assert np.sign(first - second) == np.sign(one - other) or abs(one - other) < 1e-9 * one


@pytest.mark.parametrize("method", ATTACK_RANKERS)
@given(seeds, st.permutations(range(MODELS)), st.floats(1e-6, 1e6))
@settings(max_examples=20)
def test_neither_the_unit_nor_the_numbering_nor_the_diagonal_matters(
    method: str, seed: int, order: list[int], scale: float
) -> None:
    credits = credited(seed)
    found = log_strengths(method, credits)
    np.testing.assert_allclose(log_strengths(method, scale * credits[np.ix_(order, order)]), found[order], atol=1e-8)
    np.testing.assert_allclose(log_strengths(method, credits + np.eye(MODELS)), found, atol=1e-12)


@pytest.mark.parametrize("method", ATTACK_RANKERS)
def test_the_scale_of_differences(method: str) -> None:
    ranker = ATTACK_RANKERS[method]
    strengths = ranker.strengths(credited(1))
    assert strengths.sum() == pytest.approx(1 if ranker.logarithmic else 0)
    assert ranker.logarithmic == bool((strengths > 0).all())


@quotients
def test_leading_axes_stay_and_arguments_do_not_change(method: str) -> None:
    batch = np.stack([credited(seed) for seed in range(6)])
    before, rank = batch.copy(), ATTACK_RANKERS[method].strengths
    together = rank(batch)
    np.testing.assert_array_equal(before, batch)
    np.testing.assert_allclose(together, [rank(one) for one in batch], atol=1e-12)
    np.testing.assert_array_equal(rank(batch.reshape(2, 3, MODELS, MODELS)), together.reshape(2, 3, MODELS))
    assert rank(batch[:0]).shape == (0, MODELS)


@quotients
def test_every_pair_has_the_same_weight(method: str) -> None:
    credits, heavy = credited(2), np.ones((MODELS, MODELS))
    heavy[0, 1] = heavy[1, 0] = 1000.0
    np.testing.assert_allclose(log_strengths(method, heavy * credits), log_strengths(method, credits), atol=1e-10)
    assert np.abs(log_strengths("thurstone", heavy * credits) - log_strengths("thurstone", credits)).max() > 0.01


# -- estimates that do not exist


@quotients
@pytest.mark.parametrize(
    ("credits", "message"),
    [
        ([[0, 3], [0, 0]], "there is no evidence against model 0 in any comparison"),
        (
            [[0, 1, 0], [1, 0, 1], [1, 1, 0]],
            "no evidence favours model 0 over model 2, and this",
        ),
        ([[0, 2, 0], [1, 0, 0], [0, 0, 0]], "no judged item connects model 2 with model 0, model 1"),
        (np.zeros((2, 2)), "no judged item connects"),
        ([[0, -1], [1, 0]], "negative or not finite"),
        ([[0, np.nan], [1, 0]], "finite"),
    ],
    ids=["all the credit", "none against one", "unconnected", "nothing", "negative", "nan"],
)
def test_an_estimate_that_does_not_exist_is_refused(method: str, credits: list, message: str) -> None:
    with np.errstate(all="raise"), pytest.raises(RankingError, match=message) as raised:
        ATTACK_RANKERS[method].strengths(np.array(credits, dtype=float))
    assert "model 2" not in named(str(raised.value), ["one", "two", "three"])


def test_quotients_too_large_for_a_number_are_refused() -> None:
    with np.errstate(all="raise"), pytest.raises(RankingError, match="not a positive number"):
        credit_perron(np.array([[0, 1e300], [1e-300, 0]]))
    assert np.isfinite(credit_hodgerank(np.array([[0, 1e300], [1e-300, 0]]))).all()
