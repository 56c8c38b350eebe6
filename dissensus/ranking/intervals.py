"""Bootstrap intervals for strengths, differences and ranks."""

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
    """True at [i, j] if i is significantly better than j: the interval of their difference lies above zero.

    The intervals hold for all pairs at once with probability `level`: d_ij ± c·se_ij, where c is the `level`-quantile
    of the largest |d*_ij − d_ij| / se_ij of a resample. A pair that does not vary (se = 0) is never separated. Pass
    logarithms if the strengths are ratios.

    Raises:
        RankingError: fewer than two resamples have a ranking.
    """
    _require_samples(samples)
    difference = estimate[:, None] - estimate
    resampled = samples[:, :, None] - samples[:, None, :]
    error = resampled.std(axis=0, ddof=1)
    # Identical models differ only by rounding, which is not a standard error.
    varies = error > 1e-9 * np.abs(samples).max()
    divisor = np.where(varies, error, np.inf)
    largest = (np.abs(resampled - difference) / divisor).max(axis=(1, 2))
    return difference / divisor > np.quantile(largest, level)


def rank_sets(separated: Bool[Array, "M M"]) -> tuple[Int[Array, " M"], Int[Array, " M"]]:
    """Best and worst possible rank: 1 + number significantly better … M − number significantly worse."""
    return 1 + separated.sum(axis=0), len(separated) - separated.sum(axis=1)


def _require_samples(samples: Float[Array, "B M"]) -> None:
    if len(samples) < 2:
        raise RankingError(
            "fewer than two bootstrap resamples could be ranked, so there are no confidence intervals: judge more items"
        )
