"""The resampling test over classes against brute force, and its size."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dissensus.participants.grading import Grades
from dissensus.participants.subsets import class_changes, class_subset


def graded(right: np.ndarray) -> Grades:
    return Grades("top-1", right, np.ones_like(right))


def test_p_values_against_all_subsets_of_this_size() -> None:
    """With 8 classes of unequal sizes, all 56 subsets of three can be listed."""
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(8), [3, 5, 4, 6, 2, 5, 4, 3])
    right = rng.random((3, len(truth))) < rng.uniform(0.3, 0.95, 8)[truth]
    inside = np.arange(8) < 3
    mean = np.full(3, 1 / 3)
    found = class_changes(graded(right), truth, inside, [mean], 40_000, 1)
    assert found is not None

    def change(chosen: tuple[int, ...]) -> np.ndarray:
        images = np.isin(truth, chosen)
        each = right[:, images].mean(axis=1) - right.mean(axis=1)
        return np.append(each, each.mean())

    listed = np.array([change(chosen) for chosen in combinations(range(8), 3)])
    seen = change((0, 1, 2))
    assert found.change == pytest.approx(seen)
    assert found.p == pytest.approx((np.abs(listed) >= np.abs(seen) - 1e-12).mean(axis=0), abs=0.01)
    assert (found.together[:3] >= found.p[:3] - 1e-12).all()
    assert (found.classes, found.of_classes) == (3, 8)


def test_classes_without_images_do_not_count() -> None:
    truth = np.array([0, 0, 2, 2, 4, 4])
    right = np.array([[True, True, False, True, False, False]])
    found = class_changes(graded(right), truth, np.array([True, True, False, True, False]), [], 99, 0)
    assert found is not None
    assert (found.classes, found.of_classes) == (1, 3)
    assert found.change[0] == pytest.approx(0.5)


@pytest.mark.parametrize("inside", [[False] * 3, [True] * 3])
def test_none_or_all_of_the_classes(inside: list[bool]) -> None:
    truth = np.array([0, 1, 2])
    assert class_changes(graded(np.ones((1, 3), bool)), truth, np.array(inside), [], 9, 0) is None


def test_everybody_right_has_no_change() -> None:
    truth = np.arange(20) % 5
    found = class_changes(graded(np.ones((2, 20), bool)), truth, np.arange(5) < 2, [np.full(2, 0.5)], 99, 0)
    assert found is not None
    assert found.p.tolist() == [1, 1, 1]
    assert found.change.tolist() == [0, 0, 0]


def test_order_of_images_does_not_matter() -> None:
    rng = np.random.default_rng(3)
    truth, right = rng.integers(10, size=100), rng.random((2, 100)) < 0.7
    shuffled = rng.permutation(100)
    one, other = (
        class_changes(graded(right[:, order]), truth[order], np.arange(10) < 4, [], 200, 5)
        for order in (np.arange(100), shuffled)
    )
    assert one is not None
    assert other is not None
    assert one.p.tolist() == other.p.tolist()


def test_a_random_subset_is_rarely_special() -> None:
    rng = np.random.default_rng(4)
    truth = np.repeat(np.arange(60), 3)
    rejected = []
    for run in range(200):
        right = rng.random((5, len(truth))) < rng.beta(9, 1, 60)[truth]
        found = class_changes(graded(right), truth, np.arange(60) < 15, [np.full(5, 0.2)], 199, run)
        assert found is not None
        rejected.append((found.p[-1] <= 0.05, (found.together[:5] <= 0.05).any()))
    assert (np.mean(rejected, axis=0) <= 0.05 + 2.5 * np.sqrt(0.05 * 0.95 / 200)).all()


def test_a_subset_of_classes_has_their_images() -> None:
    dogs = class_subset("dogs", np.array([False, True, False]), np.array([0, 1, 2, 1]))
    assert dogs.is_in.tolist() == [False, True, False, True]
