"""The Gaussian difficulty model: why accuracies on two test sets may lie on a line of probits.

An item has a difficulty τ ~ N(μ, σ²), and a model of skill s is right with probability Φ(s − τ). With a standard normal
ε, that is P(ε + τ < s), and ε + τ ~ N(μ, σ² + 1), so that its accuracy is Φ((s − μ) / √(σ² + 1)). Solving for s on one
set and inserting it on the other gives Φ⁻¹(new) = u · Φ⁻¹(original) + v with u = √(σ₁² + 1) / √(σ₂² + 1) and
v = (μ₁ − μ₂) / √(σ₂² + 1).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.errors import TransferError
from dissensus.transfer.fits import Line, around


@dataclass(frozen=True)
class Difficulty:
    """What the line identifies: the difference of means and the ratio of widths, in the original set's √(σ² + 1)."""

    harder: float
    harder_ends: tuple[float, float]
    spread: float
    spread_ends: tuple[float, float]
    has_items: bool
    """Whether the intervals allow for other items."""


def difficulty_of(line: Line) -> Difficulty:
    """How much harder, and how much more varied, the new set is: −v / u and 1 / u of a probit fit.

    Intervals are for other models and, if the line has item errors, for other items. A flattened line makes the new set
    look easier or harder, so that the interval spans what it would be without.

    Skills, means and deviations themselves cannot be told from accuracies: they may be shifted and stretched together.

    Raises:
        TransferError: the line is not clearly rising, so that its slope cannot be divided by.
    """
    if line.slope_ends_with_items[0] <= 0:
        raise TransferError("the probit line is not clearly rising, so that the difficulty model says nothing")
    rising = line.slopes > 0
    slopes, offsets = line.slopes[rising], line.offsets[rising]
    below, above = np.quantile(-offsets / slopes, [line.tail, 1 - line.tail]).tolist()
    low, high = line.slope_ends_with_items
    harder = -line.offset / line.slope
    if line.item_errors is not None:
        below, above = around(harder, (below, above), line.item_errors.harder)
        flattened = (1 - line.item_errors.reliability) * line.item_errors.new_mean / line.slope
        below, above = below + min(flattened, 0.0), above + max(flattened, 0.0)
    return Difficulty(harder, (below, above), 1 / line.slope, (1 / high, 1 / low), line.item_errors is not None)
