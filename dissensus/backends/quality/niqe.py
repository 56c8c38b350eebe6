"""Natural image quality: how far an image's statistics are from those of good photographs.

Mittal, Soundararajan and Bovik, IEEE Signal Processing Letters 20(3), 2013, with the authors' published parameters.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.backends.quality.natural import fit, halved, neighbour_fits, normalised

PATCH = 96


def niqe(pixels: Float[Array, "H W"]) -> float:
    """Distance between two Gaussians (Eq. 10), 0 and up: the image's patches, and those of good photographs.

    Undefined (NaN) with fewer than two patches of 96 × 96 pixels that have any structure.
    """
    high, wide = (length // PATCH for length in pixels.shape)
    fine = pixels[: high * PATCH, : wide * PATCH]
    features = np.hstack([_features(fine, PATCH), _features(halved(fine), PATCH // 2)])
    features = features[np.isfinite(features).all(axis=1)]
    if len(features) < 2:
        return float("nan")
    mean, covariance = _photographs()
    apart = mean - features.mean(axis=0)
    return float(np.sqrt(apart @ np.linalg.pinv((covariance + np.cov(features, rowvar=False)) / 2) @ apart))


def _features(pixels: Float[Array, "H W"], side: int) -> Float[Array, "B F"]:
    """18 features per patch."""
    high, wide = (length // side for length in pixels.shape)
    even = normalised(pixels, "nearest")
    patches = even.reshape(high, side, wide, side).swapaxes(1, 2).reshape(-1, side, side)
    alone = fit(patches.reshape(len(patches), -1))
    columns = [alone.shape, alone.spread * (alone.left + alone.right) / 2]
    for pairs in neighbour_fits(patches):
        columns += [pairs.shape, pairs.mean, pairs.spread * pairs.left, pairs.spread * pairs.right]
    return np.stack(columns, axis=1)


@cache
def _photographs() -> tuple[Float[Array, " F"], Float[Array, "F F"]]:
    with resources.files("dissensus").joinpath("data", "niqe.npz").open("rb") as file, np.load(file) as known:
        return known["mean"], known["covariance"]
