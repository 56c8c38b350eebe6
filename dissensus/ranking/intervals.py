"""What the resamples say about strengths, differences and ranks."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError


def percentile_intervals(samples: Float[Array, "B M"], level: float) -> tuple[Float[Array, " M"], Float[Array, " M"]]:
    """Low and high end of each model's own interval: the middle `level` (0 to 1) of its resampled strengths.

    Raises:
        RankingError: fewer than two resamples have a ranking.
    """
    _require_samples(samples)
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return low, high


def separated(estimate: Float[Array, " M"], samples: Float[Array, "B M"], level: float) -> Bool[Array, "M M"]:
    """True at [i, j] where i is surely better than j: the interval of their difference lies above zero.

    The intervals hold for all pairs at once with probability `level`: d_ij ± c·se_ij, where c is the `level`-quantile
    of the largest |d*_ij − d_ij| / se_ij of a resample. A pair that does not vary (se = 0) is never separated. Pass
    logarithms where the strengths are ratios.

    Raises:
        RankingError: fewer than two resamples have a ranking.
    """
    _require_samples(samples)
    difference = estimate[:, None] - estimate
    resampled = samples[:, :, None] - samples[:, None, :]
    error = resampled.std(axis=0, ddof=1)
    # Models that are alike differ by rounding only; that is no standard error.
    varies = error > 1e-9 * np.abs(samples).max()
    divisor = np.where(varies, error, np.inf)
    largest = (np.abs(resampled - difference) / divisor).max(axis=(1, 2))
    return difference / divisor > np.quantile(largest, level)


def rank_sets(separated: Bool[Array, "M M"]) -> tuple[Int[Array, " M"], Int[Array, " M"]]:
    """Best and worst rank that cannot be excluded: 1 + number surely better … M − number surely worse."""
    return 1 + separated.sum(axis=0), len(separated) - separated.sum(axis=1)


def _require_samples(samples: Float[Array, "B M"]) -> None:
    if len(samples) < 2:
        raise RankingError("fewer than two resamples have a ranking, so there are no intervals: judge more items")
