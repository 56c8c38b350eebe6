"""What a network declares about its input, and batches of images that fit it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Literal

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array
from dissensus.backends.preprocess import Preprocess, Size, pixels, sides, size_of
from dissensus.errors import BackendError

Axes = Literal["nchw", "nhwc", "flat"]
Sides = tuple[int | None, int | None]
"""Height and width; None if a network takes any."""


@dataclass(frozen=True)
class Input:
    """The array that a network takes: `batch` images at a time if that is fixed."""

    axes: Axes
    size: Size
    dtype: np.dtype
    batch: int | None = None


def input_of(shape: Sequence[object], dtype: object, preprocess: Preprocess) -> Input:
    """The input of a network that declares `shape`; lengths other than positive integers are free, () declares nothing.

    Raises:
        BackendError: the shape is not that of images (square ones, except for masks), contradicts the settings, or
            leaves the size open.
    """
    lengths = [length if isinstance(length, int) and length > 0 else None for length in shape]
    axes = _axes(lengths, preprocess)
    expected = 2 if axes == "flat" else 4
    if lengths and len(lengths) != expected:
        raise BackendError(f"the model's input has {len(lengths)} axes, but layout '{axes}' has {expected}: set layout")
    batch, *inner = lengths or [None] * expected
    declared = _flat_sides(inner[0], preprocess) if axes == "flat" else _sides(axes, inner, preprocess)
    size = _size(declared, preprocess.size)
    return Input(axes, size, np.dtype(dtype), batch)  # type: ignore[call-overload]


def _axes(lengths: list[int | None], preprocess: Preprocess) -> Axes:
    if preprocess.layout != "auto":
        return preprocess.layout
    if len(lengths) == 2:
        return "flat"
    channels_last = len(lengths) == 4 and lengths[3] in (1, 3) and lengths[1] not in (1, 3)
    return "nhwc" if channels_last else "nchw"


def _sides(axes: Axes, inner: list[int | None], preprocess: Preprocess) -> Sides:
    """Height and width that a network declares."""
    depth, height, width = inner if axes == "nchw" else (inner[2], inner[0], inner[1])
    if depth not in (None, preprocess.depth):
        raise BackendError(
            f"the model takes {depth} channels, but channels = '{preprocess.channels}' gives {preprocess.depth}:"
            " set channels, or layout if the axes were misread"
        )
    if None not in (height, width) and height != width and not preprocess.takes_rectangles:
        raise BackendError(f"the model takes images of {height}×{width}: only square inputs are supported")
    return height, width


def _flat_sides(features: int | None, preprocess: Preprocess) -> Sides:
    if features is None:
        return None, None
    side = isqrt(features // preprocess.depth)
    if side * side * preprocess.depth != features:
        raise BackendError(
            f"{features} features do not make a square image with channels = '{preprocess.channels}': set channels"
        )
    return side, side


def _size(declared: Sides, setting: Size | None) -> Size:
    """The size in the settings, or else the declared one; a free side is as long as the other."""
    height, width = declared[0] or declared[1], declared[1] or declared[0]
    known = None if height is None or width is None else size_of(height, width)
    size = setting or known
    if size is None:
        raise BackendError("the model does not declare the size of its input: set size in its preprocess settings")
    fits = all(length in (None, side) for length, side in zip(declared, sides(size), strict=True))
    if known is not None and not fits:
        raise BackendError(
            f"the model takes images of {_words(known)} pixels, not {_words(size)}:"
            f" set size = {known if isinstance(known, int) else list(known)} or leave it out"
        )
    return size


def _words(size: Size) -> str:
    return str(size) if isinstance(size, int) else f"{size[0]}×{size[1]}"


def batch(images: Sequence[Image], preprocess: Preprocess, wanted: Input) -> Array:
    """The images as one contiguous array of the given layout and type."""
    raw = wanted.dtype == np.uint8
    stacked = np.stack([pixels(image, preprocess, wanted.size, raw=raw) for image in images])
    if wanted.axes == "nchw":
        stacked = stacked.transpose(0, 3, 1, 2)
    elif wanted.axes == "flat":
        stacked = stacked.reshape(len(stacked), -1)
    return np.ascontiguousarray(stacked, dtype=wanted.dtype)
