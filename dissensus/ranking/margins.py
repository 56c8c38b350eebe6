"""How far two models must be apart to be separated, and what follows: rank sets, possible winners, bars to compare."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError


@dataclass(frozen=True)
class Margins:
    """By how much the strength of i must exceed that of j before i is better beyond doubt; infinite if never.

    `pairs` hold for all pairs of models at once. `first` hold for all rivals i of one model j at once: they decide
    whether j may still be first, which needs fewer comparisons and so less evidence.
    """

    pairs: Float[Array, "M M"]
    first: Float[Array, "M M"]

    def separated(self, strengths: Float[Array, " M"]) -> Bool[Array, "M M"]:
        """True at [i, j] if i is significantly better than j, for all pairs at once."""
        return strengths[:, None] - strengths > self.pairs

    def may_be_first(self, strengths: Float[Array, " M"]) -> Bool[Array, " M"]:
        """True for models that no rival is significantly better than; the strongest is always among them."""
        return ~(strengths[:, None] - strengths > self.first).any(axis=0)


def resampled_margins(estimate: Float[Array, " M"], samples: Float[Array, "B M"], level: float) -> Margins:
    """Margins from bootstrap samples: c·se_ij, with the `level`-quantile c of the largest error in units of se_ij.

    Errors are d*_ij − d_ij, their size for all pairs at once and their upward direction for one model's rivals. A pair
    that does not vary (se = 0) is never separated. Pass logarithms if the strengths are ratios.

    Raises:
        RankingError: fewer than two resamples have a ranking.
    """
    if len(samples) < 2:
        raise RankingError(
            "fewer than two bootstrap resamples could be ranked, so there are no rank sets: judge more items"
        )
    difference = estimate[:, None] - estimate
    resampled = samples[:, :, None] - samples[:, None, :]
    error = resampled.std(axis=0, ddof=1)
    # Identical models differ only by rounding, which is not a standard error.
    varies = error > 1e-9 * np.abs(samples).max()
    largest = (resampled - difference) / np.where(varies, error, np.inf)
    everywhere = np.quantile(np.abs(largest).max(axis=(1, 2)), level)
    # either of two equal models could be ruled out as first by its only rival, so both share the error rate
    rivals = np.quantile(largest.max(axis=1), level, axis=0) if len(estimate) > 2 else everywhere
    return Margins(np.where(varies, everywhere * error, np.inf), np.where(varies, rivals * error, np.inf))


def comparison_bars(strengths: Float[Array, " M"], pairs: Float[Array, "M M"]) -> Float[Array, " M"]:
    """Half the length of each model's bar, so that models whose bars do not overlap are separated.

    h_i + h_j is fitted to the margins of all pairs by least squares, and lengthened where two models are not separated
    and their bars would not touch. The reverse holds only nearly: bars of separated models may overlap a little.
    """
    models = len(strengths)
    apart = np.abs(strengths[:, None] - strengths)
    margins = np.where(np.isfinite(pairs), pairs, apart)
    np.fill_diagonal(margins, 0.0)
    own = margins.sum(axis=1)
    half = own / 2 if models < 3 else (own - own.sum() / (2 * models - 2)) / (models - 2)
    half = np.maximum(half, 0.0)
    for one, other in np.argwhere(np.triu(apart <= pairs, 1)).tolist():
        half[[one, other]] += max(apart[one, other] - half[one] - half[other], 0.0) / 2
    return half


def rank_sets(separated: Bool[Array, "M M"]) -> tuple[Int[Array, " M"], Int[Array, " M"]]:
    """Best and worst possible rank: 1 + number significantly better … M − number significantly worse."""
    return 1 + separated.sum(axis=0), len(separated) - separated.sum(axis=1)
