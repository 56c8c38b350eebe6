"""What is compared of an image: a thumbnail, a small grey image, and features that need no model.

All of them stretch the image to a square first, so that scaling and stretching make no difference. How many
near-duplicates they find: docs/methods/near-duplicates.md.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Float, UInt8

SIDE = 64
GRID = 5
ORIENTATIONS = 8
POWER = 0.75
"""Strengths of gradients count to this power, so that a few strong edges do not decide alone."""
COLOUR_GRID = 4
COLOUR_WEIGHT = 0.3
"""A change of colours or a grey copy is still the same picture: colours count little."""
FAINT = 1e-3
"""Added to the length of all gradients, so that the noise of an empty picture does not become its features."""


def thumbnail(image: Image.Image, side: int = 32) -> UInt8[Array, "side side 3"]:
    """The whole image, stretched to a small square: what ℓ₂ on pixels compares."""
    return np.array(_squared(image, side))


def grey(image: Image.Image, side: int = 64) -> UInt8[Array, "side side"]:
    """The whole image in grey, stretched to a square: what SSIM compares."""
    return np.array(_squared(image, side).convert("L"))


def features(image: Image.Image) -> Float[Array, " d"]:
    """Oriented gradients and colours on a coarse grid, as float32; the same for an image and its mirror image.

    Every cell is compared with its mirror image: their sum and the size of their difference do not depend on which is
    which.
    """
    pixels = np.asarray(_squared(image, SIDE), np.float32) / 255
    shade = pixels @ np.array([0.299, 0.587, 0.114], np.float32)
    gradients = _gradients(shade)
    colours = _pooled(pixels - shade[:, :, None], COLOUR_GRID) * (COLOUR_WEIGHT / COLOUR_GRID / np.sqrt(3))
    turned = -np.arange(ORIENTATIONS) % ORIENTATIONS
    parts = [*_folded(gradients, gradients[:, ::-1, turned]), *_folded(colours, colours[:, ::-1])]
    return np.concatenate(parts).astype(np.float32)


def _squared(image: Image.Image, side: int) -> Image.Image:
    """With a filter that treats left and right alike; Pillow's box filter does not."""
    return image.convert("RGB").resize((side, side), Image.Resampling.BILINEAR)


def _gradients(shade: Float[Array, "h w"]) -> Float[Array, "g g o"]:
    """Strength of the edges of every orientation in every cell, of length one as a whole."""
    down, right = np.gradient(shade)
    angle = np.mod(np.arctan2(down, right), np.pi) * (ORIENTATIONS / np.pi)
    away = np.abs(angle[:, :, None] - np.arange(ORIENTATIONS))
    share = np.clip(1 - np.minimum(away, ORIENTATIONS - away), 0, None)
    cells = _pooled(share * (np.hypot(down, right) ** POWER)[:, :, None], GRID)
    return cells / (np.linalg.norm(cells) + FAINT)


def _pooled(values: Float[Array, "h w c"], cells: int) -> Float[Array, "g g c"]:
    rows = np.tensordot(_weights(cells), values, axes=1)
    return np.tensordot(rows, _weights(cells), axes=(1, 1)).transpose(0, 2, 1)


@lru_cache
def _weights(cells: int) -> Float[Array, "cells side"]:
    """Means over overlapping cells, so that a small shift changes little."""
    centre = (np.arange(cells) + 0.5) * SIDE / cells
    weight = np.clip(1 - np.abs(np.arange(SIDE) + 0.5 - centre[:, None]) / (SIDE / cells), 0, None)
    return (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)


def _folded(plain: Float[Array, "g g c"], mirrored: Float[Array, "g g c"]) -> list[Float[Array, " d"]]:
    half = (plain.shape[1] + 1) // 2
    return [(plain + mirrored)[:, :half].ravel(), np.abs(plain - mirrored)[:, :half].ravel()]
