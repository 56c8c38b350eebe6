"""What is compared of an image: a thumbnail, a small grey image, and features that need no model."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Float, UInt8

GRID = 6
ORIENTATIONS = 8
COLOUR_GRID = 4
COLOUR_WEIGHT = 0.3
SIDE = 64


def thumbnail(image: Image.Image, side: int = 32) -> UInt8[Array, "side side 3"]:
    """The whole image, stretched to a small square: what ℓ₂ on pixels compares."""
    return np.asarray(_squared(image, side, "RGB"))


def grey(image: Image.Image, side: int = 64) -> UInt8[Array, "side side"]:
    """The whole image in grey, stretched to a square: what SSIM compares."""
    return np.asarray(_squared(image, side, "L"))


def features(image: Image.Image) -> Float[Array, " d"]:
    """Oriented gradients and colours on a coarse grid; the same for an image and its mirror image."""
    pixels = np.asarray(_squared(image, SIDE, "RGB"), np.float32) / 255
    plain, mirrored = _described(pixels), _described(pixels[:, ::-1])
    return np.concatenate([plain + mirrored, np.abs(plain - mirrored)])[_half()].astype(np.float32)


def _squared(image: Image.Image, side: int, mode: str) -> Image.Image:
    return image.convert("RGB").resize((side, side), Image.Resampling.BOX).convert(mode)


def _described(pixels: Float[Array, "h w 3"]) -> Float[Array, " d"]:
    shade = pixels @ np.array([0.299, 0.587, 0.114], np.float32)
    down, right = np.gradient(shade)
    strength = np.sqrt(np.hypot(down, right))
    angle = np.mod(np.arctan2(down, right), np.pi) * ORIENTATIONS / np.pi
    share = np.clip(1 - np.abs(np.mod(angle[None] - np.arange(ORIENTATIONS)[:, None, None] + ORIENTATIONS / 2,
                                      ORIENTATIONS) - ORIENTATIONS / 2), 0, None)  # fmt: skip
    pool = _pooling(GRID)
    oriented = np.einsum("gh,ohw,kw->gko", pool, share * strength, pool).ravel()
    colour = _pooling(COLOUR_GRID)
    chroma = pixels - shade[:, :, None]
    coloured = np.einsum("gh,hwc,kw->gkc", colour, chroma, colour).ravel()
    oriented /= np.linalg.norm(oriented) + 1e-3
    return np.concatenate([oriented, COLOUR_WEIGHT * coloured / np.sqrt(coloured.size)])


@lru_cache
def _pooling(cells: int) -> Float[Array, "cells side"]:
    """Means over overlapping cells, so that a small shift changes little."""
    centre = (np.arange(cells) + 0.5) * SIDE / cells
    weight = np.clip(1 - np.abs(np.arange(SIDE) + 0.5 - centre[:, None]) / (SIDE / cells), 0, None)
    return (weight / weight.sum(axis=1, keepdims=True)).astype(np.float32)


@lru_cache
def _half() -> Array:
    """A mirror image swaps cells: every value is there twice, and once is enough."""
    mirrored = np.arange(GRID * GRID * ORIENTATIONS).reshape(GRID, GRID, ORIENTATIONS)
    coloured = np.arange(COLOUR_GRID * COLOUR_GRID * 3).reshape(COLOUR_GRID, COLOUR_GRID, 3) + mirrored.size
    kept = np.concatenate([mirrored[:, : GRID // 2].ravel(), coloured[:, : COLOUR_GRID // 2].ravel()])
    return np.concatenate([kept, kept + mirrored.size + coloured.size])
