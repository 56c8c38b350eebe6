"""Spatial statistics of natural scenes, and a regression on people's opinion scores.

Mittal, Moorthy and Bovik, IEEE Trans. Image Processing 21(12), 2012, with the authors' model, trained on the LIVE
database.
"""

from __future__ import annotations

from functools import cache
from importlib import resources

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.backends.quality.natural import RATIOS, SHAPES, halved, nearest, neighbour_fits, normalised

GAMMA = 0.05
"""Parameter of the regression's radial basis functions."""


def brisque(pixels: Float[Array, "H W"]) -> float:
    """Predicted opinion score: about 0 (good) to 100 (bad), and a little beyond. Undefined (NaN) for a flat image."""
    features = np.concatenate([statistics(pixels), statistics(halved(pixels))])
    if not np.isfinite(features).all():
        return float("nan")
    model = regression()
    scaled = 2 * (features - model["low"]) / (model["high"] - model["low"]) - 1
    kernel = np.exp(-GAMMA * ((model["vectors"] - scaled) ** 2).sum(axis=1))
    return float(model["weights"] @ kernel - model["offset"])


def statistics(pixels: Float[Array, "H W"]) -> Float[Array, " F"]:
    """18 features: shape and variance of the normalised pixels, and four for each of four kinds of neighbours."""
    even = normalised(pixels, "constant")
    square = (even**2).mean()
    with np.errstate(invalid="ignore"):
        kurtosis_like = square / np.abs(even).mean() ** 2
    features = [float(SHAPES[nearest(-1 / RATIOS, -kurtosis_like)]), float(square)]
    for pairs in neighbour_fits(even[None]):
        features += [float(value[0]) for value in (pairs.shape, pairs.mean, pairs.left**2, pairs.right**2)]
    return np.array(features)


@cache
def regression() -> dict[str, Array]:
    """The authors' model: support vectors with weights and offset, and the ranges by which features are scaled."""
    with resources.files("dissensus").joinpath("data", "brisque.npz").open("rb") as file, np.load(file) as known:
        return dict(known)
