from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from dissensus.arrays import Array
from dissensus.duplicates.similarity import ssim, ssim_pairs
from dissensus.errors import DuplicatesError

skimage = pytest.importorskip("skimage.metrics")

SHAPES = st.tuples(st.integers(7, 24), st.integers(7, 40))


@given(
    images=SHAPES.flatmap(
        lambda shape: arrays.arrays(np.uint8, (3, *shape), elements=st.sampled_from([0, 1, 128, 254, 255]))
    )
)
def test_the_values_are_those_of_scikit_image(images: Array) -> None:
    pairs = np.array([[0, 1], [1, 0], [2, 1], [2, 2]])
    expected = [skimage.structural_similarity(images[a], images[b]) for a, b in pairs]
    assert np.abs(ssim_pairs(images, pairs) - expected).max() < 1e-12


def test_large_images_are_no_less_exact() -> None:
    random = np.random.default_rng(0)
    first = np.add.outer(np.arange(300), np.arange(257)).astype(np.uint8)
    second = np.clip(first + random.normal(0, 20, first.shape), 0, 255).astype(np.uint8)
    assert abs(ssim(first, second) - skimage.structural_similarity(first, second)) < 1e-12


@given(images=SHAPES.flatmap(lambda shape: arrays.arrays(np.uint8, (2, *shape))))
def test_similarity_has_no_direction(images: Array) -> None:
    first, second = images
    assert ssim(first, first) == pytest.approx(1, abs=1e-12)
    assert ssim(first, second) == ssim(second, first) <= 1 + 1e-12
    assert ssim(first[::-1], second[::-1]) == pytest.approx(ssim(first, second), abs=1e-12)
    assert ssim(first.T, second.T) == pytest.approx(ssim(first, second), abs=1e-12)


def test_no_pairs() -> None:
    assert ssim_pairs(np.zeros((0, 8, 8), np.uint8), np.zeros((0, 2), int)).shape == (0,)


def test_what_cannot_be_compared_is_refused() -> None:
    image = np.zeros((8, 8), np.uint8)
    with pytest.raises(DuplicatesError, match="scale them first"):
        ssim(image, image[:7])
    with pytest.raises(DuplicatesError, match="at least 7 × 7"):
        ssim(image[:6], image[:6])
    with pytest.raises(DuplicatesError, match="values from 0 to 255"):
        ssim(image / 255, image / 255)
    with pytest.raises(DuplicatesError, match="beyond the 2"):
        ssim_pairs(np.stack([image, image]), np.array([[0, 2]]))
