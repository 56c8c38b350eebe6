"""Intervals of proportions: independent references, published examples, degenerate cases and coverage."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from dissensus.proportions import clopper_pearson, difference, newcombe, normal_quantile, wilson

METHODS = {"exact": clopper_pearson, "wilson": wilson}


@pytest.mark.parametrize("method", METHODS)
@given(
    st.integers(1, 2000).flatmap(lambda count: st.tuples(st.integers(0, count), st.just(count))),
    st.sampled_from([0.8, 0.95]),
)
def test_intervals_are_scipys(method: str, counts: tuple[int, int], level: float) -> None:
    low, high = METHODS[method](*counts, level)
    expected = binomtest(*counts).proportion_ci(level, method)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_clopper_pearson_is_the_thesis_example() -> None:
    low, high = clopper_pearson(np.array([1800]), np.array([2000]))
    assert (round(100 * low[0], 1), round(100 * high[0], 1)) == (88.6, 91.3)


@pytest.mark.parametrize("share", [0.05, 0.3, 0.71, 0.98])
def test_exact_intervals_cover(share: float) -> None:
    right = np.arange(11)
    low, high = clopper_pearson(right, np.full(11, 10))
    assert binom.pmf(right, 10, share)[(low <= share) & (share <= high)].sum() >= 0.95


def test_newcombe_is_his_published_example() -> None:
    """Newcombe (1998), Table II, (a) 56/70 − 48/80, method 10: 0.0524 to 0.3339."""
    low, high = newcombe(np.array([56]), np.array([70]), np.array([48]), np.array([80]))
    assert (round(float(low[0]), 4), round(float(high[0]), 4)) == (0.0524, 0.3339)


def test_difference_turns_around() -> None:
    one, other = np.array([0.9]), np.array([0.8])
    ends, other_ends = (np.array([0.85]), np.array([0.93])), (np.array([0.75]), np.array([0.86]))
    low, high = difference(one, ends, other, other_ends)
    back = difference(other, other_ends, one, ends)
    assert (low[0], high[0]) == pytest.approx((-back[1][0], -back[0][0]))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("right", "count"), [(1, 0), (3, 2), (-1, 2)])
def test_impossible_counts_are_errors(method: str, right: int, count: int) -> None:
    with pytest.raises(ValueError, match="more is right"):
        METHODS[method](right, count)


@pytest.mark.parametrize("method", METHODS)
def test_nothing_counted_tells_nothing(method: str) -> None:
    assert METHODS[method](0, 0) == (0, 1)


def test_the_quantile_of_95_per_cent() -> None:
    assert normal_quantile(0.95) == pytest.approx(1.959964, abs=1e-6)
