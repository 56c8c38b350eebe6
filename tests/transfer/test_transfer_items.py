"""Chance in drawing the items that all models share: its effect on a line, and what may be said about the slope."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import ndtr

from dissensus.transfer.difficulty import difficulty_of
from dissensus.transfer.findings import Side, TwoSets, result_of
from dissensus.transfer.fits import Scale, fitted, scaled
from dissensus.transfer.items import Items, counted_items, item_errors, nested_covariance

FAR = 1.959964


def answers(probits: np.ndarray, items: int, rng: np.random.Generator, alike: float = 0.6) -> np.ndarray:
    """Models that share items of normal difficulties, on which their accuracies are Φ(probits)."""
    tau = alike**0.5 * rng.normal(size=items)
    drawn: np.ndarray = rng.random((len(probits), items)) < ndtr((probits[:, None] - tau) / (1 - alike) ** 0.5)
    return drawn


def predicted(right: np.ndarray) -> Side:
    unknown = np.full(len(right), np.nan)
    return Side(right.mean(axis=1), np.full(len(right), right.shape[1]), unknown, unknown, right)


def two(original: Side, new: Side) -> TwoSets:
    names = tuple(map(str, range(len(original.accuracy))))
    return TwoSets(names, names, original, new)


def slope_and_harder(scale: Scale, original: np.ndarray, new: np.ndarray) -> np.ndarray:
    slope, offset = np.polyfit(scaled(scale, original), scaled(scale, new), 1)
    return np.array([slope, -offset / slope])


@pytest.mark.parametrize("scale", ["linear", "probit"])
def test_errors_agree_with_a_bootstrap_over_items(scale: Scale) -> None:
    rng = np.random.default_rng(0)
    probits = np.linspace(0.8, 1.8, 12)
    right, new = answers(probits, 3000, rng), answers(0.9 * probits - 0.2, 1500, rng)
    drawn = []
    for _ in range(1500):
        one, other = rng.integers(3000, size=3000), rng.integers(1500, size=1500)
        drawn.append(slope_and_harder(scale, right[:, one].mean(axis=1), new[:, other].mean(axis=1)))
    found = item_errors(scale, right.mean(axis=1), new.mean(axis=1), counted_items(right, new), 0.95)
    assert (found.slope, found.harder) == pytest.approx(tuple(FAR * np.std(drawn, axis=0)), rel=0.08)


def test_nested_answers_have_nested_covariances() -> None:
    right = np.arange(200) < np.array([40, 120, 180])[:, None]
    accuracy = right.mean(axis=1)
    found = nested_covariance(accuracy, np.sqrt(accuracy * (1 - accuracy) / 200))
    assert found == pytest.approx(counted_items(right, right).original)


def test_reliability_is_the_share_of_the_variance_that_is_not_chance() -> None:
    rng = np.random.default_rng(1)
    accuracy = rng.normal(0.8, 0.02, 1500)
    seen = rng.binomial(1000, accuracy) / 1000
    noise = np.diag(accuracy * (1 - accuracy) / 1000)
    found = item_errors("linear", seen, seen, Items(noise, noise), 0.95)
    assert found.reliability == pytest.approx(accuracy.var() / seen.var(), abs=0.05)


def test_slopes_are_covered_although_models_share_items() -> None:
    """30 models on 10,000 and 2,000 items: samples of the models alone cover about five times out of six."""
    rng = np.random.default_rng(2)
    alone, with_items, harder = [], [], []
    for run in range(120):
        probits = rng.normal(1.6, 0.3, 30)
        sides = (
            predicted(answers(probits, 10_000, rng)),
            predicted(answers(probits + rng.normal(0, 0.03, 30), 2_000, rng)),
        )
        result = result_of(two(*sides), resamples=500, seed=run)
        fit, difficulty = result.fits[0], result.difficulty
        assert fit.slope_low_with_items is not None
        assert fit.slope_high_with_items is not None
        alone.append(fit.slope_low <= 1 <= fit.slope_high)
        with_items.append(fit.slope_low_with_items <= 1 <= fit.slope_high_with_items)
        assert difficulty is not None
        harder.append(difficulty.harder_low <= 0 <= difficulty.harder_high)
    assert np.mean(alone) < 0.9
    assert np.mean(with_items) > 0.94
    assert np.mean(harder) > 0.94


@pytest.mark.parametrize("has_predictions", [True, False])
def test_models_that_hardly_differ_do_not_show_diminishing_returns(has_predictions: bool) -> None:
    """Chance in the original accuracies pulls the slope towards zero; with these models, from 1 to 0.75."""
    rng = np.random.default_rng(3)
    slopes, said = [], []
    for run in range(60):
        probits = rng.normal(1.3, 0.08, 30)
        sides = [predicted(answers(probits, 1000, rng)) for _ in range(2)]
        if not has_predictions:
            sides = [replace(one, right=None) for one in sides]
        result = result_of(two(*sides), resamples=500, seed=run)
        slopes.append(result.fits[0].slope)
        said.append(result.gaps.returns)
        assert any("differ so little" in note for note in result.notes)
    assert np.mean(slopes) < 0.85
    assert said.count("diminishing") <= 3


def test_tables_with_intervals_have_errors_like_tables_with_counts() -> None:
    rng = np.random.default_rng(4)
    right, new = (answers(np.linspace(1, 2, 12), items, rng) for items in (4000, 1000))
    counted = [replace(predicted(one), right=None) for one in (right, new)]
    halves = [FAR * np.sqrt(one.accuracy * (1 - one.accuracy) / one.count) for one in counted]
    given = [
        replace(one, count=np.zeros(12, int), low=one.accuracy - half, high=one.accuracy + half)
        for one, half in zip(counted, halves, strict=True)
    ]
    fits = [result_of(two(*sides), resamples=500).fits[0] for sides in (counted, given)]
    assert fits[0].slope_high_with_items == pytest.approx(fits[1].slope_high_with_items)
    assert fits[0].slope_low_with_items == pytest.approx(fits[1].slope_low_with_items)


def test_without_counts_the_words_say_that_items_are_left_out() -> None:
    unknown = np.full(12, np.nan)
    accuracy = np.linspace(0.6, 0.9, 12)
    sides = [Side(one, np.zeros(12, int), unknown, unknown) for one in (accuracy, accuracy - 0.05)]
    result = result_of(two(*sides), resamples=500)
    assert result.fits[0].slope_low_with_items is None
    assert result.difficulty is not None
    assert "numbers of items are unknown" in result.difficulty.words
    assert "other items" not in result.words[1]


def test_a_line_without_item_errors_has_the_difficulty_of_its_samples() -> None:
    accuracy = np.linspace(0.6, 0.9, 12)
    rng = np.random.default_rng(5)
    line = fitted(accuracy, accuracy - 0.05 + rng.normal(0, 0.01, 12), resamples=500).lines[1]
    low, high = difficulty_of(line).harder_ends
    wide = difficulty_of(replace(line, item_errors=item_errors(
        "probit", accuracy, accuracy - 0.05, Items(np.eye(12) * 1e-4, np.eye(12) * 1e-4), 0.95
    ))).harder_ends  # fmt: skip
    assert wide[0] < low < high < wide[1]
