from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from dissensus.records import Classes


@pytest.fixture(scope="session")
def imagenet(kit: Path) -> Classes:
    return Classes(names=tuple((kit / "classifiers" / "imagenet_labels.txt").read_text().splitlines()[1:]))


@pytest.fixture
def three() -> Classes:
    return Classes(
        names=("red", "green", "blue"), ids=("n1", "n2", "n3"), synonyms=(("scarlet",), ("lime", "sea"), ("sea",))
    )


@pytest.fixture
def colours() -> list[Image.Image]:
    """Five noisy images, each nearly of one colour, in the order red, green, blue, blue, red."""
    rng = np.random.default_rng(0)
    images = []
    for channel in (0, 1, 2, 2, 0):
        array = rng.integers(0, 60, (12, 10, 3), dtype=np.uint8)
        array[:, :, channel] += 180
        images.append(Image.fromarray(array))
    return images


@pytest.fixture
def colour_labels() -> list[int]:
    return [0, 1, 2, 2, 0]
