"""Least-squares fit of a rising logistic curve, by a search that does not get stuck.

Fitting four parameters from the usual start often ends in a flat or falling curve. But for a given centre and slope the
best asymptotes are a small linear problem with an exact solution, so only two parameters are searched: first on a grid,
then from its best points by bounded Gauss–Newton steps.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float

CENTERS = 41
SLOPES = np.geomspace(0.05, 50, 25)
"""Slopes tried, per width of the scores; the ends also bound the refined slope.

A steeper curve would be a step: nearly all items would get one of two values, and the common scale would lose their
order.
"""
MARGIN = 10.0
"""How many widths beyond the middle 98 % of the scores the centre may lie."""
REFINED = 4
SAMPLE = 4096
"""How many items, evenly spaced by score, the grid search uses; the refinement uses all."""


def fitted_logistic(scores: Float[Array, " n"], quality: Float[Array, " n"]) -> tuple[float, float, float, float]:
    """Least-squares low, high, center and slope with 0 ≤ low ≤ high ≤ 100 and slope > 0.

    `low` equals `high` if no rising curve beats the mean. Scores are finite and not all the same.
    """
    from scipy.optimize import least_squares  # takes a quarter of a second to import, and few commands need it

    middle, width = _middle_and_width(scores)
    place = (scores - middle) / width
    lowest, highest = np.quantile(place, 0.01) - MARGIN, np.quantile(place, 0.99) + MARGIN
    bounds = [lowest, np.log(SLOPES[0])], [highest, np.log(SLOPES[-1])]

    def residuals(point: Float[Array, " 2"]) -> Float[Array, " n"]:
        rise = _rise(place, *point)
        low, high = asymptotes(rise, quality)
        return low + (high - low) * rise - quality

    starts = _best_of_grid(place, quality, lowest, highest)
    fits = [least_squares(residuals, start, bounds=bounds, xtol=1e-12, ftol=1e-12, gtol=1e-12) for start in starts]
    center, log_slope = min(fits, key=lambda fit: fit.cost).x
    low, high = asymptotes(_rise(place, center, log_slope), quality)
    return float(low), float(high), middle + width * float(center), float(np.exp(log_slope)) / width


def asymptotes(
    rise: Float[Array, "*grid n"], quality: Float[Array, " n"]
) -> tuple[Float[Array, "*grid"], Float[Array, "*grid"]]:
    """(low, high) that minimise Σ (low + (high − low)·rise − quality)² over 0 ≤ low ≤ high ≤ 100, exactly.

    The region is a triangle and the sum is convex: this is the free minimum if it lies inside, otherwise the best point
    on the three sides low = 0, high = 100 and low = high.
    """
    mean = quality.mean()
    fall = 1 - rise
    rises, falls, mixed = (rise**2).mean(axis=-1), (fall**2).mean(axis=-1), (rise * fall).mean(axis=-1)
    on_rise, on_fall = (rise * quality).mean(axis=-1), (fall * quality).mean(axis=-1)
    # if the curve is flat everywhere, there is no free minimum, and a side is just as good
    determinant = rises * falls - mixed**2
    solvable = determinant > 1e-14
    divisor = np.where(solvable, determinant, 1.0)
    low = (on_fall * rises - on_rise * mixed) / divisor
    high = (on_rise * falls - on_fall * mixed) / divisor
    inside = solvable & (low >= 0) & (low <= high) & (high <= 100)
    tiny = np.finfo(float).tiny
    from_zero = (on_rise / np.maximum(rises, tiny)).clip(0, 100)
    to_hundred = ((on_fall - 100 * mixed) / np.maximum(falls, tiny)).clip(0, 100)
    lows = np.stack([np.zeros_like(rises), to_hundred, np.full_like(rises, mean)])
    highs = np.stack([from_zero, np.full_like(rises, 100.0), np.full_like(rises, mean)])
    # mean squared error minus the mean of quality², which all sides share
    errors = lows**2 * falls + highs**2 * rises + 2 * lows * highs * mixed - 2 * (lows * on_fall + highs * on_rise)
    best = errors.argmin(axis=0)[None]
    side_low, side_high = np.take_along_axis(lows, best, 0)[0], np.take_along_axis(highs, best, 0)[0]
    return np.where(inside, low, side_low), np.where(inside, high, side_high)


def _middle_and_width(scores: Float[Array, " n"]) -> tuple[float, float]:
    """Median, and half the span of the middle 80 %: a few scores of 10⁶ for 'no difference' must not set the unit."""
    low, middle, high = np.quantile(scores, [0.1, 0.5, 0.9])
    width = (high - low) / 2
    return float(middle), float(width if width > 0 else scores.std())


def _best_of_grid(
    place: Float[Array, " n"], quality: Float[Array, " n"], lowest: float, highest: float
) -> list[Float[Array, " 2"]]:
    """(center, log slope) of the best points of the grid, no two with the same slope."""
    order = np.argsort(place, kind="stable")
    chosen = order[np.unique(np.linspace(0, len(order) - 1, min(len(order), SAMPLE)).astype(np.int64))]
    place, quality = place[chosen], quality[chosen]
    centers = np.unique(
        np.concatenate([np.quantile(place, np.linspace(0, 1, CENTERS)), np.linspace(lowest, highest, CENTERS)])
    )
    best = []
    for log_slope in np.log(SLOPES):
        rise = _rise(place, centers[:, None], log_slope)
        low, high = asymptotes(rise, quality)
        errors = ((low[:, None] + (high - low)[:, None] * rise - quality) ** 2).sum(axis=1)
        best.append((float(errors.min()), float(centers[errors.argmin()]), float(log_slope)))
    return [np.array(point) for _, *point in sorted(best)[:REFINED]]


def _rise(place: Float[Array, " n"], center: float | Float[Array, "G 1"], log_slope: float) -> Float[Array, "*grid n"]:
    from scipy.special import expit

    return expit(np.exp(log_slope) * (place - center))
