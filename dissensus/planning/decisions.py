"""What is decided, now and at every later look, and when it is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.planning.estimate import Ledger

State = Literal["decided", "tied", "undecided"]
TUNED_AT = 100.0
"""The number of draws at which the bands are narrowest."""
FEWEST = 10
"""Two models are not told apart by fewer draws of labels that only one of them predicts."""


@dataclass(frozen=True)
class Bands:
    """Confidence bands of all differences between accuracies: they hold at all looks at once.

    `difference[i, j]` is how much more often model i is right than model j. `pair` is the half-width for one pair of
    models, `rivals` for one model against all others at once, `all_pairs` for all pairs at once.
    """

    difference: Float[Array, "M M"]
    pair: Float[Array, "M M"]
    rivals: Float[Array, "M M"]
    all_pairs: Float[Array, "M M"]

    def states(self, margin: float = 0.0, at_once: bool = False) -> list[list[State]]:
        """Each pair: 'decided' if one is better, 'tied' if they differ by at most `margin`, else 'undecided'."""
        half = self.all_pairs if at_once else self.pair
        size = np.abs(self.difference)
        found = np.where(size > half, "decided", np.where(size + half <= margin, "tied", "undecided"))
        return [[str(state) for state in row] for row in found]  # type: ignore[misc]

    def best(self, margin: float = 0.0) -> int | None:
        """The model that is better than every other, or worse by at most `margin`; None if that is not known yet."""
        low = self.difference - self.rivals
        np.fill_diagonal(low, np.inf)
        is_best: Bool[Array, " M"] = (low > -margin).all(axis=1) if margin else (low > 0).all(axis=1)
        return int(np.argmax(np.where(is_best, self.difference.sum(axis=1), -np.inf))) if is_best.any() else None


def bands(ledger: Ledger, level: float = 0.95) -> Bands:
    """Bands by a normal mixture (Robbins, 1970): valid at any time, whenever one chooses to look.

    With S the weighted sum of the errors of a difference and v that of their squares, S² stays below
    (v + r)·log((v + r) / (r·α²)) for all times with probability 1 − α, if the errors are nearly normal; r is the v at
    which the band is narrowest. A sum of few errors is not nearly normal: until enough draws tell two models apart,
    their bands are infinite.
    """
    models = ledger.change.shape[1]
    difference = np.zeros((models, models))
    endless = np.where(np.eye(models, dtype=bool), 0.0, np.inf)
    if len(ledger) < 2:
        return Bands(difference, endless, endless, endless)
    weights, found = ledger.weights, ledger.estimates
    mean = weights @ found / weights.sum()
    difference = mean[:, None] - mean
    apart = (found - mean) * weights[:, None]
    own = apart.T @ apart
    spread = np.diag(own)
    squares = np.maximum(spread[:, None] + spread - 2 * own, 0.0) * len(ledger) / (len(ledger) - 1)
    tuned = squares * TUNED_AT / len(ledger) + 1e-300

    telling = (ledger.change[:, :, None] != ledger.change[:, None, :]).sum(axis=0)

    def half(alpha: float) -> Float[Array, "M M"]:
        bound = (squares + tuned) * np.log((squares + tuned) / (tuned * alpha**2))
        wide = np.where(telling < FEWEST, np.inf, np.sqrt(np.maximum(bound, 0.0)) / weights.sum())
        np.fill_diagonal(wide, 0.0)
        return wide

    alpha = 1 - level
    pairs = models * (models - 1) / 2
    return Bands(difference, half(alpha), half(alpha / max(models - 1, 1)), half(alpha / max(pairs, 1)))
