"""Steps 3 and 10 of gMAD (section 2.2): the levels of every defender's scale, and which of them are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import SelectionError
from dissensus.predictions.scale import Scale
from dissensus.records import PairSelection
from dissensus.selection import Cells, Extremes

GRID = 8
"""Cells per unit of the common scale where the two scores of the defender may differ by so many units only."""


def even_levels(levels: int, width: float, low: float = 0.0, high: float = 100.0) -> Float[Array, "K 2"]:
    """Ends of evenly spaced levels of one width, the lowest first; they overlap where they must.

    The first one begins at `low` and the last one ends at `high`; a single one lies at the low end, as in the paper.
    """
    width = min(width, high - low)
    begin = np.linspace(low, high - width, levels)
    end = begin + width
    # levels that touch share one number: by rounding an item on it would be in both, or in none
    end[:-1] = np.where(np.isclose(end[:-1], begin[1:], rtol=0, atol=1e-9), begin[1:], end[:-1])
    end[-1] = high if levels > 1 else end[-1]
    return np.stack([begin, end], axis=1)


def level_cells(scales: Sequence[Scale], ends: Float[Array, "K 2"], jnd: float | None = None) -> Cells:
    """Levels of the common scale in the scores of every defender.

    Ends of levels cut the scale into cells, of which each level has some. With `jnd` (units of the common scale) the
    cells are an eighth of a unit wide, and both items of a pair lie within `jnd` of each other: all pairs that differ
    by at least an eighth less are found.
    """
    cuts = np.unique(ends) if jnd is None else np.arange(0, 100 * GRID + 1) / GRID
    levels = np.searchsorted(cuts, ends if jnd is None else np.round(ends * GRID) / GRID)
    edges = np.stack([scale.inverse(cuts) for scale in scales])
    edges[:, cuts <= 0], edges[:, cuts >= 100] = -np.inf, np.inf  # nothing lies outside the scale
    return Cells(edges, levels.astype(np.int64), None if jnd is None else max(int(jnd * GRID), 1))


def quantile_cells(quantiles: Float[Array, "M K+1"]) -> Cells:
    """Levels with equal numbers of items for every defender, from the quantiles of its scores."""
    edges = quantiles.astype(np.float64).copy()
    edges[:, 0], edges[:, -1] = -np.inf, np.inf
    levels = edges.shape[1] - 1
    return Cells(edges, np.stack([np.arange(levels), np.arange(1, levels + 1)], axis=1))


def level_counts(extremes: Extremes, cells: Cells) -> Int[Array, "M K"]:
    """Items in every level of every defender."""
    return np.stack([extremes.counts[:, first:last].sum(axis=1) for first, last in cells.levels.tolist()], axis=1)


def most_different(selection: PairSelection) -> PairSelection:
    """Of each attacker and defender only the level in which the attacker sees the largest difference (Eq. 1, Case 2).

    Eq. 1 is printed with q, what people measure, which is not known before they do: it is the attacker's prediction
    that can choose. Of equal differences the lowest level is taken.
    """
    duel, place = selection.duel, selection.group
    order = np.lexsort((selection.level, -selection.difference, duel))
    order = order[selection.rank[order] == 1]
    best = order[np.unique(duel[order], return_index=True)[1]]
    return selection.take(np.isin(place, place[best]))


def require_levels(weight: Int[Array, "M K"], names: Sequence[str], defends: Bool[Array, " M"]) -> list[str]:
    """Sentences about levels with fewer than two items, which are skipped.

    Raises:
        SelectionError: a defender has no level with two items.
    """
    words = []
    for model in np.flatnonzero(defends).tolist():
        short = np.flatnonzero(weight[model] < 2)
        if len(short) == weight.shape[1]:
            raise SelectionError(
                f"no level of {names[model]} has two items: widen the levels (--width) or use --spacing quantile"
            )
        if len(short):
            numbers = ", ".join(str(level + 1) for level in short)
            held = "level" if len(short) == 1 else "levels"
            words.append(f"{names[model]}: {held} {numbers} of {weight.shape[1]} held fewer than two items, skipped.")
    return words
