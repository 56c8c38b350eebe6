from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.pairwise import performances, ratio_matrices
from dissensus.ranking import thurstone
from dissensus.records import Contests


def contests_of(rows: list[tuple[int, int, int, float, float]], weight: list[float] | None = None) -> Contests:
    """Rows of attacker, defender, category, and the scores of both."""
    table = np.array(rows, float).reshape(-1, 5)
    attacker, defender, category = table[:, :3].astype(int).T
    weights = np.ones(len(rows)) if weight is None else np.array(weight, float)
    return Contests(attacker, defender, category, np.arange(len(rows)), table[:, 3], table[:, 4], weights)


def simulated(seed: int, models: int = 4, categories: int = 5, k: int = 2, share: float = 0.8) -> Contests:
    rng = np.random.default_rng(seed)
    return contests_of(
        [
            (i, j, y, *rng.uniform(0, 1, 2))
            for i in range(models)
            for j in range(models)
            for y in range(1, categories + 1)
            for _ in range(k)
            if i != j and rng.random() < share
        ]
    )


def plain_performance(contests: Contests, scores: np.ndarray, attacker: int, defender: int) -> float:
    """Eq. 4 as it is printed, over the categories that have images."""
    rows = (contests.attacker == attacker) & (contests.defender == defender)
    means = [scores[rows & (contests.category == y)].mean() for y in np.unique(contests.category[rows])]
    return float(np.mean(means))


def test_by_hand() -> None:
    # 0 attacks 1: category 1 has two images, category 2 has one; 1 attacks 0 with one image
    rows = [(0, 1, 1, 0.9, 0.1), (0, 1, 1, 0.7, 0.3), (0, 1, 2, 0.4, 0.6), (1, 0, 1, 0.2, 0.5)]
    found = ratio_matrices(contests_of(rows), 3, 0.1)
    ours, theirs = (0.8 + 0.4) / 2, (0.2 + 0.6) / 2
    a_01, a_10 = (ours + 0.1) / (theirs + 0.1), 0.3 / 0.6
    np.testing.assert_allclose(found.aggressiveness, [[1, a_01, 0], [a_10, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(found.resistance, [[1, 1 / a_10, 0], [1 / a_01, 1, 0], [0, 0, 1]])
    assert found.attacked.tolist() == [[False, True, False], [True, False, False], [False] * 3]
    assert found.defended.tolist() == found.attacked.T.tolist()


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01, 0.5]))
def test_every_entry_is_that_of_the_equations(seed: int, smoothing: float) -> None:
    contests = simulated(seed)
    found = ratio_matrices(contests, 4, smoothing)
    for i in range(4):
        for j in range(4):
            judged = bool(((contests.attacker == i) & (contests.defender == j)).any())
            assert found.attacked[i, j] == found.defended[j, i] == judged
            if judged:
                ours = plain_performance(contests, contests.attacker_score, i, j) + smoothing
                theirs = plain_performance(contests, contests.defender_score, i, j) + smoothing
                assert found.aggressiveness[i, j] == pytest.approx(ours / theirs)
                assert found.resistance[j, i] == pytest.approx(theirs / ours)
    assert (np.diag(found.aggressiveness) == 1).all()
    assert (np.diag(found.resistance) == 1).all()


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.01]), st.integers(2, 5))
def test_resistance_is_one_over_aggressiveness_and_both_see_the_same_shares(
    seed: int, smoothing: float, models: int
) -> None:
    found = ratio_matrices(simulated(seed, models, share=1.0), models, smoothing)
    a, r = found.aggressiveness, found.resistance
    np.testing.assert_allclose(r, 1 / a.T, rtol=1e-14)
    np.testing.assert_allclose(a / (a + a.T), r / (r + r.T), rtol=1e-12)
    # what differs is how much a pair of models weighs
    np.testing.assert_allclose((r + r.T) / (a + a.T), 1 / (a * a.T), rtol=1e-12)
    if models == 2:
        np.testing.assert_allclose(thurstone(a), thurstone(r), atol=1e-9)


def test_with_three_models_the_two_orders_may_differ() -> None:
    contests = simulated(2, 3, categories=1, k=1, share=1.0)
    found = ratio_matrices(contests, 3, 0.01)
    assert np.abs(thurstone(found.aggressiveness) - thurstone(found.resistance)).max() > 0.01


@given(st.integers(0, 10_000))
def test_a_weight_of_zero_is_a_row_that_is_not_there_and_all_weights_may_be_scaled(seed: int) -> None:
    contests = simulated(seed)
    rng = np.random.default_rng(seed)
    left = rng.random(len(contests)) < 0.6
    without = ratio_matrices(replace(contests, weight=left.astype(float)), 4, 0.01)
    alone = ratio_matrices(contests.take(left), 4, 0.01)
    for name in ("aggressiveness", "resistance", "attacked", "defended"):
        np.testing.assert_allclose(getattr(without, name), getattr(alone, name))
    weight = rng.exponential(size=len(contests))
    one, other = (ratio_matrices(replace(contests, weight=w), 4, 0.01) for w in (weight, 7 * weight))
    np.testing.assert_allclose(one.aggressiveness, other.aggressiveness)


def test_weights_multiply_what_equation_4_gives_an_image() -> None:
    rows = [(0, 1, 1, 0.9, 0.1), (0, 1, 1, 0.7, 0.1), (0, 1, 2, 0.4, 0.1)]
    ours, _, _ = performances(contests_of(rows, [2, 1, 3]), 2)
    # shares of the three images in P: a quarter, a quarter and a half
    assert ours[0, 1] == pytest.approx((2 * 0.9 / 4 + 0.7 / 4 + 3 * 0.4 / 2) / (2 / 4 + 1 / 4 + 3 / 2))


def test_a_category_of_one_image_varies_too() -> None:
    rows = [(0, 1, 1, 0.9, 0.1), (0, 1, 2, 0.3, 0.1)]
    heavy, light = (performances(contests_of(rows, weight), 2)[0][0, 1] for weight in ([9, 1], [1, 9]))
    assert (heavy, light) == pytest.approx((0.84, 0.36))


def test_ratios_without_a_bound_are_said_and_smoothing_helps() -> None:
    failed = contests_of([(0, 1, 1, 0.5, 0.0)])
    with pytest.raises(RankingError, match=r"model 1 agrees with people on no image that model 0 selected .* above 0"):
        ratio_matrices(failed, 2, 0.0)
    with pytest.raises(RankingError, match="model 0 agrees with people on no image that model 0 selected"):
        ratio_matrices(contests_of([(0, 1, 1, 0.0, 0.5)]), 2, 0.0)
    assert ratio_matrices(failed, 2, 0.01).aggressiveness[0, 1] == pytest.approx(0.51 / 0.01)
    nothing = contests_of([(0, 1, 1, 0.0, 0.0)])
    assert ratio_matrices(nothing, 2, 0.01).aggressiveness[0, 1] == 1


def test_no_contests() -> None:
    found = ratio_matrices(contests_of([]), 3, 0.0)
    assert found.aggressiveness.tolist() == np.eye(3).tolist()
    assert not found.attacked.any()
