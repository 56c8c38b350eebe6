from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.ranking import cyclic_share, hodgerank

MODELS = 5
seeds = st.integers(0, 2**32 - 1)


def random_duels(seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    flow = np.triu(rng.normal(size=(MODELS, MODELS)), 1)
    weights = np.triu(rng.integers(0, 4, size=(MODELS, MODELS)), 1).astype(float)
    weights += np.eye(MODELS, k=1)  # a chain keeps all models connected
    return flow - flow.T, weights + weights.T


def least_squares(flow: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, float]:
    """Strengths and cyclic share from the explicit incidence matrix, one row per pair."""
    first, second = np.triu_indices(MODELS, 1)
    root = np.sqrt(weights[first, second])
    incidence = root[:, None] * (np.eye(MODELS)[first] - np.eye(MODELS)[second])
    target = root * flow[first, second]
    strengths = np.linalg.lstsq(incidence, target)[0]
    return strengths, ((incidence @ strengths - target) ** 2).sum() / (target**2).sum()


@given(seeds)
def test_equals_least_squares_on_the_incidence_matrix(seed: int) -> None:
    flow, weights = random_duels(seed)
    strengths, share = least_squares(flow, weights)
    np.testing.assert_allclose(hodgerank(flow, weights), strengths, atol=1e-10)
    assert cyclic_share(flow, weights) == pytest.approx(share, abs=1e-10)


@given(seeds)
def test_a_gradient_gives_its_strengths_back_and_has_no_circles(seed: int) -> None:
    strengths = np.random.default_rng(seed).normal(size=MODELS)
    _, weights = random_duels(seed)
    flow = strengths[:, None] - strengths
    np.testing.assert_allclose(hodgerank(flow, weights), strengths - strengths.mean(), atol=1e-10)
    assert cyclic_share(flow, weights) < 1e-12


def test_rock_paper_scissors_is_nothing_but_circles() -> None:
    flow = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0.0]])
    weights = 1.0 - np.eye(3)
    np.testing.assert_allclose(hodgerank(flow, weights), 0, atol=1e-15)
    assert cyclic_share(flow, weights) == pytest.approx(1)


@given(seeds, st.permutations(range(MODELS)), st.floats(1e-3, 1e3))
def test_renumbering_renumbers_and_the_scale_of_weights_does_not_matter(
    seed: int, order: list[int], scale: float
) -> None:
    flow, weights = random_duels(seed)
    take = np.ix_(order, order)
    np.testing.assert_allclose(hodgerank(flow[take], scale * weights[take]), hodgerank(flow, weights)[order], atol=1e-9)
    assert cyclic_share(flow, scale * weights) == pytest.approx(cyclic_share(flow, weights), abs=1e-9)


def test_flow_without_weight_is_not_read() -> None:
    flow, weights = random_duels(0)
    weights[0, 2] = weights[2, 0] = 0
    hidden = flow.copy()
    hidden[0, 2], hidden[2, 0] = np.inf, np.nan
    np.testing.assert_array_equal(hodgerank(hidden, weights), hodgerank(flow, weights))


def test_no_flow_at_all_is_a_perfect_order_of_equals() -> None:
    weights = 1.0 - np.eye(3)
    np.testing.assert_array_equal(hodgerank(np.zeros((3, 3)), weights), 0)
    assert cyclic_share(np.zeros((3, 3)), weights) == 0


def test_infinite_flow_and_unconnected_groups_are_refused() -> None:
    flow, weights = random_duels(0)
    flow[0, 1] = np.inf
    with pytest.raises(RankingError, match="model 0, model 1 is not finite"):
        hodgerank(flow, weights)
    with pytest.raises(RankingError, match="no judged item connects"):
        hodgerank(np.zeros((2, 2)), np.zeros((2, 2)))
