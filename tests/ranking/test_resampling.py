from __future__ import annotations

import numpy as np
import pytest

from dissensus.errors import RankingError
from dissensus.pairwise import compare
from dissensus.ranking import RANKERS, bootstrap, item_multiplicities, resampled_tallies
from dissensus.records import Outcomes, Tally

MODELS = 4


def judged(outcomes: int, items: int, seed: int = 0) -> Outcomes:
    rng = np.random.default_rng(seed)
    first = rng.integers(0, MODELS, outcomes)
    second = (first + rng.integers(1, MODELS, outcomes)) % MODELS
    right = rng.random((2, outcomes)) < 0.5
    return Outcomes(first, second, rng.integers(100, 100 + items, outcomes), np.arange(outcomes), right[0], right[1])


def counted(outcomes: Outcomes, times: np.ndarray) -> Tally:
    """The tally, outcome by outcome."""
    only, both, neither = np.zeros((3, MODELS, MODELS))
    columns = (outcomes.first, outcomes.second, outcomes.first_right, outcomes.second_right, times)
    for i, j, i_right, j_right, count in zip(*columns, strict=True):
        if i_right != j_right:
            only[(i, j) if i_right else (j, i)] += count
        else:
            matrix = both if i_right else neither
            matrix[i, j] += count
            matrix[j, i] += count
    return Tally(only, both, neither)


def test_an_item_is_drawn_as_a_whole() -> None:
    items = np.array([7, 3, 7, 9, 3, 7])
    times = item_multiplicities(items, 500, np.random.default_rng(0))
    assert times.shape == (500, 6)
    np.testing.assert_array_equal(times[:, 0], times[:, 2])
    np.testing.assert_array_equal(times[:, 1], times[:, 4])
    np.testing.assert_array_equal(times[:, [0, 1, 3]].sum(axis=1), 3)
    np.testing.assert_allclose(times.mean(axis=0), 1, atol=0.15)


def test_tallies_equal_counting_one_by_one() -> None:
    outcomes = judged(80, 20)
    tallies = resampled_tallies(outcomes, MODELS, 7, np.random.default_rng(5))
    times = item_multiplicities(outcomes.item, 7, np.random.default_rng(5))
    assert len(tallies) == 7
    for tally, row in zip(tallies, times, strict=True):
        expected = counted(outcomes, row)
        np.testing.assert_array_equal(tally.only, expected.only)
        np.testing.assert_array_equal(tally.both, expected.both)
        np.testing.assert_array_equal(tally.neither, expected.neither)


def test_the_spread_of_a_count_is_that_of_clustered_items() -> None:
    """The sum over items y of resampled counts has the variance n·Var(y), closed form of the cluster bootstrap."""
    outcomes = judged(200, 40)
    tallies = resampled_tallies(outcomes, MODELS, 4_000, np.random.default_rng(1))
    won = (outcomes.first_right & ~outcomes.second_right & (outcomes.first == 0)) | (
        outcomes.second_right & ~outcomes.first_right & (outcomes.second == 0)
    )
    distinct, position = np.unique(outcomes.item, return_inverse=True)
    per_item = np.bincount(position, weights=won)
    spread = np.var([tally.only[0].sum() for tally in tallies])
    assert spread == pytest.approx(len(distinct) * per_item.var(), rel=0.1)


def test_same_seed_same_tallies() -> None:
    one, other = (resampled_tallies(judged(30, 9), MODELS, 3, np.random.default_rng(2)) for _ in range(2))
    np.testing.assert_array_equal([tally.only for tally in one], [tally.only for tally in other])


def test_a_resample_without_ranking_is_counted() -> None:
    tallies = resampled_tallies(judged(12, 12), MODELS, 200, np.random.default_rng(3))

    def wins(tally: Tally) -> np.ndarray:
        if tally.only[0].sum() == 0:
            raise RankingError("model 0 never won")
        return tally.only.sum(axis=1)

    samples, degenerate = bootstrap(wins, tallies)
    assert 0 < degenerate < 200
    assert samples.shape == (200 - degenerate, MODELS)
    assert (samples[:, 0] > 0).all()


def test_nothing_judged_is_refused() -> None:
    with pytest.raises(RankingError, match="no item of any duel has been judged"):
        resampled_tallies(judged(0, 1), MODELS, 10, np.random.default_rng(0))


def test_resamples_of_bradley_terry_are_fitted_as_one_by_one() -> None:
    outcomes = judged(150, 40, seed=3)
    base = counted(outcomes, np.ones(150, int))
    tallies = resampled_tallies(outcomes, MODELS, 70, np.random.default_rng(2))
    found, is_found = RANKERS["bradley-terry"].resampled(base, tallies)
    one_by_one, degenerate = bootstrap(lambda one: RANKERS["bradley-terry"].strengths(compare(one, 0.0)), tallies)
    assert (~is_found).sum() == degenerate
    np.testing.assert_allclose(found[is_found], one_by_one, atol=1e-8)
