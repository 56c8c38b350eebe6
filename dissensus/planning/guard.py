"""Belief against draws: which to trust.

The belief is less noisy, and wrong where its assumptions are: if most models make the same mistakes, it may only
confirm itself. The draws are unbiased, and noisier. As long as the two agree within their errors, the belief is used;
if they do not, the estimate moves towards the draws, by as much as their distance exceeds the noise of the draws.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import t as student

from dissensus.arrays import Array, Float
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.estimate import DrawEstimate, Ledger, estimate

DOUBT = 0.01
"""The belief is doubted if a distance like this from the draws is rarer than this."""


@dataclass(frozen=True)
class Guarded:
    """The accuracies to report, the draws' own (None without two draws), and whether these contradict the belief.

    `is_exact` says that everything has been asked, so that nothing is left to estimate.
    """

    known: Accuracies
    drawn: DrawEstimate | None
    is_doubted: bool
    is_exact: bool = False

    def interval(self, level: float = 0.95) -> tuple[Float[Array, " M"], Float[Array, " M"]]:
        """An interval of every accuracy: from the lower to the higher end of the belief's interval and the draws'.

        Each alone covers too rarely somewhere. The belief may be wrong about models unlike those it has seen; and the
        draws seldom ask about labels that all models predict, which matter for accuracies but not for differences.
        """
        if self.is_exact:
            return self.known.mean, self.known.mean
        if self.drawn is None:
            return np.zeros(len(self.known.mean)), np.ones(len(self.known.mean))
        far = norm.isf((1 - level) / 2) * np.sqrt(np.maximum(np.diag(self.known.covariance), 0.0))
        half = student.isf((1 - level) / 2, max(self.drawn.draws - 1, 1)) * np.sqrt(np.diag(self.drawn.covariance))
        low = np.minimum(self.known.mean - far, self.drawn.mean - half)
        high = np.maximum(self.known.mean + far, self.drawn.mean + half)
        return np.clip(low, 0, 1), np.clip(high, 0, 1)


def guarded(known: Accuracies, ledger: Ledger, is_complete: bool = False) -> Guarded:
    """The belief's accuracies, moved towards those of the draws if they contradict each other, or exact ones.

    Differences between models are compared, not their common level: d = draws − belief, centred, against the sum S of
    both covariances. If d'S⁻¹d is too large for a χ², the bias of the belief is taken to be normal with variance τ², by
    moments (|d|² − tr V)/(M − 1) with V the draws' covariance, and its posterior mean τ²(τ² + V)⁻¹d is added.
    """
    if is_complete or len(ledger) < 2:
        return Guarded(known, None, False, is_complete)
    drawn, models = estimate(ledger), len(known.mean)
    centre = np.eye(models) - 1 / models
    apart = centre @ (drawn.mean - known.mean)
    noise = centre @ drawn.covariance @ centre
    values, vectors = np.linalg.eigh(noise + centre @ known.covariance @ centre)
    is_free = values > max(values.max(), 0.0) * 1e-6
    distance = float(((vectors[:, is_free].T @ apart) ** 2 / values[is_free]).sum())
    bias = float(apart @ apart - np.trace(noise)) / max(models - 1, 1)
    if distance <= chi2.isf(DOUBT, max(int(is_free.sum()), 1)) or bias <= 0:
        return Guarded(known, drawn, False)
    moved = bias * np.linalg.solve(bias * np.eye(models) + noise, apart)
    return Guarded(replace(known, mean=np.clip(known.mean + moved, 0, 1)), drawn, True)
