from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.ranking import perron

MODELS = 6
seeds = st.integers(0, 2**32 - 1)


def reciprocal(rng: np.random.Generator, models: int = MODELS) -> np.ndarray:
    upper = np.triu(rng.normal(size=(models, models)), 1)
    return np.exp(upper - upper.T)


def everybody(models: int = MODELS) -> np.ndarray:
    return ~np.eye(models, dtype=bool)


def ring(models: int = MODELS) -> np.ndarray:
    step = np.roll(np.eye(models, dtype=bool), 1, axis=1)
    return step | step.T


@pytest.mark.parametrize("compared", [everybody(), ring()], ids=["all pairs", "ring"])
def test_consistent_dominance_gives_its_strengths_back(compared: np.ndarray) -> None:
    strengths = np.array([1.0, 20.0, 3.0, 400.0, 5.0, 0.06])
    dominance = np.where(compared, strengths[:, None] / strengths, np.nan)
    np.testing.assert_allclose(perron(dominance, compared), strengths / strengths.sum(), rtol=1e-11)


def test_long_chain_converges() -> None:
    compared = np.eye(60, k=1, dtype=bool) | np.eye(60, k=-1, dtype=bool)
    strengths = 1.3 ** np.arange(60)
    found = perron(strengths[:, None] / strengths, compared)
    np.testing.assert_allclose(found, strengths / strengths.sum(), rtol=1e-8)


@given(seeds)
def test_equals_a_dense_eigen_solver(seed: int) -> None:
    dominance = reciprocal(np.random.default_rng(seed))
    values, vectors = np.linalg.eig(dominance)
    vector = np.real(vectors[:, np.argmax(values.real)])
    np.testing.assert_allclose(perron(dominance, everybody()), vector / vector.sum(), rtol=1e-9)


@given(seeds)
def test_missing_pairs_equal_a_dense_eigen_solver_on_harkers_matrix(seed: int) -> None:
    dominance = reciprocal(np.random.default_rng(seed))
    harker = np.where(ring(), dominance, 0.0) + np.eye(MODELS) * (1 + MODELS - 3)
    values, vectors = np.linalg.eig(harker)
    vector = np.real(vectors[:, np.argmax(values.real)])
    np.testing.assert_allclose(perron(dominance, ring()), vector / vector.sum(), rtol=1e-9)


def test_equals_the_papers_average_of_powers() -> None:
    dominance = reciprocal(np.random.default_rng(1))
    power, average = np.ones(MODELS), np.zeros(MODELS)
    for _ in range(20_000):
        power = dominance @ power
        power /= power.sum()
        average += power / 20_000
    np.testing.assert_allclose(perron(dominance, everybody()), average, rtol=1e-3)


@given(seeds, st.permutations(range(MODELS)))
def test_renumbering_the_models_renumbers_the_strengths(seed: int, order: list[int]) -> None:
    dominance = reciprocal(np.random.default_rng(seed))
    renumbered = perron(dominance[np.ix_(order, order)], everybody())
    np.testing.assert_allclose(renumbered, perron(dominance, everybody())[order], rtol=1e-10)


def test_alone_a_model_has_all_strength() -> None:
    assert perron(np.ones((1, 1)), np.zeros((1, 1), dtype=bool)) == [1.0]


@pytest.mark.parametrize("entry", [0.0, -1.0, np.nan, np.inf])
def test_dominance_that_is_not_a_positive_number_is_refused(entry: float) -> None:
    dominance = np.ones((3, 3))
    dominance[0, 2] = entry
    with pytest.raises(RankingError, match="between model 0, model 2 is not a positive number"):
        perron(dominance, everybody(3))


def test_unconnected_groups_are_refused() -> None:
    compared = np.zeros((3, 3), dtype=bool)
    compared[0, 2] = compared[2, 0] = True
    with pytest.raises(RankingError, match="connects model 1 with model 0, model 2"):
        perron(np.ones((3, 3)), compared)
