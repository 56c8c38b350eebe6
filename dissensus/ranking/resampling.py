"""The bootstrap over items: an item is drawn together with all duels that it appears in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import RankingError
from dissensus.records import Outcomes, Tally


def item_multiplicities(items: Int[Array, " Q"], resamples: int, rng: np.random.Generator) -> Int[Array, "B Q"]:
    """How often each outcome counts in each resample: as often as its item was drawn.

    A resample draws as many items as there are distinct ones, with replacement.
    """
    distinct, position = np.unique(items, return_inverse=True)
    draws = rng.integers(len(distinct), size=(resamples, len(distinct)))
    draws += np.arange(resamples)[:, None] * len(distinct)
    counts = np.bincount(draws.ravel(), minlength=draws.size)
    return counts.reshape(draws.shape)[:, position]


def resampled_tallies(
    outcomes: Outcomes, models: int, resamples: int, rng: np.random.Generator, smoothing: float = 0.0
) -> tuple[Tally, ...]:
    """One tally per resample of the items.

    Laplace smoothing is a pseudo-win for either side of every duel. It is resampled too, with weights of mean
    `smoothing` and half that as standard deviation: otherwise a duel won 30 to 0 would seem to have no error at all.
    Rank these tallies without smoothing them again.

    Raises:
        RankingError: there are no outcomes.
    """
    if len(outcomes) == 0:
        raise RankingError("no item of any duel has been judged yet: collect or import judgements first")
    multiplicities = item_multiplicities(outcomes.item, resamples, rng)
    stacked = (multiplicities @ _cells(outcomes, models)).reshape(resamples, 3, models, models)
    if smoothing:
        only, both, neither = stacked.swapaxes(0, 1)
        met = (only + only.swapaxes(1, 2) + both + neither) > 0
        stacked[:, 0] += np.where(met, smoothing * rng.gamma(4, 1 / 4, size=met.shape), 0.0)
    return tuple(Tally(only, both, neither) for only, both, neither in stacked)


def bootstrap(
    strengths_of: Callable[[Tally], Float[Array, " M"]], tallies: Sequence[Tally]
) -> tuple[Float[Array, "B M"], int]:
    """Strengths for every resample that has a ranking, and the number of resamples without one (`RankingError`)."""
    strengths = []
    for tally in tallies:
        try:
            strengths.append(strengths_of(tally))
        except RankingError:
            continue
    samples = np.array(strengths) if strengths else np.empty((0, 0))
    return samples, len(tallies) - len(strengths)


def _cells(outcomes: Outcomes, models: int) -> Any:
    """Which entries of the three M×M matrices (only, both, neither) each outcome adds one to, as a sparse matrix."""
    first_only = outcomes.first_right & ~outcomes.second_right
    second_only = outcomes.second_right & ~outcomes.first_right
    matrix = np.select([first_only | second_only, outcomes.first_right], [0, 1], 2)
    cell = (matrix * models + outcomes.first) * models + outcomes.second
    mirrored = (matrix * models + outcomes.second) * models + outcomes.first
    rows = np.arange(len(outcomes))
    row = np.concatenate([rows[~second_only], rows[~first_only]])
    column = np.concatenate([cell[~second_only], mirrored[~first_only]])
    from scipy.sparse import csr_array  # takes a quarter of a second to import, and few commands need it

    return csr_array((np.ones(len(row)), (row, column)), shape=(len(outcomes), 3 * models**2))
