"""Photographs that come with scikit-image as lossless files, parts of them, and changes that need no codec."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import skimage
from PIL import Image

MIRRORED, QUARTER_TURN = Image.Transpose.FLIP_LEFT_RIGHT, Image.Transpose.ROTATE_90
CROPS = {"astronaut": (0, 0, 512, 512), "coffee": (0, 0, 592, 400), "chelsea": (0, 0, 448, 288)}


@cache
def photo(name: str) -> Image.Image:
    """A part of the photo whose sides are multiples of 16."""
    path = Path(skimage.__file__).parent / "data" / f"{name}.png"
    return Image.open(path).convert("RGB").crop(CROPS[name])


@cache
def coarse(name: str) -> Image.Image:
    """Eight values per channel instead of 256: flat places with sharp edges."""
    return Image.fromarray(np.asarray(photo(name)) // 32 * 32 + 16)


@cache
def smeared(name: str) -> Image.Image:
    """Mean of the photo and three shifted ones."""
    pixels = np.asarray(photo(name)).astype(int)
    shifted = [np.roll(pixels, by, axis=(0, 1)) for by in ((0, 0), (1, 0), (0, 2), (3, 3))]
    return Image.fromarray((sum(shifted) // 4).astype(np.uint8))


@cache
def eight_photos() -> tuple[Image.Image, ...]:
    """Eight that look different even when they are tiny, all wider than half a small window."""
    astronaut, coffee, chelsea = (photo(name) for name in CROPS)
    return (
        astronaut,
        coffee,
        chelsea,
        astronaut.crop((0, 0, 400, 300)),
        coffee.transpose(QUARTER_TURN),
        chelsea.transpose(MIRRORED),
        astronaut.crop((112, 190, 512, 512)),
        coffee.crop((0, 120, 420, 400)).transpose(MIRRORED),
    )
