"""The bootstrap of independent judgements: it resamples the cells of the win matrix instead of the judgements.

Drawing n judgements with replacement from n of them gives every cell (i beat j, or i tied with j) a multinomial count.
So the counts are drawn directly (`multinomial`), however many judgements there are. This is right only if the
judgements are independent. If several are about the same item or come from the same person, draw items or people
instead (`resampled_tallies`): otherwise the intervals are too narrow.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import RankingError
from dissensus.processors import one_thread_per_product
from dissensus.ranking.frozen import Frozen, Results
from dissensus.ranking.multinomial import MOST, Multinomial, streams


@dataclass(frozen=True)
class CellBootstrap:
    """Log-strengths with mean zero (larger is better), and those of every resample that has a maximum."""

    strengths: Float[Array, " M"]
    samples: Float[Array, "B M"]
    degenerate: int
    """Resamples without a maximum.

    Some models won everything or nothing against the others, or never met them; or no win contradicts an order.
    """

    def intervals(self, level: float = 0.95) -> tuple[Float[Array, " M"], Float[Array, " M"]]:
        """Low and high ends of percentile intervals of single strengths.

        A resample without a maximum counts as −∞ for the low ends and as +∞ for the high ones: leaving it out would
        make intervals look narrow just where the judgements say little. So if there are many, for which a single model
        with few judgements is enough, all intervals are infinite.
        """
        if not 0 < level < 1:
            raise RankingError(f"the level of an interval is between 0 and 1, not {level}")
        ranked, lost = np.sort(self.samples, axis=0), self.degenerate
        tail = (1 - level) / 2 * (len(ranked) + lost - 1)
        place = int(np.floor(tail + 1e-9))
        if place < lost or not len(ranked):
            return np.full_like(self.strengths, -np.inf), np.full_like(self.strengths, np.inf)
        return ranked[place - lost], ranked[len(ranked) - 1 - (place - lost)]


def bootstrap_cells(
    wins: Float[Array, "M M"], ties: Float[Array, "M M"] | None = None, resamples: int = 1000, seed: int = 0
) -> CellBootstrap:
    """Bradley–Terry strengths (Davidson's, if there are ties), and the strengths of resampled judgements.

    `wins[i, j]`: how often i beat j; `ties`, symmetric: how often they tied. Both are counts of judgements.

    Raises:
        RankingError: an entry is not a whole number of judgements, ties are not symmetric, there are fewer than two
            resamples, or the judgements themselves have no maximum (see `davidson`).
    """
    wins = np.asarray(wins, float)
    ties = np.zeros_like(wins) if ties is None else np.asarray(ties, float)
    _check(wins, ties, resamples)
    with one_thread_per_product():
        frozen = Frozen(wins, ties)
        samples, found = frozen.fits(resampled_cells(frozen, wins, ties, resamples, seed), resamples)
    strengths = frozen.point[:-1] - frozen.point[:-1].mean()
    return CellBootstrap(strengths, samples[found], int((~found).sum()))


def resampled_cells(
    frozen: Frozen, wins: Float[Array, "M M"], ties: Float[Array, "M M"], resamples: int, seed: int
) -> Callable[[slice], Results]:
    """The counts of some of the resamples: as many judgements as there are, drawn with replacement."""
    own = frozen.results(wins[None], ties[None])
    cells = np.concatenate([part[:, 0] for part in (own.won, own.lost, own.tied) if part is not None])
    judgements, begins, pairs = Multinomial(cells), streams(seed, resamples), len(frozen.first)

    def tables(chosen: slice) -> Results:
        drawn = judgements.drawn(begins[chosen])
        return Results(drawn[:pairs], drawn[pairs : 2 * pairs], drawn[2 * pairs :] if frozen.has_ties else None)

    return tables


def _check(wins: Float[Array, "M M"], ties: Float[Array, "M M"], resamples: int) -> None:
    for name, counts in (("wins", wins), ("ties", ties)):
        if counts.ndim != 2 or counts.shape != (len(wins), len(wins)):
            raise RankingError(f"{name} must be a square matrix with a row and a column for each model")
        if not (np.isfinite(counts).all() and (counts >= 0).all() and (counts == np.round(counts)).all()):
            raise RankingError(
                f"{name} must be whole numbers of judgements: count them, one cell for each pair of models"
            )
        if np.diag(counts).any():
            raise RankingError(f"{name} must be zero on the diagonal: no model is compared with itself")
    if (ties != ties.T).any():
        raise RankingError("ties must be symmetric: a tie of i with j is one of j with i")
    if wins.sum() + ties.sum() / 2 > MOST:
        raise RankingError(f"there are more than {MOST:,} judgements: check the counts")
    if resamples < 2:
        raise RankingError(f"intervals take at least two resamples, not {resamples}")
