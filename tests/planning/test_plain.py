"""Random questions and plain means, against closed forms and repeated draws."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.planning.cases import cases_of, patterns_of, votes_of
from dissensus.planning.estimate import estimate
from dissensus.planning.plain import plain_replay
from dissensus.planning.planner import Planner
from dissensus.planning.replay import recorded


def pool(seed: int = 0, items: int = 400):
    rng = np.random.default_rng(seed)
    truth = rng.integers(6, size=items)
    skill = np.array([0.4, 0.6, 0.7, 0.9])[:, None]
    labels = np.where(rng.random((4, items)) < skill, truth, rng.integers(6, size=(4, items))).astype(np.uint16)
    votes = votes_of(labels, False)
    patterns = patterns_of(votes, False)
    cases = cases_of(patterns)
    right = labels == truth
    return cases, recorded(cases, patterns.places(votes), right), right.mean(axis=1)


@pytest.mark.parametrize("is_whole", [False, True])
def test_everything_asked_is_everything_known(is_whole):
    cases, answers, truth = pool()
    *_, last = plain_replay(Planner(cases, is_whole=is_whole), answers, [10, 100_000])
    np.testing.assert_allclose(last.mean, truth)
    np.testing.assert_allclose(last.low, truth)
    np.testing.assert_allclose(last.high, truth)
    np.testing.assert_allclose(last.covariance, 0, atol=1e-15)


@pytest.mark.parametrize("is_contested", [False, True])
@pytest.mark.parametrize("is_whole", [False, True])
def test_means_are_unbiased_and_their_spread_is_known(is_whole, is_contested):
    cases, answers, truth = pool()
    planner = Planner(cases, is_whole=is_whole)
    looks = [next(iter(plain_replay(planner, answers, [80], seed, is_contested))) for seed in range(300)]
    agreed = cases.is_agreed[planner.start]
    share = planner.items[agreed].sum() / cases.pool if is_contested else 0.0
    wrong = (1 - _agreed_right(cases, answers)) * share if is_contested else 0.0  # counted as right
    means = np.array([look.mean for look in looks])
    np.testing.assert_allclose(means.mean(axis=0) - wrong, truth, atol=0.015)
    expected = np.mean([np.diag(look.covariance) for look in looks], axis=0)
    np.testing.assert_allclose(expected, means.var(axis=0), rtol=0.3)
    held = [(look.low <= truth) & (truth <= look.high) for look in looks]
    assert np.mean(held) > 0.93
    drawn = np.array([estimate(look.ledger).mean for look in looks])
    difference = drawn[:, :, None] - drawn[:, None, :]
    np.testing.assert_allclose(difference.mean(axis=0), truth[:, None] - truth, atol=0.03)


def _agreed_right(cases, answers) -> float:
    sizes = cases.items[cases.pattern]
    rows = [answers.right[start : start + size] for start, size in zip(answers.start, sizes, strict=True)]
    return float(np.mean(np.concatenate([row for row, agreed in zip(rows, cases.is_agreed, strict=True) if agreed])))


def test_one_answer_leaves_nearly_everything_open():
    cases, answers, _ = pool()
    (look,) = plain_replay(Planner(cases), answers, [1])
    assert look.answers == 1
    assert np.all((look.low >= 0) & (look.high <= 1) & (look.low <= look.mean) & (look.mean <= look.high))
    assert np.all(look.high - look.low > 0.5)
    assert np.all(np.diag(look.covariance) > 0)
