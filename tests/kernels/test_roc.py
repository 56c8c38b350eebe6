"""The area under the ROC curve: against counting, scikit-learn and the jackknife; intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr
from scipy.stats import t as student
from sklearn.metrics import roc_auc_score

from dissensus.errors import KernelError
from dissensus.kernels.roc import auc, auc_difference

ITEMS = st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=30).filter(
    lambda items: len({truth for _, truth in items}) == 2
)


@given(items=ITEMS)
def test_ties_count_half(items: list[tuple[int, bool]]) -> None:
    scores, truth = np.array([s for s, _ in items], float), np.array([t for _, t in items])
    wins = [(a > b) + 0.5 * (a == b) for a in scores[truth] for b in scores[~truth]]
    found = auc(scores, truth)
    assert found.value == pytest.approx(np.mean(wins))
    assert found.value == pytest.approx(roc_auc_score(truth, scores))
    assert 0 <= found.low <= found.value + 1e-12
    assert found.value - 1e-12 <= found.high <= 1
    assert auc(-scores, truth).value == pytest.approx(1 - found.value)
    assert auc(np.exp(scores), truth) == found


def test_the_variance_is_that_of_the_jackknife_over_each_class() -> None:
    """DeLong's variance is the jackknife's (Sen, 1960), for a difference of areas as for one area."""
    random = np.random.default_rng(1)
    truth = np.arange(60) < 25
    first, second = (truth + random.normal(size=60) for _ in range(2))
    parts = []
    for members in (np.flatnonzero(truth), np.flatnonzero(~truth)):
        left_out = [
            np.subtract(*(roc_auc_score(np.delete(truth, i), np.delete(scores, i)) for scores in (first, second)))
            for i in members
        ]
        count = len(members)
        parts.append((count - 1) / count * np.sum((left_out - np.mean(left_out)) ** 2))
    found = auc_difference(first, second, truth)
    degrees = sum(parts) ** 2 / (parts[0] ** 2 / 24 + parts[1] ** 2 / 34)  # Satterthwaite's
    assert found.high - found.value == pytest.approx(student.ppf(0.975, degrees) * np.sqrt(sum(parts)), rel=1e-9)
    assert found.value == pytest.approx(roc_auc_score(truth, first) - roc_auc_score(truth, second))


@pytest.mark.parametrize(
    ("positives", "negatives", "least", "most"),
    [(50, 70, 0.91, 0.99), (1, 60, 0.95, 1), (2, 60, 0.83, 1), (5, 60, 0.9, 1), (60, 1, 0.95, 1)],
)
def test_intervals_cover_the_true_area(positives: int, negatives: int, least: float, most: float) -> None:
    """With normal quantiles, and nothing for a single item, it would be 0.4 for one positive and 0.8 for two."""
    random = np.random.default_rng(2)
    count = positives + negatives
    truth = np.arange(count) < positives
    true = float(ndtr(1.2 / np.sqrt(2)))
    covered = 0
    for _ in range(400):
        found = auc(1.2 * truth + random.normal(size=count), truth)
        covered += found.low <= true <= found.high
    assert least <= covered / 400 <= most


def test_two_perfect_orders_may_still_differ() -> None:
    truth = np.arange(12) < 6
    found = auc_difference(truth + np.linspace(0, 0.1, 12), truth.astype(float), truth)
    assert found.value == 0
    assert found.low < -0.2
    assert found.high > 0.2
    single = np.arange(12) < 1
    scores = np.stack([np.arange(12), -np.arange(12)])
    for is_positive in (single, np.arange(12) < 2):
        ends = auc_difference(scores[0], scores[1], is_positive)
        assert ends.high - ends.low > 0.5
        assert -1 <= ends.low <= ends.value <= ends.high <= 1


def test_perfect_constant_and_single_scores_have_intervals_too() -> None:
    truth = np.arange(20) < 10
    perfect, flat = auc(truth.astype(float), truth), auc(np.zeros(20), truth)
    assert (perfect.value, perfect.high) == (1, 1)
    assert 0.6 < perfect.low < 0.8
    assert flat.value == 0.5
    assert flat.low < 0.25
    assert flat.high > 0.75
    single = auc(np.array([1.0, 0.0]), np.array([True, False]))
    assert (single.value, single.high) == (1, 1)
    assert single.low < 0.1
    same = auc_difference(np.zeros(20), np.zeros(20), truth)
    assert (same.value, same.low, same.high) == (0, 0, 0)


@pytest.mark.parametrize(
    ("scores", "truth", "message"),
    [
        ([1, 2], [True, True], "all 2 items are positive"),
        ([1, 2], [False, False], "all 2 items are negative"),
        ([1, np.nan], [True, False], "a score is not a number"),
    ],
)
def test_what_has_no_area_is_said_in_words(scores: list[float], truth: list[bool], message: str) -> None:
    with pytest.raises(KernelError, match=message):
        auc(np.array(scores, float), np.array(truth))
