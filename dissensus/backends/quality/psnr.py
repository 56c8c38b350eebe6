"""Peak signal-to-noise ratio."""

from __future__ import annotations

import math

from dissensus.arrays import Array, Float

PEAK = 255.0
CAP = 100.0
"""In decibels, for identical images; one grey level at one pixel in a million is 108 dB."""


def psnr(pixels: Float[Array, "H W"], reference: Float[Array, "H W"]) -> float:
    """10 log₁₀(255² / mean squared error) in decibels, at most 100."""
    error = float(((pixels - reference) ** 2).mean())
    return CAP if error == 0 else min(CAP, 10 * math.log10(PEAK**2 / error))
