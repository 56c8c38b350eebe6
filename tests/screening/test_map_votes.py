"""Several people's maps of one image."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dissensus.records import VOID
from dissensus.screening.map_votes import voted_map

LABELS = st.sampled_from([0, 1, 2, VOID])


def vote(said: list[int]) -> int:
    """The rule in plain words, pixel by pixel."""
    counted = Counter(label for label in said if label != VOID).most_common()
    if not counted or (len(counted) > 1 and counted[0][1] == counted[1][1]):
        return VOID
    return counted[0][0]


@given(st.lists(arrays(np.uint8, (3, 4), elements=LABELS), min_size=1, max_size=5))
def test_each_pixel_goes_by_a_plain_count(maps: list[np.ndarray]) -> None:
    expected = [[vote([int(one[y, x]) for one in maps]) for x in range(4)] for y in range(3)]
    assert voted_map(maps).tolist() == expected


@given(st.lists(arrays(np.uint8, (2, 3), elements=LABELS), min_size=2, max_size=4), st.randoms())
def test_the_order_of_people_does_not_matter(maps: list[np.ndarray], random) -> None:
    other = random.sample(maps, len(maps))
    np.testing.assert_array_equal(voted_map(maps), voted_map(other))


def test_two_people_who_differ_decide_nothing() -> None:
    one, other = np.zeros((1, 2), np.uint8), np.array([[0, 1]], np.uint8)
    assert voted_map([one, other]).tolist() == [[0, VOID]]


def test_nobody_can_tell() -> None:
    assert voted_map([np.full((2, 2), VOID, np.uint8)] * 3).tolist() == [[VOID, VOID], [VOID, VOID]]
