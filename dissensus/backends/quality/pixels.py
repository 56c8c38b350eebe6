"""The pixel values that the models use, and the windows applied to them."""

from __future__ import annotations

import numpy as np
from PIL.Image import Image
from scipy import ndimage

from dissensus.arrays import Array, Float
from dissensus.backends.decode import as_rgb

LUMA = (0.299, 0.587, 0.114)
"""Weights of ITU-R BT.601, which the authors' programs use."""


def luma(image: Image) -> Float[Array, "H W"]:
    """BT.601 luma rounded to 0..255, as MATLAB's rgb2gray computes it for most of the authors' programs."""
    plain = image if image.mode in ("RGB", "L") else as_rgb(image)
    return np.asarray(plain.convert("L"), dtype=np.float64)


def exact_luma(image: Image) -> Float[Array, "H W"]:
    """BT.601 luma, not rounded."""
    if image.mode == "L":
        return np.asarray(image, dtype=np.float64)
    channels = np.asarray(image if image.mode == "RGB" else as_rgb(image))
    red, green, blue = (weight * channels[:, :, place] for place, weight in enumerate(LUMA))
    return red + green + blue


def gaussian(length: int, sigma: float) -> Float[Array, " n"]:
    """Weights of a Gaussian window of odd length that sum to one; the square window is their outer product."""
    from_centre = np.arange(length) - length // 2
    weights = np.exp(-(from_centre**2) / (2 * sigma**2))
    return weights / weights.sum()


def windowed(pixels: Float[Array, "H W"], weights: Float[Array, " n"], mode: str = "constant") -> Float[Array, "H W"]:
    """Weighted mean around every pixel. `mode` says what is outside the image: zeros, or the 'nearest' pixel."""
    return ndimage.correlate1d(ndimage.correlate1d(pixels, weights, 0, mode=mode), weights, 1, mode=mode)


def windowed_inside(pixels: Float[Array, "H W"], weights: Float[Array, " n"]) -> Float[Array, "h w"]:
    """Like `windowed`, but only where the whole window lies inside: n − 1 fewer rows and columns."""
    edge = len(weights) // 2
    rows = ndimage.correlate1d(pixels, weights, 0)[edge : len(pixels) - edge]
    return ndimage.correlate1d(rows, weights, 1)[:, edge : pixels.shape[1] - edge]
