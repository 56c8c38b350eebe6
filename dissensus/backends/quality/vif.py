"""Visual information fidelity in the pixel domain.

Sheikh and Bovik, IEEE Trans. Image Processing 15(2), 2006, in the form that the authors released later (VIFp): four
scales of Gaussian windows instead of wavelet subbands.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.backends.quality.pixels import gaussian, windowed_inside

NOISE = 2.0
"""Variance of the noise that the eye adds."""
TINY = 1e-10
WINDOWS = tuple(gaussian(length, length / 5) for length in (17, 9, 5, 3))
SHORTEST = 41
"""The shortest side for which every window still fits into its scale."""


def vif(pixels: Float[Array, "H W"], reference: Float[Array, "H W"]) -> float:
    """Information about the scene left in the image, as a share of the reference's; above 1 for more contrast.

    Undefined (NaN) if the reference has none.
    """
    left = held = 0.0
    for scale, window in enumerate(WINDOWS):
        if scale:
            pixels = windowed_inside(pixels, window)[::2, ::2]
            reference = windowed_inside(reference, window)[::2, ::2]
        left_here, held_here = _information(pixels, reference, window)
        left, held = left + left_here, held + held_here
    return left / held if held > TINY else float("nan")


def _information(y: Float[Array, "H W"], x: Float[Array, "H W"], window: Float[Array, " n"]) -> tuple[float, float]:
    """Information at one scale, with y = gain · x + distortion in every window."""
    mean_x, mean_y = windowed_inside(x, window), windowed_inside(y, window)
    variance_x = np.maximum(windowed_inside(x * x, window) - mean_x**2, 0)
    variance_y = np.maximum(windowed_inside(y * y, window) - mean_y**2, 0)
    covariance = windowed_inside(x * y, window) - mean_x * mean_y
    variance_x[variance_x < TINY] = 0
    # a flat window carries no information, and variation opposite to the reference is distortion
    gain = np.where((variance_x > 0) & (variance_y >= TINY), np.maximum(covariance / (variance_x + TINY), 0), 0)
    distortion = np.maximum(variance_y - gain * covariance, TINY)
    left = np.log2(1 + gain**2 * variance_x / (distortion + NOISE)).sum()
    return float(left), float(np.log2(1 + variance_x / NOISE).sum())
