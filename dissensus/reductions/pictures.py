"""Images with less information: fewer colours, fewer pixels, a smaller part, or all of these (laconic, section 3.2).

Every reduction has one or more axes. A level counts atomic steps along an axis: 0 leaves the image as it is, and one
more is the smallest change there is (section 3.3).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from PIL import Image

from dissensus.arrays import Array, UInt8
from dissensus.errors import ReductionError

NEUTRAL = 128
"""The value of pixels that a crop removes: mid-grey, in every channel."""
COLOURS = 256
"""Values per channel of an image that is not reduced."""

Levels = tuple[int, ...]


@dataclass(frozen=True)
class Picture:
    """RGB pixels, and the window of them that is part of the image; everything outside is `NEUTRAL`.

    The window is [top, bottom) × [left, right).
    """

    pixels: UInt8[Array, "h w 3"]
    window: tuple[int, int, int, int]

    @classmethod
    def whole(cls, pixels: UInt8[Array, "h w 3"]) -> Picture:
        return cls(pixels, (0, pixels.shape[0], 0, pixels.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[0], self.pixels.shape[1]

    @property
    def is_whole(self) -> bool:
        return self.window == (0, self.shape[0], 0, self.shape[1])


Apply = Callable[[Picture, Levels], Picture]


@dataclass(frozen=True)
class Reduction:
    """A way to remove information: `apply` takes one level per axis, `room` gives the largest ones.

    `room(shape, levels)` is how far each axis can go if the others stay at their levels.
    """

    axes: tuple[str, ...]
    apply: Apply
    room: Callable[[tuple[int, int], Levels], Levels]
    nothing: Callable[[tuple[int, int]], Levels]
    """The levels at which nothing can be recognised: where people start."""

    def __call__(self, pixels: UInt8[Array, "h w 3"], levels: Sequence[int]) -> UInt8[Array, "r s 3"]:
        """The reduced image.

        Raises:
            ReductionError: the number of levels is not that of axes, or one is too large or negative.
        """
        self.check(pixels.shape[:2], levels)
        return self.apply(Picture.whole(pixels), tuple(levels)).pixels

    def check(self, shape: tuple[int, ...], levels: Sequence[int]) -> None:
        """Raise ReductionError if these are not levels of an image of this shape."""
        if len(levels) != len(self.axes):
            raise ReductionError(f"got {len(levels)} levels for {len(self.axes)} axes ({', '.join(self.axes)})")
        most = self.room((shape[0], shape[1]), tuple(levels))
        for axis, level, largest in zip(self.axes, levels, most, strict=True):
            if not 0 <= level <= largest:
                raise ReductionError(f"{axis} has no level {level}: an image of this size has 0 to {largest}")

    @property
    def original(self) -> Levels:
        """The levels of an image that is not reduced."""
        return (0,) * len(self.axes)


def colour(picture: Picture, levels: Levels) -> Picture:
    """Q(κ) with κ = 256 − level: every pixel becomes the nearest of κ equidistant values per channel.

    The nearest colour in Euclidean distance is the nearest value in each channel, as the colours form a grid. The
    values span 0 to 255, so that the output fills the colour space; a single one (κ = 1) is `NEUTRAL`.
    """
    top, bottom, left, right = picture.window
    if picture.is_whole:
        return replace(picture, pixels=_palette(COLOURS - levels[0])[picture.pixels])
    pixels = picture.pixels.copy()
    pixels[top:bottom, left:right] = _palette(COLOURS - levels[0])[pixels[top:bottom, left:right]]
    return replace(picture, pixels=pixels)


@lru_cache(COLOURS)
def _palette(count: int) -> UInt8[Array, " v"]:
    """The nearest of `count` equidistant values for each value from 0 to 255; the lower one if two are equally near."""
    if count == 1:
        return np.full(COLOURS, NEUTRAL, np.uint8)
    # |255·j/(count − 1) − value|, without fractions
    distance = np.abs(255 * np.arange(count) - (count - 1) * np.arange(COLOURS)[:, None])
    return np.floor(np.arange(count) * 255 / (count - 1) + 0.5).astype(np.uint8)[distance.argmin(axis=1)]


def resolution(picture: Picture, levels: Levels) -> Picture:
    """D(σ): the image with fewer pixels, each the mean of the area it covers.

    The level is the place in `sizes`. The window grows to the pixels that it touches.
    """
    height, width = picture.shape
    rows, columns = sizes(height, width)[levels[0]]
    if (rows, columns) == (height, width):
        return picture
    small = Image.fromarray(picture.pixels).resize((columns, rows), Image.Resampling.BOX)
    top, bottom, left, right = picture.window
    window = (
        top * rows // height, -(-bottom * rows // height), left * columns // width, -(-right * columns // width)
    )  # fmt: skip
    return Picture(np.asarray(small), window)


@lru_cache(64)
def sizes(height: int, width: int) -> tuple[tuple[int, int], ...]:
    """All (⌊σ·height⌋, ⌊σ·width⌋) of at least one pixel, as σ falls from 1 (section 3.3)."""
    # ⌊σh⌋ changes where σ = k/h; compare k/h and j/w as integers, over the common denominator h·w
    borders = sorted({k * width for k in range(1, height + 1)} | {j * height for j in range(1, width + 1)})
    every = ((border // width, border // height) for border in reversed(borders))
    return tuple(size for size in every if min(size) >= 1)


def crop(picture: Picture, levels: Levels) -> Picture:
    """S(α, β, γ, δ): that many columns left and right, and rows at the top and bottom, become `NEUTRAL`.

    The paper's formula removes rows and columns; its text says that filling them works better, as models would stretch
    a narrow crop.
    """
    left, right, top, bottom = levels
    height, width = picture.shape
    window = (top, height - bottom, left, width - right)
    pixels = np.full_like(picture.pixels, NEUTRAL)
    kept = slice(window[0], window[1]), slice(window[2], window[3])
    pixels[kept] = picture.pixels[kept]
    return Picture(pixels, window)


def _crop_room(shape: tuple[int, int], levels: Levels) -> Levels:
    left, right, top, bottom = levels
    height, width = shape
    return width - 1 - right, width - 1 - left, height - 1 - bottom, height - 1 - top


def _central(shape: tuple[int, int]) -> Levels:
    """Everything but the central pixel, which is number ⌈length/2⌉ from the top and from the left."""
    height, width = shape
    before = (width - 1) // 2, (height - 1) // 2
    return before[0], width - 1 - before[0], before[1], height - 1 - before[1]


def one_axis(name: str, apply: Apply, most: Callable[[tuple[int, int]], int]) -> Reduction:
    """A reduction with one axis, which has `most(shape)` steps.

    Example: `REDUCTIONS["blur"] = one_axis("blur", blur, lambda shape: 40)`, where `blur` takes a `Picture` and a tuple
    with one level and returns a `Picture`.
    """
    return Reduction((name,), apply, lambda shape, _: (most(shape),), lambda shape: (most(shape),))


def combined(*reductions: Reduction) -> Reduction:
    """Several reductions, one after another; every one has its own axes, and room as in the original image."""
    ends = np.cumsum([0, *(len(one.axes) for one in reductions)]).tolist()
    parts = [slice(start, end) for start, end in pairwise(ends)]
    each = list(zip(reductions, parts, strict=True))

    def apply(picture: Picture, levels: Levels) -> Picture:
        for one, part in each:
            if any(levels[part]):
                picture = one.apply(picture, levels[part])
        return picture

    return Reduction(
        tuple(axis for one in reductions for axis in one.axes),
        apply,
        lambda shape, levels: tuple(most for one, part in each for most in one.room(shape, levels[part])),
        lambda shape: tuple(level for one in reductions for level in one.nothing(shape)),
    )


COLOUR = one_axis("colour", colour, lambda _: COLOURS - 1)
RESOLUTION = one_axis("resolution", resolution, lambda shape: len(sizes(*shape)) - 1)
CROP = Reduction(("left", "right", "top", "bottom"), crop, _crop_room, _central)

REDUCTIONS: dict[str, Reduction] = {
    "colour": COLOUR,
    "resolution": RESOLUTION,
    "crop": CROP,
    # colours last: means of areas would bring back values that are not among the κ
    "combined": combined(CROP, RESOLUTION, COLOUR),
}


def reduction_named(name: str) -> Reduction:
    """A known reduction.

    Raises:
        ReductionError: no reduction has this name.
    """
    if name not in REDUCTIONS:
        raise ReductionError(f"unknown reduction '{name}': use {', '.join(REDUCTIONS)}")
    return REDUCTIONS[name]
