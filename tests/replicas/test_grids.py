"""Grids: every candidate once, enough hidden originals, and nothing that depends on the order of the arguments."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.replicas.grids import Grid, Layout, compose

LINE = np.abs(np.subtract.outer(np.arange(4), np.arange(4))).astype(float)
"""Four classes in a row: neighbours are nearest."""


def images(kind: str, counts: list[int]) -> dict[str, int]:
    return {f"{kind}{label}-{number}": label for label, count in enumerate(counts) for number in range(count)}


counts = st.lists(st.integers(0, 130), min_size=4, max_size=4)


@given(counts, st.lists(st.integers(0, 40), min_size=4, max_size=4), st.integers(0, 5))
def test_every_candidate_is_in_exactly_one_grid_of_its_class(wanted: list[int], known: list[int], seed: int) -> None:
    candidates, originals = images("c", wanted), images("o", known)
    grids = compose(candidates, originals, LINE, seed=seed)
    seen = Counter(item for grid in grids for item in grid.candidates)
    assert seen == Counter(candidates.keys())
    for grid in grids:
        assert len({*grid.items}) == len(grid.items) <= 48
        assert {candidates[item] for item in grid.candidates} == {grid.label}
        assert {originals[item] for item in grid.same} <= {grid.label}
        assert grid.label not in {originals[item] for item in grid.nearby}
        assert len(grid.same) >= min(3, known[grid.label])
        assert len(grid.nearby) == min(3, sum(known) - known[grid.label])
    for label, count in enumerate(wanted):
        own = [grid for grid in grids if grid.label == label]
        assert bool(own) == bool(count)
        annotated = {item for grid in own for item in grid.same}
        assert not own or len(annotated) >= min(20, known[label])
        assert all(len(grid.items) == 48 for grid in own[:-2])


@given(st.randoms(use_true_random=False))
def test_the_order_of_images_does_not_matter(random) -> None:
    candidates, originals = images("c", [60, 10, 0, 50]), images("o", [25, 3, 8, 1])
    mixed = [[*one.items()] for one in (candidates, originals)]
    for one in mixed:
        random.shuffle(one)
    assert compose(*map(dict, mixed), LINE, seed=3) == compose(candidates, originals, LINE, seed=3)


def test_another_seed_gives_other_grids_and_places() -> None:
    candidates, originals = images("c", [100, 0, 0, 0]), images("o", [30, 30, 30, 30])
    first, second = (compose(candidates, originals, LINE, seed=seed) for seed in (0, 1))
    assert first != second
    places = [place for seed in range(200) for place in hidden_places(compose(candidates, originals, LINE, seed=seed))]
    share = np.bincount(places, minlength=48) / len(places)
    assert abs(share - 1 / 48).max() < 6 * (1 / 48 / len(places)) ** 0.5  # hidden originals may be anywhere


def hidden_places(grids: list[Grid]) -> list[int]:
    grid = grids[0]
    return [place for place, item in enumerate(grid.items) if item in grid.same | grid.nearby]


def test_nearby_originals_are_of_the_nearest_class_that_has_some() -> None:
    originals = images("o", [20, 2, 20, 20])
    (grid,) = compose(images("c", [10, 0, 0, 0]), originals, LINE)
    assert sorted(originals[item] for item in grid.nearby) == [1, 1, 2]
    # one of two equally near classes is drawn anew for every grid
    originals = images("o", [20, 20, 20, 20])
    grids = compose(images("c", [0, 900, 0, 0]), originals, LINE)
    assert {originals[item] for grid in grids for item in grid.nearby} == {0, 2}


def test_a_class_of_few_candidates_still_gets_twenty_annotated_originals() -> None:
    (grid,) = compose(images("c", [5, 0, 0, 0]), images("o", [50, 50, 0, 0]), LINE)
    assert (len(grid.same), len(grid.nearby), len(grid.items)) == (20, 3, 28)
    grids = compose(images("c", [60, 0, 0, 0]), images("o", [50, 50, 0, 0]), LINE)
    assert [len(grid.same) for grid in grids] == [10, 10]


def test_a_grid_without_room_is_refused() -> None:
    with pytest.raises(ValueError, match="no room"):
        Layout(6, 3, 3)
    (grid,) = compose({"a": 0}, {}, LINE)
    assert grid == Grid(0, ("a",))


@given(st.integers(1, 30), st.integers(0, 40), st.integers(8, 20))
def test_small_grids_hold_candidates_too(wanted: int, known: int, size: int) -> None:
    grids = compose(images("c", [wanted]), images("o", [known, 9]), LINE, Layout(size))
    assert sum(len(grid.candidates) for grid in grids) == wanted
    assert all(grid.candidates and len(grid.items) <= size for grid in grids)
