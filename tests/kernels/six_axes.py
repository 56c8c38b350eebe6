"""Kernels straight from their definitions: a tensor of six axes, and loops over positions. For tiny images only."""

from __future__ import annotations

from itertools import product

import numpy as np

from dissensus.kernels.layers import Conv, Gaussian, Kernel, Mean, Pool, Relu


def six_axes(images: np.ndarray, kernel: Kernel) -> np.ndarray:
    """K[first image, row, column, second image, row, column] after all layers (the thesis, 5.3.2)."""
    products = np.einsum("nijc,mklc->nijmkl", images, images)
    for layer in kernel.layers:
        products = _layer(products, layer)
    return products


def matrix(images: np.ndarray, kernel: Kernel) -> np.ndarray:
    products = six_axes(images, kernel)
    assert products.shape[1:3] == (1, 1)
    return products[:, 0, 0, :, 0, 0]


def fits(kernel: Kernel, height: int, width: int) -> bool:
    """Whether every window divides what is left of an image, and one position remains."""
    for layer in kernel.layers:
        if isinstance(layer, Pool):
            if height % layer.width or width % layer.width:
                return False
            height, width = height // layer.width, width // layer.width
        elif isinstance(layer, Mean):
            height = width = 1
    return height == width == 1


def norms(products: np.ndarray) -> np.ndarray:
    return np.sqrt(np.maximum(np.einsum("nijnij->nij", products), 0))


def _layer(before: np.ndarray, layer: object) -> np.ndarray:
    count, height, width = before.shape[:3]
    if isinstance(layer, Conv):
        return _convolved(before, layer.width // 2)
    if isinstance(layer, Pool | Mean):
        tall, wide = (height, width) if isinstance(layer, Mean) else (layer.width, layer.width)
        after = np.zeros((count, height // tall, width // wide) * 2)
        for i, j, k, m in product(range(height), range(width), range(height), range(width)):
            after[:, i // tall, j // wide, :, k // tall, m // wide] += before[:, i, j, :, k, m]
        return after / (tall * wide) ** 2
    sizes = norms(before)
    both = sizes[:, :, :, None, None, None] * sizes
    cosine = np.clip(np.divide(before, both, out=np.zeros_like(before), where=both > 0), -1, 1)
    if isinstance(layer, Relu):
        angle = np.arccos(cosine)
        return both * (np.sin(angle) + (np.pi - angle) * cosine) / np.pi
    assert isinstance(layer, Gaussian)
    return both * np.exp(layer.gamma * (cosine - 1))


def _convolved(before: np.ndarray, reach: int) -> np.ndarray:
    """Sum over the offsets (a, b) that stay within both images."""
    height, width = before.shape[1:3]
    after = np.zeros_like(before)
    offsets = range(-reach, reach + 1)
    for i, j, k, m in product(range(height), range(width), range(height), range(width)):
        for a, b in product(offsets, offsets):
            if all(0 <= row < height for row in (i + a, k + a)) and all(0 <= at < width for at in (j + b, m + b)):
                after[:, i, j, :, k, m] += before[:, i + a, j + b, :, k + a, m + b]
    return after
