"""Intervals of accuracies and drops: closed forms, independent references, degenerate cases and coverage."""

from __future__ import annotations

import numpy as np
import pytest

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


def test_mean_drop_is_over_items() -> None:
    right = np.array([[True] * 60 + [False] * 40] * 5)
    low, high = mean_drop(right, ~right)
    half = 1.959964 * (2 * 0.24 / 99) ** 0.5
    assert (low, high) == pytest.approx((0.2 - half, 0.2 + half))


def test_models_with_the_same_accuracy_share_the_best_rank() -> None:
    original, new = np.array([0.9, 0.8, 0.8, 0.5]), np.array([0.6, 0.7, 0.5, 0.5])
    assert ranks(original).tolist() == [1, 2, 2, 4]
    assert ranks(new).tolist() == [2, 1, 3, 3]
