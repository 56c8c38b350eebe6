"""Handwritten digits pasted onto crops of photos: scenes with exact ground truth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Float, Int, UInt8

WIDTH, HEIGHT = 256, 192
NAMES = ("background", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "zero")
"""Names of the labels; a digit's label is the digit itself, which is also its key on the drawing page."""
ZERO = NAMES.index("zero")
LEVELS = 16
"""Maximum pixel value in scikit-learn's digits."""
MOST_DIGITS = 4
TRIES = 20
"""Positions that are tried for a digit before it is left out."""
SHADE = 0.75
"""Factor by which photos are darkened, so that ink is brighter than most of the photo, but not all of it."""


@dataclass(frozen=True)
class Scene:
    """An image, and the digit that each pixel belongs to."""

    picture: UInt8[Array, "H W 3"]
    truth: UInt8[Array, "H W"]


@dataclass(frozen=True)
class Material:
    """The ingredients of scenes: photos, and digits of 8×8 pixels with their values."""

    photos: Sequence[UInt8[Array, "h w 3"]]
    digits: Float[Array, "D 8 8"]
    values: Int[Array, " D"]


def drawn_scene(material: Material, rng: np.random.Generator) -> Scene:
    """One to four digits in bright inks, of random sizes and in random places, on a crop of a photo."""
    pixels, truth = _ground(material.photos, rng), np.zeros((HEIGHT, WIDTH), np.uint8)
    is_taken = np.zeros((HEIGHT, WIDTH), bool)
    for _ in range(rng.integers(1, MOST_DIGITS + 1)):
        number = int(rng.integers(len(material.digits)))
        shape = _enlarged(material.digits[number], int(rng.integers(HEIGHT // 3, HEIGHT // 2)))
        place = _free_place(is_taken, shape.shape, rng)
        if place is None:
            continue
        is_taken[place] = True
        # ink fades out within two pixels, as a pen's does; the truth is where most of the colour is ink
        ink = np.clip((shape - 0.3) / 0.3, 0, 1)[..., None]
        pixels[place] = pixels[place] * (1 - ink) + rng.uniform(170, 255, 3) * ink
        truth[place][shape >= 0.45] = int(material.values[number]) or ZERO
    return Scene(np.rint(pixels).clip(0, 255).astype(np.uint8), truth)


def _ground(photos: Sequence[UInt8[Array, "h w 3"]], rng: np.random.Generator) -> Float[Array, "H W 3"]:
    """A darkened crop of a photo."""
    photo = photos[int(rng.integers(len(photos)))]
    width = int(rng.integers(WIDTH, 2 * WIDTH))
    height = width * HEIGHT // WIDTH
    left, top = int(rng.integers(photo.shape[1] - width + 1)), int(rng.integers(photo.shape[0] - height + 1))
    crop = Image.fromarray(photo[top : top + height, left : left + width])
    return SHADE * np.asarray(crop.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS), np.float64)


def _enlarged(digit: Float[Array, "8 8"], height: int) -> Float[Array, "h w"]:
    """The ink of a digit, 0 to 1, enlarged smoothly to three quarters as wide as high."""
    small = Image.fromarray(np.rint(digit * (255 / LEVELS)).astype(np.uint8))
    return np.asarray(small.resize((height * 3 // 4, height), Image.Resampling.BICUBIC), np.float64) / 255


def _free_place(is_taken: Array, shape: tuple[int, ...], rng: np.random.Generator) -> tuple[slice, slice] | None:
    """A random position where a digit overlaps no other; None if none was found."""
    for _ in range(TRIES):
        top, left = (int(rng.integers(whole - part + 1)) for whole, part in zip(is_taken.shape, shape, strict=True))
        place = slice(top, top + shape[0]), slice(left, left + shape[1])
        if not is_taken[place].any():
            return place
    return None
