"""Intervals of accuracies and drops: closed forms, independent references, degenerate cases and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtr

from dissensus.proportions import clopper_pearson, newcombe
from dissensus.transfer.intervals import drop_differences, mean_drop
from dissensus.transfer.ranks import ranks


def test_differences_of_drops_by_hand_and_in_any_order() -> None:
    rng = np.random.default_rng(0)
    right, new = rng.random((3, 400)) < 0.8, rng.random((3, 150)) < 0.6
    pairs, value, (low, high) = drop_differences(right, new)
    drops = right.mean(axis=1) - new.mean(axis=1)
    assert value == pytest.approx(drops[pairs[:, 0]] - drops[pairs[:, 1]])
    assert ((low < value) & (value < high)).all()
    _, turned, (turned_low, turned_high) = drop_differences(right[::-1], new[::-1])
    assert turned == pytest.approx(-value[::-1])
    assert turned_low == pytest.approx(-high[::-1])
    assert turned_high == pytest.approx(-low[::-1])


def test_the_same_model_twice_drops_alike() -> None:
    right = np.ones((2, 50), bool)
    _, value, (low, high) = drop_differences(right, right[:, :20])
    assert value[0] == 0
    assert low[0] < 0 < high[0]


def test_differences_of_drops_against_a_bootstrap_over_items() -> None:
    rng = np.random.default_rng(1)
    tau = rng.normal(0, 1, 3000), rng.normal(0.5, 1, 1000)
    right, new = (rng.random((2, len(one))) < (1 / (1 + np.exp(one - np.array([[1.0], [2.0]])))) for one in tau)
    _, _, (low, high) = drop_differences(right, new)
    drawn = []
    for _ in range(3000):
        one, other = rng.integers(3000, size=3000), rng.integers(1000, size=1000)
        drops = right[:, one].mean(axis=1) - new[:, other].mean(axis=1)
        drawn.append(drops[0] - drops[1])
    assert (low[0], high[0]) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.003)


def test_intervals_of_drops_cover() -> None:
    rng = np.random.default_rng(2)
    many = 20_000
    for right, new_right in ((0.93, 0.85), (0.995, 0.98), (0.5, 0.5)):
        hits, new_hits = rng.binomial(1000, right, many), rng.binomial(200, new_right, many)
        low, high = newcombe(hits, np.full(many, 1000), new_hits, np.full(many, 200))
        assert 0.94 <= ((low <= right - new_right) & (right - new_right <= high)).mean() <= 0.98
        low, high = clopper_pearson(new_hits, np.full(many, 200))
        assert ((low <= new_right) & (new_right <= high)).mean() >= 0.95


def test_mean_drop_of_one_model_is_its_drop() -> None:
    """Newcombe's interval, as models that are right on the same items are one model as far as items go."""
    right, new = np.array([[True] * 95 + [False] * 5]), np.array([[True] * 40 + [False] * 10])
    low, high = newcombe(np.array([95]), np.array([100]), np.array([40]), np.array([50]))
    for models in (1, 5):
        assert mean_drop(np.repeat(right, models, 0), np.repeat(new, models, 0)) == pytest.approx((low[0], high[0]))


def test_mean_drop_is_over_items() -> None:
    """With many items, the interval is the normal one of the items' mean correctness."""
    rng = np.random.default_rng(5)
    tau = rng.normal(0, 1, (2, 1, 20_000))
    right, new = rng.random((2, 6, 20_000)) < 1 / (1 + np.exp(tau - 1))
    shares = right.mean(axis=0), new.mean(axis=0)
    half = 1.959964 * sum(one.var() / 20_000 for one in shares) ** 0.5
    value = shares[0].mean() - shares[1].mean()
    assert mean_drop(right, new) == pytest.approx((value - half, value + half), abs=5e-5)


def test_mean_drop_of_models_that_are_always_right_is_not_certain() -> None:
    low, high = mean_drop(np.ones((3, 100), bool), np.ones((3, 40), bool))
    assert low < -0.02
    assert high > 0.05


def test_mean_drops_close_to_one_are_covered() -> None:
    """Three models near 99 %, 1,000 and 100 items that all of them share; a normal interval covers 90 %."""
    rng = np.random.default_rng(6)
    probits = np.array([2.0, 2.3, 2.6])[:, None]
    true = float((ndtr(probits) - ndtr(probits - 0.1)).mean())
    covered = []
    for _ in range(600):
        drawn = [
            rng.random((3, items)) < ndtr((at - 0.6**0.5 * rng.normal(size=items)) / 0.4**0.5)
            for at, items in ((probits, 1000), (probits - 0.1, 100))
        ]
        low, high = mean_drop(*drawn)
        covered.append(low <= true <= high)
    assert np.mean(covered) >= 0.94


def test_models_with_the_same_accuracy_share_the_best_rank() -> None:
    original, new = np.array([0.9, 0.8, 0.8, 0.5]), np.array([0.6, 0.7, 0.5, 0.5])
    assert ranks(original).tolist() == [1, 2, 2, 4]
    assert ranks(new).tolist() == [2, 1, 3, 3]
