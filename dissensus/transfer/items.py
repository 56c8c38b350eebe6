"""Chance in drawing the items: all models share them, so that other items would move the whole line.

Samples of the models leave the items as they are, and say nothing about that. To first order, an estimate θ of the line
varies over draws of the items with the variance gᵀ C g, where g has the derivatives of θ by the models' accuracies, and
C their covariances over draws. Chance in the original accuracies also flattens the line: the slope is multiplied by the
reliability, the share of their variance that is not chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri
from scipy.stats import norm

from dissensus.arrays import Array, Bool, Float
from dissensus.transfer.fits import ItemErrors, Scale, scaled

LEAST_RELIABLE = 0.1
"""Smaller shares of the variance are taken for this one: such a slope says nothing in any case."""


@dataclass(frozen=True)
class Items:
    """Covariances of the models' accuracies over draws of the items of both sets; `is_counted` if from predictions."""

    original: Float[Array, "M M"]
    new: Float[Array, "M M"]
    is_counted: bool = True


def counted_items(right: Bool[Array, "M n"], new_right: Bool[Array, "M k"]) -> Items:
    """Covariances from the answers of all models to the same items."""
    return Items(_covariance(right), _covariance(new_right))


def _covariance(right: Bool[Array, "M n"]) -> Float[Array, "M M"]:
    items = right.shape[1]
    both = (right.astype(np.float32) @ right.astype(np.float32).T).astype(np.float64)  # counts below 2²⁴ are exact
    mean = np.diagonal(both) / items
    return (both / items - np.outer(mean, mean)) / items


def nested_covariance(accuracy: Float[Array, " M"], error: Float[Array, " M"]) -> Float[Array, "M M"]:
    """Covariances if better models are right wherever worse ones are; `error` are standard errors of the accuracies.

    The correlation of two models is then the root of the ratio of their odds, the largest possible. Errors that are
    less alike show as scatter about the line instead, which samples of the models see.
    """
    logit = np.log(accuracy) - np.log1p(-accuracy)
    return np.exp(-np.abs(logit[:, None] - logit) / 2) * np.outer(error, error)


def nested_items(accuracies: tuple[Array, Array], errors: tuple[Array, Array]) -> Items:
    """Covariances where only standard errors are known; accuracies must be inside 0 and 1."""
    first, second = (nested_covariance(*side) for side in zip(accuracies, errors, strict=True))
    return Items(first, second, is_counted=False)


def item_errors(
    scale: Scale, original: Float[Array, " M"], new: Float[Array, " M"], items: Items, level: float
) -> ItemErrors:
    """What other items would do to the least-squares line; accuracies must be inside 0 and 1 on the probit scale.

    If `items` are not counted, the reliability is that of models whose errors have nothing in common: the least.
    """
    x, y = scaled(scale, original), scaled(scale, new)
    steep, new_steep = _steepness(scale, original), _steepness(scale, new)
    across, up = x - x.mean(), y - y.mean()
    spread = float((across**2).sum())
    slope = float((across * up).sum()) / spread
    offset = float(y.mean()) - slope * float(x.mean())
    by_x, by_y = (up - 2 * slope * across) / spread, across / spread
    offset_x, offset_y = -slope / len(x) - x.mean() * by_x, 1 / len(x) - x.mean() * by_y

    def half(at_x: Array, at_y: Array) -> float:
        sides = ((at_x * steep, items.original), (at_y * new_steep, items.new))
        return float(norm.ppf((1 + level) / 2) * np.sqrt(max(0.0, sum(side @ wide @ side for side, wide in sides))))

    harder = np.inf
    if slope != 0:
        harder = half((offset / slope * by_x - offset_x) / slope, (offset / slope * by_y - offset_y) / slope)
    noise = items.original if items.is_counted else np.diag(np.diagonal(items.original))
    noise = noise * np.outer(steep, steep)
    chance = float(np.trace(noise) - noise.sum() / len(x))
    return ItemErrors(half(by_x, by_y), harder, max(LEAST_RELIABLE, 1 - max(chance, 0.0) / spread), float(y.mean()))


def _steepness(scale: Scale, accuracy: Float[Array, " M"]) -> Float[Array, " M"]:
    """Derivative of the scale by the accuracy."""
    if scale == "linear":
        return np.ones(len(accuracy))
    steep: Float[Array, " M"] = 1 / norm.pdf(ndtri(accuracy))
    return steep
