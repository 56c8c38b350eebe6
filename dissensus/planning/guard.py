"""Belief against draws: which to trust.

The belief is less noisy, and wrong where its assumptions are: if most models make the same mistakes, it may only
confirm itself. The draws are unbiased, and noisier. As long as the two agree within their errors, the belief is used;
if they do not, the estimate moves towards the draws, by as much as their distance exceeds the noise of the draws.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2

from dissensus.arrays import Array, Float
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.estimate import DrawEstimate

DOUBT = 0.01
"""The belief is doubted if a distance like this from the draws is rarer than this."""


@dataclass(frozen=True)
class Guarded:
    """The accuracies to report, and whether the draws contradict the belief."""

    mean: Float[Array, " M"]
    is_doubted: bool


def guarded(known: Accuracies, drawn: DrawEstimate | None) -> Guarded:
    """The belief's accuracies, moved towards those of the draws if they contradict each other.

    Differences between models are compared, not their common level: d = draws − belief, centred, against the sum S of
    both covariances. If d'S⁻¹d is too large for a χ², the bias of the belief is taken to be normal with variance τ², by
    moments (|d|² − tr V)/(M − 1) with V the draws' covariance, and its posterior mean τ²(τ² + V)⁻¹d is added.
    """
    if drawn is None:
        return Guarded(known.mean, False)
    models = len(known.mean)
    centre = np.eye(models) - 1 / models
    apart = centre @ (drawn.mean - known.mean)
    noise = centre @ drawn.covariance @ centre
    values, vectors = np.linalg.eigh(noise + centre @ known.covariance @ centre)
    is_free = values > values.max(initial=0.0) * 1e-6
    distance = float(((vectors[:, is_free].T @ apart) ** 2 / values[is_free]).sum())
    bias = (apart @ apart - np.trace(noise)) / max(models - 1, 1)
    if distance <= chi2.isf(DOUBT, max(int(is_free.sum()), 1)) or bias <= 0:
        return Guarded(known.mean, False)
    moved = bias * np.linalg.solve(bias * np.eye(models) + noise, apart)
    return Guarded(known.mean + moved, True)
