from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from test_neighbours import CLOUDS

from dissensus.arrays import Array
from dissensus.duplicates import embedding
from dissensus.duplicates import within as module
from dissensus.duplicates.codes import approximate
from dissensus.duplicates.links import NONE, joined, linked
from dissensus.duplicates.neighbours import nearest
from dissensus.duplicates.within import Within, exact, within
from dissensus.errors import DuplicatesError


def plainly(points: Array, radius: float) -> tuple[Array, Array]:
    away = np.sqrt(((points[:, None].astype(float) - points[None].astype(float)) ** 2).sum(axis=2))
    pairs = np.argwhere(np.triu(away <= radius, 1))
    return pairs, away[pairs[:, 0], pairs[:, 1]]


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small sets take the same way as large ones: a projection, and several tiles."""
    monkeypatch.setattr(module, "TILE", 96)
    monkeypatch.setattr(module, "STRIP", 40)
    monkeypatch.setattr(embedding, "FEW", 0)
    monkeypatch.setattr(embedding, "WIDTHS", (4, 16))


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("name", [name for name in CLOUDS if name != "large float64"])
@pytest.mark.parametrize("share", [0.0, 0.001, 0.3])
def test_all_pairs_within_a_radius_are_found(name: str, share: float) -> None:
    points = CLOUDS[name][:200]
    away = plainly(points, np.inf)[1]
    ordered = np.sort(away)
    place = int(share * len(ordered))
    radius = float(ordered[place] + ordered[place + 1]) / 2 if share else 0.0
    expected = plainly(points, radius)
    pairs, distances = within(points, radius)
    assert np.array_equal(pairs, expected[0])
    assert np.allclose(distances, expected[1], rtol=1e-12, atol=0)


@pytest.mark.usefixtures("many")
def test_huge_values_are_divided_first() -> None:
    points = CLOUDS["large float64"][:200]
    pairs = within(points, 4e200)[0]
    assert np.array_equal(pairs, plainly(points / 2.0**600, 4e200 / 2.0**600)[0])
    assert 0 < len(pairs) < 199 * 100


@given(
    points=st.tuples(st.integers(0, 30), st.integers(0, 4)).flatmap(
        lambda shape: arrays.arrays(np.int8, shape, elements=st.integers(-9, 9))
    ),
    radius=st.integers(0, 12),
    cuts=st.lists(st.integers(0, 30), max_size=3),
)
def test_groups_of_whole_numbers_however_they_are_divided(points: Array, radius: int, cuts: list[int]) -> None:
    pairs = plainly(points, radius)[0]
    expected = linked(pairs[:, 0], pairs[:, 1])
    search = Within(points, radius)
    ends = [0, *sorted(min(cut, len(points)) for cut in cuts), len(points)]
    found = NONE
    for start, stop in reversed(list(pairwise(ends))):
        found = joined(found, search.links(range(start, stop)))
    for links in (found, exact(points, radius)):
        assert np.array_equal(links.point, expected.point)
        assert np.array_equal(links.first, expected.first)


@given(st.permutations(range(40)))
def test_the_order_of_points_makes_no_difference(order: list[int]) -> None:
    points = CLOUDS["near-duplicates"][:40]
    pairs = within(points[order], 0.5)[0]
    turned = np.sort(np.array(order)[pairs], axis=1)
    assert np.array_equal(turned[np.lexsort(turned.T[::-1])], within(points, 0.5)[0])


def test_equal_points_are_one_group_without_a_list_of_pairs() -> None:
    links = exact(np.zeros((5000, 4), np.int8), 0)
    assert (links.groups(5000) == 0).all()


@pytest.mark.parametrize("radius", [1e155, np.float64(1e200)])
def test_a_radius_whose_square_is_not_a_number_connects_everything(radius: float) -> None:
    points = np.random.default_rng(0).normal(size=(5, 68))
    assert len(within(points, radius)[0]) == 10
    assert (exact(points, radius).groups(5) == 0).all()
    assert (approximate(np.zeros((5, 68), np.int8), radius).groups(5) == 0).all()


@pytest.mark.parametrize("radius", [-1.0, np.nan, np.inf])
def test_a_radius_that_is_no_distance_is_refused(radius: float) -> None:
    with pytest.raises(DuplicatesError, match="not a distance"):
        exact(np.zeros((3, 2)), radius)
    with pytest.raises(DuplicatesError, match="not a finite number"):
        exact(np.array([[np.nan], [0]]), 1)


def test_a_worker_gets_the_points_and_makes_the_rest() -> None:
    points = np.random.default_rng(1).integers(-128, 128, (3000, 68)).astype(np.int8)
    search = Within(points, 700.0)
    sent = pickle.dumps(search)
    assert len(sent) < points.nbytes + 1000
    again, found = pickle.loads(sent), search.links(range(1000))
    assert len(found)
    assert np.array_equal(again.links(range(1000)).groups(3000), found.groups(3000))


def test_values_whose_distances_may_not_fit_are_refused() -> None:
    for find in (lambda points: within(points, 1.0), lambda points: nearest(points, points, 1)):
        with pytest.raises(DuplicatesError, match="beyond ±10³⁰⁰"):
            find(np.array([[1.7e308], [-1.7e308]]))
