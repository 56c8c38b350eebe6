"""Pictures whose maps are known: the class of a pixel is its strongest channel."""

import numpy as np
from PIL import Image

from dissensus.records import Classes

PLAIN = {"mean": 0, "std": 1, "scale": 1}
"""Settings that leave the pixels as they are."""
THREE = Classes(("background", "cat", "dog"))
SIDE = 8


def pictures(count, side=SIDE):
    """Noise of few levels, so that channels tie."""
    rng = np.random.default_rng(count)
    return [Image.fromarray(rng.integers(0, 4, (side, side, 3), dtype=np.uint8) * 80) for _ in range(count)]


def strongest(images):
    return [np.asarray(image).argmax(axis=2) for image in images]


def assert_maps(found, expected):
    assert len(found) == len(expected)
    for have, want in zip(found, expected, strict=True):
        assert have.dtype == np.uint8
        np.testing.assert_array_equal(have, want)
