"""Structural similarity, at one scale and at five.

Wang, Bovik, Sheikh and Simoncelli, IEEE Trans. Image Processing 13(4), 2004; Wang, Simoncelli and Bovik, Asilomar 2003.
"""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from dissensus.arrays import Array, Float
from dissensus.backends.quality.pixels import gaussian, windowed_inside

C1, C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
WINDOW = gaussian(11, 1.5)
WEIGHTS = np.array([0.0448, 0.2856, 0.3001, 0.2363, 0.1333])
"""Weights of the five scales, finest first."""
SHORTEST = len(WINDOW) << (len(WEIGHTS) - 1)
"""The shortest side for which the window still fits into the coarsest scale."""


def ssim(pixels: Float[Array, "H W"], reference: Float[Array, "H W"]) -> float:
    """Mean of luminance × contrast × structure (Eq. 13), −1 to 1, without downsampling the image first."""
    luminance, contrast_structure = _parts(pixels, reference)
    return float((luminance * contrast_structure).mean())


def ms_ssim(pixels: Float[Array, "H W"], reference: Float[Array, "H W"]) -> float:
    """Product of contrast × structure over five scales, and of luminance at the coarsest, each to its weight (Eq. 7).

    A negative mean of contrast × structure, which has no real power, counts as zero, the lowest similarity.
    """
    means = np.empty(len(WEIGHTS))
    for scale in range(len(WEIGHTS)):
        if scale:
            pixels, reference = _halved(pixels), _halved(reference)
        luminance, contrast_structure = _parts(pixels, reference)
        is_last = scale == len(WEIGHTS) - 1
        means[scale] = (luminance * contrast_structure).mean() if is_last else contrast_structure.mean()
    return float(np.prod(np.maximum(means, 0) ** WEIGHTS))


def _parts(x: Float[Array, "H W"], y: Float[Array, "H W"]) -> tuple[Float[Array, "h w"], Float[Array, "h w"]]:
    """Luminance, and contrast × structure. Needs only the sum of the two variances, so four windows instead of five."""
    mean_x, mean_y = windowed_inside(x, WINDOW), windowed_inside(y, WINDOW)
    product, squares = mean_x * mean_y, mean_x**2 + mean_y**2
    covariance = windowed_inside(x * y, WINDOW) - product
    variances = windowed_inside(x**2 + y**2, WINDOW) - squares
    return (2 * product + C1) / (squares + C1), (2 * covariance + C2) / (variances + C2)


def _halved(pixels: Float[Array, "H W"]) -> Float[Array, "h w"]:
    """Means of 2 × 2 pixels; an odd last row or column is averaged with itself."""
    even = np.pad(pixels, [(0, length % 2) for length in pixels.shape], mode="edge")
    return ndimage.uniform_filter(even, 2, origin=-1)[::2, ::2]
