"""A kernel as the thesis defines it (5.3.2), layer by layer, on all pairs of positions: slow, for checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.kernels.layers import Conv, Gaussian, Kernel, Relu, levels


def by_definition(x: Any, z: Any, kernel: Kernel, xp: Any = np) -> float:
    """Kernel of two images of height × width × channels, in float64; `xp` is numpy or CuPy."""
    first, second = (xp.asarray(image, dtype=xp.float64) for image in (x, z))
    products = [xp.einsum("ijc,klc->ijkl", *pair) for pair in ((first, second), (first, first), (second, second))]
    for level in levels(kernel, *first.shape[:2]):
        for layer in level.layers:
            if isinstance(layer, Conv):
                products = [_convolved(one, layer.width // 2, xp) for one in products]
            else:
                own, other = (xp.sqrt(xp.einsum("ijij->ij", one)) for one in products[1:])
                sides = ((own, other), (own, own), (other, other))
                products = [_embedded(one, layer, *pair, xp) for one, pair in zip(products, sides, strict=True)]
        products = [_pooled(one, level.window) for one in products]
    return float(products[0].sum())


def _convolved(products: Any, reach: int, xp: Any) -> Any:
    """Sums over the same offset in both images, with zeros beyond the edges."""
    padded = xp.pad(products, reach)
    height, width = products.shape[:2]
    total = xp.zeros_like(products)
    for i in range(2 * reach + 1):
        for j in range(2 * reach + 1):
            rows, columns = slice(i, i + height), slice(j, j + width)
            total += padded[rows, columns, rows, columns]
    return total


def _embedded(products: Any, layer: Relu | Gaussian, own: Any, other: Any, xp: Any) -> Any:
    norms = own[:, :, None, None] * other[None, None]
    is_some = norms > 0
    cosine = xp.clip(xp.where(is_some, products / xp.where(is_some, norms, 1.0), 0.0), -1.0, 1.0)
    if isinstance(layer, Relu):
        angle = xp.arccos(cosine)
        return norms * (xp.sin(angle) + (np.pi - angle) * xp.cos(angle)) / np.pi
    return norms * xp.exp(layer.gamma * (cosine - 1))


def _pooled(products: Any, window: tuple[int, int]) -> Any:
    (a, b), (height, width) = window, products.shape[:2]
    shape = (height // a, a, width // b, b) * 2
    return products.reshape(shape).mean(axis=(1, 3, 5, 7))
