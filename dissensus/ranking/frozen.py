"""Bradley–Terry for many similar tables at once: one factorisation of the Hessian serves all of them.

Newton's method needs the Hessian only to choose its steps; what it converges to depends on the gradient alone. For
tables that resemble one table (resamples of it, or the table without a few judgements), the Hessian at that table's
maximum is good enough. So it is inverted once, and every step costs one gradient per table. The steps are repeated
until they vanish: each result is the maximum of its own likelihood, not an approximation. Tables are fitted in blocks,
in as many threads as there are processors; the results do not depend on either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.errors import RankingError
from dissensus.processors import on_all_cores
from dissensus.ranking.bradley_terry import davidson, maximum
from dissensus.ranking.frozen_kernel import are_strong, ascents

STEPS = 60
"""A table that takes more steps than this is fitted on its own, with its own Hessian."""

SMALL = 1e-11
"""A step in log-strengths that no longer matters."""


BLOCK = 32
"""Tables that are fitted at once; with 100 models, their trials nearly fit into a processor's own cache."""


@dataclass(frozen=True)
class Results:
    """Results of P pairs of models in B tables: wins of the first, wins of the second, and ties."""

    won: Float[Array, "P B"]
    lost: Float[Array, "P B"]
    tied: Float[Array, "P B"] | None = None
    """None if there are no ties in any table."""

    def columns(self, chosen: slice) -> Results:
        """Some of the tables."""
        won, lost = (np.ascontiguousarray(part[:, chosen]) for part in (self.won, self.lost))
        return Results(won, lost, None if self.tied is None else np.ascontiguousarray(self.tied[:, chosen]))


class Frozen:
    """The maximum of one table, and with its Hessian the maxima of tables like it.

    Raises:
        RankingError: as `davidson`, for the table itself.
    """

    def __init__(self, wins: Float[Array, "M M"], ties: Float[Array, "M M"]) -> None:
        self.models = len(wins)
        self.point, curvature = maximum(wins, ties)
        self.has_ties = bool(np.isfinite(self.point[-1]))
        free = self.models + self.has_ties
        self.inverse = np.linalg.inv(curvature[:free, :free])
        self.first, self.second = np.nonzero(np.triu(wins + wins.T + ties, 1))
        self.begins = np.searchsorted(self.first, np.arange(self.models + 1))

    def results(self, wins: Float[Array, "B M M"], ties: Float[Array, "B M M"]) -> Results:
        """Tables given as matrices; pairs that the table itself lacks must be zero."""
        first, second = self.first, self.second
        tied = np.ascontiguousarray(ties[:, first, second].T) if self.has_ties else None
        won, lost = (np.ascontiguousarray(wins[:, i, j].T) for i, j in ((first, second), (second, first)))
        return Results(won, lost, tied)

    def fits(
        self, tables: Callable[[slice], Results], count: int, certain: Bool[Array, " B"] | None = None
    ) -> tuple[Float[Array, "B M"], Bool[Array, " B"]]:
        """Log-strengths with mean zero, zeros if a table has no maximum; and which tables have one.

        Tables are made in blocks, when they are needed, by `tables`, which is called in threads. `certain` ones are
        known to have a maximum, so that it need not be checked.
        """
        strengths, found = np.zeros((count, self.models)), np.zeros(count, bool)

        def fit(block: slice) -> None:
            known = np.zeros(block.stop - block.start, bool) if certain is None else certain[block]
            strengths[block], found[block] = self._fitted(tables(block), known)

        blocks = [slice(start, min(start + BLOCK, count)) for start in range(0, count, BLOCK)]
        on_all_cores(fit, blocks)
        return strengths, found

    def _fitted(self, results: Results, certain: Bool[Array, " B"]) -> tuple[Float[Array, "B M"], Bool[Array, " B"]]:
        """The maxima of one block.

        There is a maximum if wins alone lead from every model to every other, and there are ties if there were. Without
        that there may still be one, which takes longer to find out.
        """
        won, lost = results.won, results.lost
        tied = np.zeros((0, 1)) if results.tied is None else results.tied
        wanted = certain
        if not certain.all():
            wanted = certain | are_strong(self.models, self.first, self.second, won, lost)
        if results.tied is not None:
            wanted = wanted & (tied.sum(axis=0) > 0)
        start = self.point[: len(self.inverse)]
        strengths, found = ascents(start, self.inverse, self.begins, self.second, won, lost, tied, wanted, STEPS, SMALL)
        for table in np.flatnonzero(~found):
            alone = self._alone(results.columns(slice(table, table + 1)))
            strengths[table] = 0.0 if alone is None else alone
            found[table] = alone is not None
        return strengths, found

    def _alone(self, table: Results) -> Float[Array, " M"] | None:
        """The maximum of one table, by itself; None if it has none."""
        wins, ties = np.zeros((2, self.models, self.models))
        wins[self.first, self.second], wins[self.second, self.first] = table.won[:, 0], table.lost[:, 0]
        if table.tied is not None:
            ties[self.first, self.second] = ties[self.second, self.first] = table.tied[:, 0]
        try:
            return davidson(wins, ties)[0]
        except RankingError:
            return None
