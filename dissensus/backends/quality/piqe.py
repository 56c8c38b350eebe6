"""Perception-based quality: the share of active blocks that look blocky or noisy.

Venkatanath, Praneeth, Chandrasekhar, Channappayya and Medasani, NCC 2015.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.backends.quality.natural import normalised

BLOCK, SEGMENT = 16, 6
ACTIVE = 0.1
"""Variance above which a block is active, that is, draws attention."""
IMPAIRED = 0.1
"""Standard deviation below which a segment of a block's edge is too uniform to be natural."""


def piqe(pixels: Float[Array, "H W"]) -> float:
    """0 (excellent) to 100; an image without any active block scores 100."""
    padded = np.pad(pixels, [(0, -length % BLOCK) for length in pixels.shape], mode="edge")
    blocks = _blocks(normalised(padded, "nearest"))
    variance = blocks.var(axis=(1, 2), ddof=1)
    is_active = variance > ACTIVE
    blocks, variance = blocks[is_active], variance[is_active]
    distortion = np.where(_is_impaired(blocks), 1 - variance, 0) + np.where(_is_noisy(blocks, variance), variance, 0)
    return float(100 * (distortion.sum() + 1) / (len(blocks) + 1))


def _blocks(pixels: Float[Array, "H W"]) -> Float[Array, "B n n"]:
    high, wide = (length // BLOCK for length in pixels.shape)
    return pixels.reshape(high, BLOCK, wide, BLOCK).swapaxes(1, 2).reshape(-1, BLOCK, BLOCK)


def _is_impaired(blocks: Float[Array, "B n n"]) -> Bool[Array, " B"]:
    """True if six consecutive pixels on one of the four edges hardly differ."""
    edges = np.stack([blocks[:, 0], blocks[:, -1], blocks[:, :, 0], blocks[:, :, -1]], axis=1)
    pieces = np.lib.stride_tricks.sliding_window_view(edges, SEGMENT, axis=2)
    return (pieces.std(axis=3, ddof=1) < IMPAIRED).any(axis=(1, 2))


def _is_noisy(blocks: Float[Array, "B n n"], variance: Float[Array, " B"]) -> Bool[Array, " B"]:
    """True if the centre varies as the whole block does.

    The authors' program leaves columns 8 and 10 out of the surround, not 8 and 9; so do we, to reproduce its scores.
    """
    centre = blocks[:, :, 7:9].std(axis=(1, 2), ddof=1)
    surround = np.delete(blocks, [7, 9], axis=2).std(axis=(1, 2), ddof=1)
    ratio = np.divide(centre, surround, out=np.zeros_like(centre), where=surround > 0)
    sigma = np.sqrt(variance)
    return sigma > 2 * np.abs(sigma - ratio) / np.maximum(sigma, ratio)
