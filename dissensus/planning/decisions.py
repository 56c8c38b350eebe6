"""What is decided, now and at every later look, and when it is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import lambertw

from dissensus.arrays import Array, Bool, Float
from dissensus.planning.estimate import Ledger, estimate

State = Literal["decided", "tied", "undecided"]
NARROWEST = 150
"""The number of draws at which the bands, in standard errors, would be narrowest if variances were known."""
ROUNDING = 1e-9
"""Differences below this are none."""


@dataclass(frozen=True)
class Bands:
    """Confidence bands of all differences between accuracies: they hold at all looks at once.

    `difference[i, j]` is how much more often model i is right than model j. `pair` is the half-width for one pair of
    models, `rivals` for who is the best (the lower ends for the best model against all others at once), `all_pairs` for
    all pairs at once.
    """

    difference: Float[Array, "M M"]
    pair: Float[Array, "M M"]
    rivals: Float[Array, "M M"]
    all_pairs: Float[Array, "M M"]

    def states(self, margin: float = 0.0, at_once: bool = False) -> list[list[State]]:
        """Each pair: 'decided' if one is better, 'tied' if they differ by at most `margin`, else 'undecided'."""
        half = self.all_pairs if at_once else self.pair
        size = np.abs(self.difference)
        found = np.where(
            size > half + ROUNDING, "decided", np.where(size + half <= margin + ROUNDING, "tied", "undecided")
        )
        return [[str(state) for state in row] for row in found]  # type: ignore[misc]

    def best(self, margin: float = 0.0) -> int | None:
        """The model that is better than every other, or worse by at most `margin`; None if that is not known yet."""
        low = self.difference - self.rivals
        np.fill_diagonal(low, np.inf)
        is_best: Bool[Array, " M"] = (low > ROUNDING - margin).all(axis=1)
        return int(np.argmax(np.where(is_best, self.difference.sum(axis=1), -np.inf))) if is_best.any() else None


def bands(ledger: Ledger, level: float = 0.95) -> Bands:
    """Bands that hold at any time, whenever one chooses to look; without two draws they are infinite.

    An error about the best model is that one of its M − 1 rivals seems better than it is: one side of M − 1 bands, so
    that each may fail with 2 / (M − 1) times what one band may.
    """
    models = ledger.change.shape[1]
    if len(ledger) < 2:
        endless = np.where(np.eye(models, dtype=bool), 0.0, np.inf)
        return Bands(np.zeros((models, models)), endless, endless, endless)
    found = estimate(ledger)

    def half(alpha: float) -> Float[Array, "M M"]:
        most = largest_error(len(ledger), alpha)
        wide = np.sqrt(found.variances(caution=1.0)) * most if np.isfinite(most) else np.full((models, models), np.inf)
        np.fill_diagonal(wide, 0.0)
        return wide

    alpha, rivals, pairs = 1 - level, models - 1, models * (models - 1) / 2
    difference = found.mean[:, None] - found.mean
    return Bands(difference, half(alpha), half(alpha * min(1, 2 / max(rivals, 1))), half(alpha / max(pairs, 1)))


def decisions(ledger: Ledger, mean: Float[Array, " M"], is_complete: bool, level: float = 0.95) -> Bands:
    """What the draws decide; once everything has been asked, the accuracies `mean` are exact and decide themselves."""
    if not is_complete:
        return bands(ledger, level)
    exact = np.zeros((len(mean), len(mean)))
    return Bands(mean[:, None] - mean, exact, exact, exact)


def largest_error(draws: int, alpha: float) -> float:
    """What the error, in standard errors, ever exceeds with probability α, at any number of draws.

    Let n errors be normal with mean θσ and variance σ², and t the usual statistic of their mean. If θ ~ N(0, 1/r), and
    σ has the density 1/σ, the likelihood against θ = 0 is

        B = √R · ((1 + t²/(n − 1)) / (1 + R·t²/(n − 1)))^(n/2),  R = r / (n + r).

    Under θ = 0 this is a martingale of mean one in what does not depend on σ, so that it ever reaches 1/α with
    probability at most α (Ville); solving for t gives the result. As n grows, it becomes Robbins' (1970) normal mixture
    for a known variance: t² = (1 + r/n)·log((n + r) / (r·α²)). For that one, r = n / (u − 1) with u − log u = 1 −
    2·log α makes it least at n draws; r is what does so at NARROWEST. Infinite if there are too few draws to tell.
    """
    mixed = NARROWEST / float(-lambertw(-(alpha**2) / np.e, -1).real - 1)
    share = mixed / (draws + mixed)
    ratio = (share * alpha**2) ** (-1 / draws)
    return float(np.sqrt((draws - 1) * (ratio - 1) / (1 - ratio * share))) if ratio * share < 1 else np.inf
