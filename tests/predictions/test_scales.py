from __future__ import annotations

from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.errors import PredictionError
from dissensus.predictions.maps import class_pixels, maps_of
from dissensus.predictions.scales import BINS, ShareCounts, quartiles


def shares(seed: int, maps: int, classes: int, absent: float) -> np.ndarray:
    """Shares of the pixels by map and class; the rest of a map is VOID."""
    rng = np.random.default_rng(seed)
    found = rng.dirichlet(np.full(classes + 1, 0.3), maps)[:, :-1]
    found[rng.random(found.shape) < absent] = 0
    return found


def test_quartiles_by_hand_over_the_maps_that_contain_the_class() -> None:
    share = np.array([[0.0, 0.1, 0.5], [0.0, 0.2, 0.0], [0.0, 0.3, 0.0], [0.0, 0.4, 0.0], [0.0, 0.5, 0.0]])
    found = quartiles(share)
    np.testing.assert_allclose(found.ends, [[0, 1], [0.2, 0.4], [0.5, 0.5]])
    assert found.is_known.tolist() == [False, True, True]


def test_quartiles_of_drawn_maps() -> None:
    maps = maps_of([np.array([[0, 0, 0, 1]], np.uint8), np.array([[1, 1, 255, 0]], np.uint8)])
    share = class_pixels(maps, 2) / (maps.heights * maps.widths)[:, None]
    np.testing.assert_allclose(quartiles(share).ends[1], [0.25 + 0.25 * 0.25, 0.5 - 0.25 * 0.25])


@given(st.integers(0, 10_000), st.integers(0, 60), st.sampled_from([0, 0.5, 0.95]))
def test_the_histogram_is_right_to_a_bin_never_narrower_and_merges_in_any_order(
    seed: int, maps: int, absent: float
) -> None:
    share = shares(seed, maps, 4, absent)
    exact = quartiles(share)
    cuts = np.sort(np.random.default_rng(seed).integers(0, maps + 1, 3))
    parts = [ShareCounts.of(part) for part in np.split(share, cuts)]
    together = reduce(ShareCounts.merged, parts[::-1])
    np.testing.assert_array_equal(together.counts, ShareCounts.of(share).counts)
    found = together.quartiles()
    assert found.is_known.tolist() == exact.is_known.tolist()
    assert np.abs(found.ends - exact.ends).max() <= 1 / BINS + 1e-12
    assert (found.ends[:, 0] <= exact.ends[:, 0] + 1e-15).all()
    assert (found.ends[:, 1] >= exact.ends[:, 1] - 1e-15).all()
    assert np.isfinite(found.ends).all()
    assert (found.ends[:, 0] <= found.ends[:, 1]).all()


@given(st.integers(1, 3000), st.integers(1, 3000), st.integers(1, 5))
def test_a_class_that_always_has_one_share_has_it_in_its_range(pixels: int, more: int, maps: int) -> None:
    share = pixels / (pixels + more)
    low, high = ShareCounts.of(np.full((maps, 1), share)).quartiles().ends[0]
    assert low <= share <= high


def test_shares_of_all_models_count_alike() -> None:
    share = shares(1, 12, 3, 0.3)
    by_model = share.reshape(4, 3, 3)
    np.testing.assert_array_equal(quartiles(by_model).ends, quartiles(share).ends)
    np.testing.assert_array_equal(ShareCounts.of(by_model).counts, ShareCounts.of(share).counts)


def test_the_smallest_and_the_largest_share_have_a_bin() -> None:
    counts = ShareCounts.of(np.array([[1e-12], [1.0], [1 / BINS], [0.0]])).counts
    assert (counts[0, 0], counts[0, -1], counts.sum()) == (2, 1, 3)


def test_no_maps_know_nothing_and_exclude_nothing() -> None:
    for found in (quartiles(np.zeros((0, 2))), ShareCounts.of(np.zeros((0, 2))).quartiles()):
        assert found.ends.tolist() == [[0, 1], [0, 1]]
        assert not found.is_known.any()


@pytest.mark.parametrize("wrong", [np.nan, -0.1, 1.1])
def test_what_is_no_share_is_refused(wrong: float) -> None:
    for made in (quartiles, ShareCounts.of):
        with pytest.raises(PredictionError, match=r"outside 0\.\.1"):
            made(np.array([[0.2, wrong]]))
