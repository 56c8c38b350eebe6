"""What the draws say, whatever the belief thinks: accuracies, with intervals for their differences.

Each draw gives an estimate of the number of items on which every model is right: what the belief expected before the
draw, corrected by the answer. If draw j picks an item with probability π_j, and e_j is the expected total at that
moment, with every earlier draw's expectation replaced by its answer, then

    ψ_j = e_j + (answer − expectation) / π_j

has the true total as its mean given everything before it: each item that is left contributes π·(its answer − its
expectation) / π. The expectations are a control variate that only reduces the noise. The errors ψ_j − total are
martingale differences, and so are w_j·(ψ_j − total) if the weight w_j is known before the draw: here one over the
variance that the belief forecasts. The estimate is the root of Σ w_j·(ψ_j − total) = 0, whose left side has mean zero
at the truth. The estimate itself is exactly unbiased if the weights do not depend on answers; otherwise Σ w_j is random
and leaves a bias of second order, far below the standard error.

The variance of the estimate is Σ w_j² · E(error_j²) / (Σ w_j)². There are two estimates of it. The squared deviations
of the ψ_j are honest, but with few draws they miss what is rare: a surprising answer to a question that is seldom drawn
weighs dozens of times as much as a usual one, and before the first such answer nothing shows it. The belief's forecast
counts every item that is left, but is only as good as the belief. Where the forecast is larger, intervals use the mean
of the two, and bands that must hold at all times use the forecast: the belief can make them wider, never narrower.
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
    expectation, for each model; `probability` that of the draw; `batch` the number of the batch. `forecasts` has the
    covariance that the belief expected of the totals that one draw estimates, for each batch.
    """

    expected: Float[Array, "n M"]
    change: Float[Array, "n M"]
    probability: Float[Array, " n"]
    batch: Int[Array, " n"]
    forecasts: Float[Array, "b M M"]
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
        """The weight of every draw, known before its answer: one over the forecast variance around the models' mean."""
        around = np.trace(self.forecasts, axis1=1, axis2=2) - self.forecasts.mean(axis=2).sum(axis=1)
        return 1 / np.maximum(around, 1.0)[self.batch]


@dataclass(frozen=True)
class DrawEstimate:
    """Accuracies by the draws alone; `draws` is their effective number.

    `covariance` is that of the errors as the draws show it, `forecast` as the belief expected it.
    """

    mean: Float[Array, " M"]
    covariance: Float[Array, "M M"]
    forecast: Float[Array, "M M"]
    draws: float

    def variances(self, caution: float = 0.5) -> Float[Array, "M M"]:
        """Variances of all differences: as the draws show them, moved to the forecast where that is larger.

        `caution` is how far. Neither is exact: the mean covers best; all the way is for what must never fail.
        """
        shown = differences(self.covariance)
        return shown + caution * np.maximum(differences(self.forecast) - shown, 0.0)

    def halfwidths(self, level: float = 0.95) -> Float[Array, "M M"]:
        """Half the length of the confidence interval of every difference between two models."""
        return student.isf((1 - level) / 2, max(self.draws - 1, 1)) * np.sqrt(self.variances())


def differences(covariance: Float[Array, "M M"]) -> Float[Array, "M M"]:
    """Variances of all differences."""
    own = np.diag(covariance)
    found = np.maximum(own[:, None] + own - 2 * covariance, 0.0)
    np.fill_diagonal(found, 0.0)
    return found


def estimate(ledger: Ledger) -> DrawEstimate:
    """The weighted mean of all draws' estimates.

    If weights are one over the variances, the squares of deviations from the fitted mean fall short of the variance by
    the factor 1 − Σ w_j² (weights summing to one), and vary as much as with 1 / Σ w_j² − 1 degrees of freedom.

    Raises:
        PlanningError: fewer than two draws have been answered.
    """
    if len(ledger) < 2:
        raise PlanningError("fewer than two draws have been answered: they have no spread yet")
    weights = ledger.weights / ledger.weights.sum()
    found = ledger.estimates
    mean = weights @ found
    apart = (found - mean) * weights[:, None]
    lost = float(weights @ weights)
    by_batch = np.bincount(ledger.batch, weights**2, len(ledger.forecasts))
    forecast = np.einsum("b,bij->ij", by_batch, ledger.forecasts) / ledger.pool**2
    return DrawEstimate(mean, apart.T @ apart / (1 - lost), forecast, 1 / lost)
