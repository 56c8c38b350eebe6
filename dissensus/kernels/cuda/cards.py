"""What the CUDA kernel knows about one image: its pixels and, for every embedding, the norms of its features.

Norms are exact and in float64. After a pooling, the norm at a position depends on the inner products of the positions
that were pooled, so on the image's kernel with itself at displacements of up to one; before the pooling, of up to
three; and so on. Only these are computed. All functions take numpy or CuPy arrays (`xp` is the module).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.kernels.layers import Gaussian, Relu

NOTHING = -1e30
"""The logarithm of a norm of zero, as in myrtle.cu."""


def embedded(layer: Relu | Gaussian, products: Any, norms: Any, xp: Any = np) -> Any:
    """The kernel of an embedding, given inner products and products of norms; 0 where a norm is 0."""
    is_some = norms > 0
    cosine = xp.clip(xp.where(is_some, products / xp.where(is_some, norms, 1.0), 0.0), -1.0, 1.0)
    if isinstance(layer, Relu):
        return norms * (xp.sqrt(1 - cosine**2) + (np.pi - xp.arccos(cosine)) * cosine) / np.pi
    return norms * xp.exp(layer.gamma * (cosine - 1))


def cards(
    images: Float[Array, "n side side channels"], blocks: tuple[int, int, int], embedding: Relu | Gaussian, xp: Any = np
) -> tuple[Any, Any]:
    """One row of float32 for each image, in the order that myrtle.cu reads, and the factors that undo its scaling.

    Every image is scaled to pixels of norm 1 on average, and every convolution to an average instead of a sum: the
    kernel is homogeneous in each image, so that a factor per image restores its value.
    """
    pixels = xp.asarray(images, dtype=xp.float64)
    scale = xp.sqrt((pixels**2).sum(axis=3).mean(axis=(1, 2)))
    pixels = pixels / xp.where(scale > 0, scale, 1.0)[:, None, None, None]
    squares = _squared_norms(pixels, blocks, embedding, xp)
    parts = [xp.moveaxis(pixels, 3, 1).reshape(len(pixels), -1)]
    for number, square in enumerate(squares):  # whole planes of the first block, later pairs of numbers
        read = xp.stack(_as_read(square, embedding, xp), axis=1 if number < blocks[0] else -1)
        parts.append(read.reshape(len(pixels), -1))
    return xp.concatenate(parts, axis=1).astype(xp.float32), scale * 3.0 ** sum(blocks)


def _as_read(squares: Any, embedding: Relu | Gaussian, xp: Any) -> tuple[Any, Any]:
    """r and a of `embedded` in myrtle.cu. Norms are of averages: A / 3 for a sum over nine; r undoes the average."""
    norms = xp.sqrt(squares)
    is_some = norms > 0
    inverse = xp.where(is_some, 1 / (3 * xp.where(is_some, norms, 1.0)), 0.0)
    if isinstance(embedding, Relu):
        return inverse, norms
    rate = embedding.gamma / np.log(2)
    return inverse * np.sqrt(rate), xp.where(is_some, xp.log2(xp.where(is_some, norms, 1.0)) - rate / 2, NOTHING)


def _squared_norms(pixels: Any, blocks: tuple[int, int, int], embedding: Relu | Gaussian, xp: Any) -> list[Any]:
    """Squared norms before every embedding, at every position: of averages over nine, so a ninth of those of sums."""
    found: list[Any] = []
    reach = 2 ** (len(blocks) - 1) - 1  # 3, 1, 0
    maps = {(di, dj): (pixels * _moved(pixels, di, dj, xp)).sum(axis=3) for di, dj in _displacements(reach)}
    for number, layers in enumerate(blocks):
        for _ in range(layers):
            squares = _box(maps[0, 0], xp) / 9
            found.append(squares)
            norms = xp.sqrt(squares)
            maps = {
                d: embedded(embedding, _box(values, xp) / 9, norms * _moved(norms, *d, xp), xp)
                for d, values in maps.items()
            }
        if number < len(blocks) - 1:
            reach //= 2
            maps = {d: _pooled(maps, *d) for d in _displacements(reach)}
    return found


def _displacements(reach: int) -> list[tuple[int, int]]:
    steps = range(-reach, reach + 1)
    return [(di, dj) for di in steps for dj in steps]


def _moved(values: Any, di: int, dj: int, xp: Any) -> Any:
    """values[:, i + di, j + dj], with zeros beyond the edges."""
    moved = xp.zeros_like(values)
    height, width = values.shape[1:3]
    rows, columns = slice(max(0, -di), min(height, height - di)), slice(max(0, -dj), min(width, width - dj))
    from_rows, from_columns = slice(rows.start + di, rows.stop + di), slice(columns.start + dj, columns.stop + dj)
    moved[:, rows, columns] = values[:, from_rows, from_columns]
    return moved


def _box(values: Any, xp: Any) -> Any:
    """Sums over 3 × 3, with zeros beyond the edges."""
    tall = values + _moved(values, 1, 0, xp) + _moved(values, -1, 0, xp)
    return tall + _moved(tall, 0, 1, xp) + _moved(tall, 0, -1, xp)


def _pooled(maps: dict[tuple[int, int], Any], di: int, dj: int) -> Any:
    """The map at a coarse displacement: averages over 2 × 2 positions of either image."""
    total = 0.0
    for a, b in ((0, 0), (0, 1), (1, 0), (1, 1)):
        for c, d in ((0, 0), (0, 1), (1, 0), (1, 1)):
            total = total + maps[2 * di + c - a, 2 * dj + d - b][:, a::2, b::2]
    return total / 16
