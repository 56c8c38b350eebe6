"""Frequencies that new workers would give: regression to the mean of images that were chosen by their votes."""

from __future__ import annotations

import numpy as np
import pytest

from dissensus.replicas.regression import expected_frequencies
from dissensus.replicas.strategies import Candidate, Wanted, matched_frequency


def test_many_votes_are_believed() -> None:
    selected, votes = np.array([100, 900, 4000, 10_000]), np.full(4, 10_000)
    assert expected_frequencies(selected, votes, selected, votes) == pytest.approx(selected / votes, abs=0.006)


def test_images_that_do_not_differ_are_expected_at_their_mean() -> None:
    rng = np.random.default_rng(0)
    votes = np.full(2000, 10)
    selected = rng.binomial(votes, 0.6)
    assert expected_frequencies(np.array([3, 9]), votes[:2], selected, votes) == pytest.approx(0.6, abs=0.08)


def test_expected_frequencies_of_a_beta_distribution() -> None:
    """For a Beta prior the answer is known: (selected + a) / (votes + a + b); votes differ from image to image."""
    rng = np.random.default_rng(1)
    votes = rng.integers(5, 20, 20_000)
    selected = rng.binomial(votes, rng.beta(3, 2, 20_000))
    seen, of = np.arange(2, 11), np.full(9, 10)
    assert expected_frequencies(seen, of, selected, votes) == pytest.approx((seen + 3) / 15, abs=0.03)


@pytest.mark.parametrize(("worse", "sign"), [(2.0, -1), (0.5, 1)])
def test_matched_images_regress_to_the_mean_of_the_candidates(worse: float, sign: int) -> None:
    """Candidates that are worse than originals make a set with lower true frequencies, better ones with higher."""
    rng = np.random.default_rng(2)
    true, found = [], []
    for seed in range(200):
        above, below = rng.uniform(0.5, 4, 2)
        originals = [(int(one), 10) for one in rng.binomial(10, rng.beta(above, below, 20))]
        likely = rng.beta(above, worse * below, 200)
        votes = np.full(200, 10)
        selected = rng.binomial(votes, likely)
        pool = [Candidate(str(number), int(one), 10) for number, one in enumerate(selected)]
        chosen = [int(one.item) for one in matched_frequency(pool, Wanted(10, originals), (), seed).places]
        true += (likely[chosen] - selected[chosen] / 10).tolist()
        found += (
            expected_frequencies(selected[chosen], votes[chosen], selected, votes) - selected[chosen] / 10
        ).tolist()
    assert sign * np.mean(true) > 0.02
    assert np.mean(found) == pytest.approx(np.mean(true), abs=0.01)


def test_votes_unlike_any_of_the_pool_are_no_error() -> None:
    pool = np.zeros(50, int), np.full(50, 1000)
    assert np.isfinite(expected_frequencies(np.array([1000]), np.array([1000]), *pool)).all()


def test_no_images_expect_nothing() -> None:
    nothing = np.array([], int)
    assert len(expected_frequencies(nothing, nothing, nothing, nothing)) == 0
