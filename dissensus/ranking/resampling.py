"""The bootstrap over items: an item is drawn together with all duels that it appears in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import RankingError
from dissensus.records import Outcomes, Tally

BLOCK = 128
"""Resamples that are counted at once, so that little memory is needed beside the tallies."""


def item_multiplicities(items: Int[Array, " Q"], resamples: int, rng: np.random.Generator) -> Int[Array, "B Q"]:
    """How often each outcome counts in each resample: as often as its item was drawn.

    A resample draws as many items as there are distinct ones, with replacement.
    """
    distinct, position = np.unique(items, return_inverse=True)
    return _times_drawn(len(distinct), resamples, rng)[:, position]


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
    distinct, item = np.unique(outcomes.item, return_inverse=True)
    drawn = _times_drawn(len(distinct), resamples, rng)
    cells = _cells(outcomes, models, item.reshape(-1), len(distinct))
    stacked = np.empty((resamples, 3, models, models))
    for start in range(0, resamples, BLOCK):
        block = slice(start, start + BLOCK)
        counts = cells @ np.ascontiguousarray(drawn[block].T, float)
        stacked[block] = counts.T.reshape(-1, 3, models, models)
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


def _times_drawn(items: int, resamples: int, rng: np.random.Generator) -> Int[Array, "B n"]:
    """How often each item is drawn in each resample."""
    draws = rng.integers(items, size=(resamples, items))
    draws += np.arange(resamples)[:, None] * items
    return np.bincount(draws.ravel(), minlength=draws.size).reshape(draws.shape)


def _cells(outcomes: Outcomes, models: int, item: Int[Array, " Q"], items: int) -> Any:
    """How much each item adds to the entries of the three M×M matrices (only, both, neither), as a sparse matrix."""
    first_only = outcomes.first_right & ~outcomes.second_right
    second_only = outcomes.second_right & ~outcomes.first_right
    matrix = np.select([first_only | second_only, outcomes.first_right], [0, 1], 2)
    cell = (matrix * models + outcomes.first) * models + outcomes.second
    mirrored = (matrix * models + outcomes.second) * models + outcomes.first
    row = np.concatenate([item[~second_only], item[~first_only]])
    column = np.concatenate([cell[~second_only], mirrored[~first_only]])
    from scipy.sparse import csr_array  # takes a quarter of a second to import, and few commands need it

    return csr_array((np.ones(len(row)), (column, row)), shape=(3 * models**2, items))
