"""What the draws say, whatever the belief thinks: unbiased accuracies, with intervals for their differences.

Each draw gives an estimate of the number of items on which every model is right: what the belief expected before the
draw, corrected by the answer. If draw j picks question q with probability π_j, and e_j is the expected total at that
moment, with every earlier draw's expectation replaced by its answer, then

    ψ_j = e_j + (answer − expectation of q) / π_j

has the true total as its mean given everything before it: the expectations are a control variate that only reduces the
noise. The ψ_j − total are martingale differences, so that a weighted mean with weights chosen beforehand, one over the
variance that the belief predicts for the draw, is unbiased too, and the squared deviations add up to its variance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from dissensus.arrays import Array, Float, Int
from dissensus.errors import PlanningError


@dataclass(frozen=True)
class Ledger:
    """All answered draws in their order, for M models.

    `expected` are the totals expected when the draw's batch was planned; `change` what the answer added to the
    expectation, for each model; `probability` that of the draw; `variance` the belief's forecast of the variance of
    one such draw; `batch` the number of the batch.
    """

    expected: Float[Array, "n M"]
    change: Float[Array, "n M"]
    probability: Float[Array, " n"]
    variance: Float[Array, " n"]
    batch: Int[Array, " n"]
    pool: int

    def __len__(self) -> int:
        return len(self.probability)

    @property
    def estimates(self) -> Float[Array, "n M"]:
        """ψ of every draw, as shares of the pool."""
        before = np.cumsum(self.change, axis=0) - self.change
        begins = np.flatnonzero(np.diff(self.batch, prepend=-1))
        earlier = before - before[begins][np.cumsum(np.diff(self.batch, prepend=-1) != 0) - 1]
        return (self.expected + earlier + self.change / self.probability[:, None]) / self.pool

    @property
    def weights(self) -> Float[Array, " n"]:
        """The weight of every draw, known before its answer."""
        return 1 / np.maximum(self.variance, 1.0)


@dataclass(frozen=True)
class DrawEstimate:
    """Accuracies by the draws alone, with the covariance of their errors; `draws` is their effective number."""

    mean: Float[Array, " M"]
    covariance: Float[Array, "M M"]
    draws: float

    def halfwidths(self, level: float = 0.95) -> Float[Array, "M M"]:
        """Half the length of the confidence interval of every difference between two models."""
        return student.isf((1 - level) / 2, max(self.draws - 1, 1)) * np.sqrt(differences(self.covariance))


def differences(covariance: Float[Array, "M M"]) -> Float[Array, "M M"]:
    """Variances of all differences."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)


def estimate(ledger: Ledger) -> DrawEstimate:
    """The weighted mean of all draws' estimates.

    Raises:
        PlanningError: fewer than two draws have been answered.
    """
    if len(ledger) < 2:
        raise PlanningError("fewer than two draws have been answered: they have no spread yet")
    weights = ledger.weights / ledger.weights.sum()
    found = ledger.estimates
    mean = weights @ found
    apart = (found - mean) * weights[:, None]
    lost = float(weights @ weights)  # the mean is fitted to the same draws
    return DrawEstimate(mean, apart.T @ apart / (1 - lost), 1 / lost)
