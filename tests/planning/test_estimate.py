"""The estimate from the draws: unbiased over every way they can go, and intervals that cover."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from enumeration import Enumeration
from scipy.stats import t as student
from small_pools import pool_of, simulated

from dissensus.arrays import MISSING
from dissensus.errors import PlanningError
from dissensus.planning.estimate import Ledger, differences, estimate
from dissensus.planning.planner import Planner
from dissensus.planning.replay import replay

pytestmark = pytest.mark.filterwarnings("error")


def tiny(is_whole: bool) -> tuple[Planner, list[np.ndarray], np.ndarray]:
    """A pool of four or five items, its answers question by question, and the accuracies."""
    labels = np.array([[0, 0, 0, 2, 3], [1, 1, 0, MISSING, 3]])[:, : 4 if not is_whole else 5]
    truth = np.array([0, 1, 0, 2, 1])[: labels.shape[1]]
    pool = pool_of(labels, truth)
    planner = Planner(pool.cases, is_whole, is_whole)
    last = np.append(planner.start[1:], len(pool.cases))
    answers = []
    for first, end, items in zip(planner.start, last, planner.items, strict=True):
        rows = [pool.recorded.right[pool.recorded.start[case] :][:items] for case in range(first, end)]
        answers.append(np.array(rows).T.astype(int))
    return planner, answers, pool.accuracies


def partly_whole() -> tuple[Planner, list[np.ndarray], np.ndarray]:
    """Three items, two of which have three labels and are asked about label by label; several labels may be right."""
    pool = pool_of(np.array([[0, 1, 0], [0, 2, 1], [3, 3, 2]]), np.array([0, 2, 2]))
    planner = Planner(pool.cases, is_whole=True, most=2)
    answers = [np.zeros((items, size), int) for items, size in zip(planner.items, sizes_of(planner), strict=True)]
    for question, rows in enumerate(answers):
        rows[:, 0], rows[:, -1] = 1, question % 2
    voters = pool.cases.voters.astype(float)
    cases = [planner.cases_of(np.array([question]))[1] for question in range(len(answers))]
    totals = sum(rows.sum(axis=0) @ voters[own] for own, rows in zip(cases, answers, strict=True))
    return planner, answers, totals / pool.cases.pool


def sizes_of(planner: Planner) -> np.ndarray:
    return np.diff(np.append(planner.start, len(planner.cases)))


@pytest.mark.parametrize("late", [0, 1, 2])
def test_every_draw_is_unbiased_if_some_items_are_asked_about_as_a_whole(late, monkeypatch) -> None:
    planner, answers, truth = partly_whole()
    assert sorted(sizes_of(planner).tolist()) == [1, 1, 1, 2]
    mean, everything = np.zeros((3, 3)), 0.0
    for likely, ledger in Enumeration(planner, answers, (2, 1), late).paths(monkeypatch):
        everything, mean = everything + likely, mean + likely * ledger.estimates
    assert everything == pytest.approx(1)
    np.testing.assert_allclose(mean, np.tile(truth, (3, 1)), atol=1e-12)


@pytest.mark.parametrize("late", [0, 1, 2])
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize("sizes", [(2, 1), (2, 2)])
def test_every_draw_is_unbiased_over_all_ways_to_draw(is_whole, sizes, late, monkeypatch) -> None:
    """Also if batches are planned while earlier draws are pending, with probabilities that follow the answers."""
    planner, answers, truth = tiny(is_whole)
    everything = 0.0
    mean, weighted, ratio, noise = np.zeros((sum(sizes), 2)), np.zeros(2), np.zeros(2), np.zeros(2)
    probabilities = set()
    for likely, ledger in Enumeration(planner, answers, sizes, late).paths(monkeypatch):
        everything += likely
        mean += likely * ledger.estimates
        weighted += likely * (ledger.weights @ (ledger.estimates - truth))
        found = estimate(ledger).mean
        ratio, noise = ratio + likely * found, noise + likely * (found - truth) ** 2
        probabilities.add(round(float(ledger.probability[-1]), 12))
    assert everything == pytest.approx(1)
    assert len(probabilities) > 5  # they did adapt
    np.testing.assert_allclose(mean, np.tile(truth, (sum(sizes), 1)), atol=1e-12)
    np.testing.assert_allclose(weighted, 0, atol=1e-12)
    assert (np.abs(ratio - truth) < 0.2 * np.sqrt(noise)).all()  # weights follow answers: a bias of second order


def test_with_weights_that_do_not_follow_answers_the_estimate_is_unbiased(monkeypatch) -> None:
    planner, answers, truth = tiny(False)
    found = np.zeros(2)
    for likely, ledger in Enumeration(planner, answers, (2, 2), 1).paths(monkeypatch):
        fixed = replace(ledger, forecasts=np.array([np.eye(2) * 9.0, np.eye(2) * 4.0]))
        found += likely * estimate(fixed).mean
    np.testing.assert_allclose(found, truth, atol=1e-12)


def of_draws(values: np.ndarray, forecasts: np.ndarray, batch: np.ndarray | None = None) -> Ledger:
    """A ledger whose draws estimate these values, in a pool of one item."""
    rows = len(values)
    batch = np.zeros(rows, int) if batch is None else batch
    return Ledger(values, np.zeros_like(values), np.ones(rows), batch, forecasts, 1)


def test_equal_weights_give_the_usual_t_interval() -> None:
    values = np.random.default_rng(0).normal(size=(20, 3))
    found = estimate(of_draws(values, np.zeros((1, 3, 3))))
    np.testing.assert_allclose(found.mean, values.mean(axis=0))
    np.testing.assert_allclose(found.covariance, np.cov(values.T) / 20)
    assert found.draws == pytest.approx(20)
    gap = values[:, 0] - values[:, 1]
    half = student.isf(0.05, 19) * gap.std(ddof=1) / np.sqrt(20)
    assert found.halfwidths(0.9)[0, 1] == pytest.approx(half)
    np.testing.assert_array_equal(np.diag(found.halfwidths()), 0)


def test_the_variance_is_unbiased_if_weights_are_one_over_the_variances() -> None:
    """5,000 simulations with two batches of different variance: the mean of the estimated covariance."""
    rng = np.random.default_rng(1)
    forecasts = np.array([np.diag([8.0, 8.0]), np.diag([2.0, 2.0])])
    batch = np.array([0] * 4 + [1] * 4)
    scale = np.sqrt(np.array([8.0, 2.0])[batch])[:, None]
    weights = 1 / scale[:, 0] ** 2
    runs = [estimate(of_draws(rng.normal(size=(8, 2)) * scale, forecasts, batch)) for _ in range(5000)]
    np.testing.assert_allclose(np.mean([run.covariance for run in runs], axis=0), np.eye(2) / weights.sum(), atol=0.03)
    np.testing.assert_allclose(runs[0].forecast, np.eye(2) / weights.sum())
    np.testing.assert_allclose(np.cov(np.array([run.mean for run in runs]).T), np.eye(2) / weights.sum(), atol=0.03)


def test_the_belief_makes_intervals_wider_and_never_narrower() -> None:
    """All draws say the same so far: only the forecast knows what they may have missed."""
    ledger = of_draws(np.tile([0.6, 0.5], (10, 1)), np.array([[[4.0, 1.0], [1.0, 3.0]]]))
    found = estimate(ledger)
    assert found.covariance == pytest.approx(0)
    assert found.variances(1.0)[0, 1] == pytest.approx((4 + 3 - 2) / 10)
    assert found.halfwidths()[0, 1] == pytest.approx(student.isf(0.025, 9) * np.sqrt((4 + 3 - 2) / 10 / 2))
    spread = of_draws(np.random.default_rng(3).normal(size=(10, 2)), np.eye(2)[None] * 1e-6)
    np.testing.assert_allclose(estimate(spread).variances(), differences(estimate(spread).covariance))


def test_differences_are_those_of_the_covariance() -> None:
    root = np.random.default_rng(2).normal(size=(4, 4))
    covariance = root @ root.T
    contrast = np.array([0, 1, 0, -1])
    assert differences(covariance)[1, 3] == pytest.approx(contrast @ covariance @ contrast)


@pytest.mark.parametrize("draws", [0, 1])
def test_one_draw_has_no_spread(draws: int) -> None:
    with pytest.raises(PlanningError, match="fewer than two draws have been answered"):
        estimate(of_draws(np.zeros((draws, 2)), np.zeros((1, 2, 2))))


@pytest.mark.slow
@pytest.mark.parametrize("is_whole", [False, True])
@pytest.mark.parametrize(("kind", "models"), [("typical", 3), ("typical", 5), ("trap", 5), ("equal", 3)])
def test_intervals_cover(kind, models: int, is_whole: bool) -> None:
    """40 pools of 1,500 items each, after 50, 100 and 250 answers: 95 % within what so few can show."""
    inside, errors = [], []
    for seed in range(40):
        pool = simulated(kind, models, 1500, seed)
        gap = pool.accuracies[:, None] - pool.accuracies
        pairs = np.triu_indices(models, 1)
        for look in replay(Planner(pool.cases, is_whole, is_whole), pool.recorded, [50, 100, 250], seed):
            found = estimate(look.ledger)
            error = found.mean[:, None] - found.mean - gap
            inside.append((np.abs(error) <= found.halfwidths())[pairs].mean())
        errors.append((error / np.sqrt(found.variances() + np.eye(models)))[pairs])
    spread = np.std(np.reshape(inside, (40, 3)).mean(axis=1)) / np.sqrt(40)
    assert 0.93 - 2 * spread < np.mean(inside) < 0.97 + 2 * spread
    assert np.abs(np.mean(errors, axis=0)).max() < 3.5 / np.sqrt(40)  # no bias that could be seen
