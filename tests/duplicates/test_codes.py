from __future__ import annotations

import pickle
from itertools import pairwise
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.arrays import Array
from dissensus.duplicates.codes import BITS, MOST_BITS, NearCodes, approximate, bands_for
from dissensus.duplicates.codes_kernel import ones
from dissensus.duplicates.descriptors import codes
from dissensus.duplicates.links import NONE, Links, joined, linked
from dissensus.duplicates.within import exact
from dissensus.errors import DuplicatesError

random = np.random.default_rng(0)


def disturbed(count: int, most: int, seed: int = 0) -> Array:
    """Random codes, and copies that differ in up to so many bits."""
    rng = np.random.default_rng(seed)
    first = rng.integers(0, 2**64, count, np.uint64)
    other = first.copy()
    for number, changed in enumerate(rng.integers(0, most + 1, count)):
        for bit in rng.choice(64, changed, replace=False):
            other[number] ^= np.uint64(1) << np.uint64(bit)
    return np.concatenate([first, other])


def plainly(values: Array, bits: int) -> Links:
    pairs = np.argwhere(np.triu(np.bitwise_count(values[:, None] ^ values) <= bits, 1))
    return linked(pairs[:, 0], pairs[:, 1])


def near(values: Array, bits: int) -> Links:
    search = NearCodes(np.zeros((len(values), 1), np.int8), 0, bits, values)
    return search.links(range(len(search)))


def same(found: Links, expected: Links) -> bool:
    return np.array_equal(found.point, expected.point) and np.array_equal(found.first, expected.first)


@pytest.mark.parametrize("bits", range(MOST_BITS + 1))
def test_no_pair_within_the_bits_is_missed(bits: int) -> None:
    values = disturbed(400, 18)
    assert same(near(values, bits), plainly(values, bits))


@pytest.mark.parametrize("count", [10, 10**4, 10**6, 10**8])
@pytest.mark.parametrize("bits", [0, 3, 7, 10, 11, 12, 16])
def test_bands_obey_the_pigeonhole_principle(count: int, bits: int) -> None:
    bands = bands_for(count, bits)
    assert sum(band.radius + 1 for band in bands) > bits  # one more bit in each band would be more than allowed
    covered = [bit for band in bands for bit in range(band.shift, band.shift + band.width)]
    assert len({*covered}) == len(covered) <= 64
    for band in bands:
        assert (
            len(band.flips) == len({*band.flips.tolist()}) == sum(comb(band.width, t) for t in range(band.radius + 1))
        )
        assert max(int(flip).bit_count() for flip in band.flips) == band.radius


@given(st.lists(st.sampled_from([0, 1, 3, 2**63, 2**64 - 1, 0xFFFF, 0x1_0000]), max_size=30), st.integers(0, 16))
def test_few_codes_many_of_them_equal(values: list[int], bits: int) -> None:
    made = np.array(values, np.uint64)
    assert same(near(made, bits), plainly(made, bits))


@given(arrays.arrays(np.uint64, 20))
def test_bits_are_counted(words: Array) -> None:
    assert [int(ones(word)) for word in words] == np.bitwise_count(words).tolist()


def described(count: int, seed: int = 0) -> Array:
    """Descriptors of which every other one is a copy with some noise."""
    rng = np.random.default_rng(seed)
    made = rng.integers(-60, 61, (count, 68))
    made[1::2] = made[::2] + rng.integers(-7, 8, made[::2].shape)
    return made.astype(np.int8)


@given(st.integers(0, 3), st.integers(0, 90), st.integers(0, 16), st.lists(st.integers(0, 80), max_size=3))
def test_pairs_are_within_both_limits_however_rows_are_divided(
    seed: int, radius: int, bits: int, cuts: list[int]
) -> None:
    points = described(80, seed)
    values = codes(points)
    away = ((points[:, None].astype(int) - points.astype(int)) ** 2).sum(axis=2)
    is_near = (np.bitwise_count(values[:, None] ^ values) <= bits) & (away <= radius**2)
    pairs = np.argwhere(np.triu(is_near, 1))
    expected = linked(pairs[:, 0], pairs[:, 1])
    assert same(approximate(points, radius, bits), expected)
    search, found = NearCodes(points, radius, bits), NONE
    ends = [0, *sorted(cuts), 80]
    for start, stop in reversed(list(pairwise(ends))):
        found = joined(found, pickle.loads(pickle.dumps(search)).links(range(start, stop)))
    assert same(found, expected)


def test_what_is_approximate_is_part_of_what_is_exact() -> None:
    points = described(3000)
    some, every = approximate(points, 57, 6), exact(points, 57)
    assert 0 < len(some) < len(every)
    assert same(joined(some, every), every)
    assert same(approximate(points, 57, MOST_BITS), every)


@given(st.integers(0, 10**6))
def test_a_radius_that_is_a_root_includes_its_square(square: int) -> None:
    assert NearCodes(np.zeros((0, 68), np.int8), np.sqrt(square)).limit == square


def test_the_order_makes_no_difference() -> None:
    points, order = described(200), random.permutation(200)
    groups, turned = approximate(points, 57).groups(200), approximate(points[order], 57).groups(200)
    assert [{*np.flatnonzero(groups == groups[order[place]])} for place in range(200)] == [
        {*order[turned == turned[place]].tolist()} for place in range(200)
    ]


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_compare(count: int) -> None:
    assert len(approximate(np.zeros((count, 68), np.int8), 57)) == 0


def test_equal_codes_are_one_group_without_a_list_of_pairs() -> None:
    assert (near(np.zeros(5000, np.uint64), BITS).groups(5000) == 0).all()


def test_what_is_not_possible_is_refused() -> None:
    with pytest.raises(DuplicatesError, match="choose 0 to 16"):
        near(np.zeros(3, np.uint64), 17)
    with pytest.raises(DuplicatesError, match="choose 0 to 16"):
        near(np.zeros(3, np.uint64), -1)
    with pytest.raises(DuplicatesError, match="not a distance"):
        approximate(np.zeros((3, 68), np.int8), -1)
