"""Statistics of natural scenes: normalised pixels, and how they and their neighbours' products are distributed.

Mittal, Moorthy and Bovik, IEEE Trans. Image Processing 21(12), 2012; fits after Lasmar, Stitou and Berthoumieu, 2009.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import ndimage
from scipy.special import gamma

from dissensus.arrays import Array, Float
from dissensus.backends.quality.pixels import gaussian, windowed

WINDOW = gaussian(7, 7 / 6)
NEIGHBOURS = ((0, 1), (1, 0), (1, 1), (1, -1))
SHAPES = np.arange(200, 10_001) / 1000
"""Candidate shapes of a generalised Gaussian: 1 is Laplacian, 2 is Gaussian."""
RATIOS = gamma(2 / SHAPES) ** 2 / (gamma(1 / SHAPES) * gamma(3 / SHAPES))
"""Squared mean absolute value over mean square, which increases with the shape."""
ROUNDING = 1e-10
# MATLAB's imresize by one half: a cubic of twice the width, at the pixels 0.5, 1.5, 2.5 and 3.5 away
HALVING = np.array([-3, -9, 29, 111, 111, 29, -9, -3]) / 256


class Fit(NamedTuple):
    """Shape of an asymmetric generalised Gaussian, and root mean squares left and right of zero; one per block."""

    shape: Float[Array, " B"]
    left: Float[Array, " B"]
    right: Float[Array, " B"]

    @property
    def spread(self) -> Float[Array, " B"]:
        """Scale of the distribution over its root mean square."""
        return np.sqrt(gamma(1 / self.shape) / gamma(3 / self.shape))

    @property
    def mean(self) -> Float[Array, " B"]:
        """Mean of the distribution."""
        return (self.right - self.left) * self.spread * gamma(2 / self.shape) / gamma(1 / self.shape)


def normalised(pixels: Float[Array, "H W"], outside: str) -> Float[Array, "H W"]:
    """Pixels minus their local mean, divided by their local standard deviation plus one (Eq. 1)."""
    mean = windowed(pixels, WINDOW, outside)
    values = (pixels - mean) / (np.sqrt(np.abs(windowed(pixels**2, WINDOW, outside) - mean**2)) + 1)
    # flat regions are set to exactly zero, as the fits depend on which side of zero values lie
    values[np.abs(values) < ROUNDING] = 0
    return values


def fit(values: Float[Array, "B n"]) -> Fit:
    """An asymmetric generalised Gaussian fitted by its moments; NaN if all values lie on one side of zero."""
    squares = values**2
    negative, positive = values < 0, values > 0
    with np.errstate(invalid="ignore", divide="ignore"):
        left = np.sqrt((squares * negative).sum(axis=1) / negative.sum(axis=1))
        right = np.sqrt((squares * positive).sum(axis=1) / positive.sum(axis=1))
        skew = left / right
        ratio = np.abs(values).mean(axis=1) ** 2 / squares.mean(axis=1)
        ratio *= (skew**3 + 1) * (skew + 1) / (skew**2 + 1) ** 2
    return Fit(np.where(np.isfinite(ratio), SHAPES[nearest(RATIOS, ratio)], np.nan), left, right)


def neighbour_fits(blocks: Float[Array, "B h w"]) -> list[Fit]:
    """Fits to the products of neighbours: horizontal, vertical and on both diagonals; blocks wrap around."""
    return [fit((blocks * np.roll(blocks, shift, axis=(1, 2))).reshape(len(blocks), -1)) for shift in NEIGHBOURS]


def nearest(growing: Float[Array, " n"], values: Float[Array, " B"]) -> Array:
    """Index of the nearest number in an ascending list."""
    places = np.searchsorted((growing[1:] + growing[:-1]) / 2, values)
    return np.minimum(places, len(growing) - 1)


def halved(pixels: Float[Array, "H W"]) -> Float[Array, "h w"]:
    """The image at half its size, as by MATLAB's imresize."""
    for axis in (0, 1):
        pixels = ndimage.correlate1d(pixels, HALVING, axis, origin=-1)[(slice(None),) * axis + (slice(None, None, 2),)]
    return pixels
