from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.arrays import Array
from dissensus.duplicates.links import NONE, Links, alone, joined, link_all, linked, links_of

PAIRS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=40)


def ends(pairs: list[tuple[int, int]]) -> tuple[Array, Array]:
    both = np.array(pairs, np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def same(found: Links, expected: Links) -> bool:
    return np.array_equal(found.point, expected.point) and np.array_equal(found.first, expected.first)


@given(PAIRS)
def test_groups_are_the_connected_components(pairs: list[tuple[int, int]]) -> None:
    group = list(range(31))
    for one, other in pairs:  # everybody in the one group moves to the other
        group = [min(group[one], group[other]) if of in (group[one], group[other]) else of for of in group]
    assert linked(*ends(pairs)).groups(31).tolist() == group


@given(PAIRS, st.integers(0, 40), st.randoms(use_true_random=False))
def test_the_order_of_joining_makes_no_difference(pairs: list[tuple[int, int]], cut: int, random) -> None:
    whole = linked(*ends(pairs))
    some, others = linked(*ends(pairs[:cut])), linked(*ends(pairs[cut:]))
    assert same(joined(some, others), whole)
    assert same(joined(others, some), whole)
    assert same(joined(whole, NONE), whole)
    turned = [pair[::-1] for pair in pairs]
    random.shuffle(turned)
    assert same(linked(*ends(turned)), whole)


@given(PAIRS)
def test_a_forest_gives_the_same_groups(pairs: list[tuple[int, int]]) -> None:
    parent = alone(31)
    link_all(parent, *ends(pairs))
    assert same(links_of(parent), linked(*ends(pairs)))


def test_a_long_chain_is_one_group() -> None:
    points = np.arange(100_000)
    assert (linked(points[:-1], points[1:]).groups(100_000) == 0).all()


@pytest.mark.parametrize("count", [0, 1, 3])
def test_without_links_everything_is_alone(count: int) -> None:
    assert NONE.groups(count).tolist() == list(range(count))
    assert len(links_of(alone(count))) == 0
