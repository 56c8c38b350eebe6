"""Steps 3 and 10 of gMAD (section 2.2): the levels of every defender's scale, and which of them are used."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import SelectionError
from dissensus.predictions.scale import Scale
from dissensus.records import PairSelection, Step
from dissensus.selection import Cells, Extremes

GRID = 8
"""Cells per unit of the common scale if `jnd` limits how much the defender's two scores may differ."""


def even_levels(levels: int, width: float, low: float = 0.0, high: float = 100.0) -> Float[Array, "K 2"]:
    """Ends of evenly spaced levels of the same width, lowest first; they overlap if they have to.

    The first level starts at `low` and the last ends at `high`; a single level is at the low end, as in the paper.
    """
    width = min(width, high - low)
    begin = np.linspace(low, high - width, levels)
    end = begin + width
    # adjacent levels share exactly one number: with rounding errors, an item on it could be in both or in neither
    end[:-1] = np.where(np.isclose(end[:-1], begin[1:], rtol=0, atol=1e-9), begin[1:], end[:-1])
    end[-1] = high if levels > 1 else end[-1]
    return np.stack([begin, end], axis=1)


def level_cells(scales: Sequence[Scale], ends: Float[Array, "K 2"], jnd: float | None = None) -> Cells:
    """Levels of the common scale in terms of every defender's scores.

    The ends of the levels cut the scale into cells, and each level consists of some of them. With `jnd` (in units of
    the common scale), cells are an eighth of a unit wide, and both items of a pair are within `jnd` of each other: all
    pairs that differ by at least an eighth less are found.
    """
    cuts = np.unique(ends) if jnd is None else np.arange(0, 100 * GRID + 1) / GRID
    levels = np.searchsorted(cuts, ends if jnd is None else np.round(ends * GRID) / GRID)
    edges = np.stack([scale.inverse(cuts) for scale in scales])
    edges[:, cuts <= 0], edges[:, cuts >= 100] = -np.inf, np.inf  # no score is outside the scale
    return Cells(edges, levels.astype(np.int64), None if jnd is None else max(int(jnd * GRID), 1))


def quantile_cells(quantiles: Float[Array, "M K+1"]) -> Cells:
    """Levels with equal numbers of items for each defender, from the quantiles of its scores."""
    edges = quantiles.astype(np.float64).copy()
    edges[:, 0], edges[:, -1] = -np.inf, np.inf
    levels = edges.shape[1] - 1
    return Cells(edges, np.stack([np.arange(levels), np.arange(1, levels + 1)], axis=1))


def level_counts(extremes: Extremes, cells: Cells) -> Int[Array, "M K"]:
    """The number of items in every level of every defender."""
    return np.stack([extremes.counts[:, first:last].sum(axis=1) for first, last in cells.levels.tolist()], axis=1)


def most_different(selection: PairSelection) -> PairSelection:
    """For each attacker and defender, only the level in which the attacker sees the largest difference (Eq. 1, Case 2).

    Eq. 1 is printed with q, the subjective quality, which is unknown before people answer, so the attacker's prediction
    is used instead. If differences are equal, the lowest level is taken.
    """
    duel, place = selection.duel, selection.group
    order = np.lexsort((selection.level, -selection.difference, duel))
    order = order[selection.rank[order] == 1]
    best = order[np.unique(duel[order], return_index=True)[1]]
    return selection.take(np.isin(place, place[best]))


def level_steps(weight: Int[Array, "M K"], wanted: Bool[Array, "M M"], selection: PairSelection) -> list[Step]:
    """What is left of the levels of all defenders, and of the attacks on them; `wanted[attacker, defender]`."""
    defends, is_usable = np.any(wanted, axis=0), weight >= 2
    attacks = int((is_usable.sum(axis=1) * wanted.sum(axis=0)).sum())
    return [
        Step(rule="levels of the defenders", left=int(defends.sum()) * weight.shape[1], unit="levels"),
        Step(rule="with at least two items", left=int(is_usable[defends].sum()), unit="levels"),
        Step(rule="attacks on these levels", left=attacks, unit="attacks"),
        Step(rule="the attacker tells two items apart", left=len(np.unique(selection.group)), unit="attacks"),
    ]


def require_levels(weight: Int[Array, "M K"], names: Sequence[str], defends: Bool[Array, " M"]) -> list[str]:
    """Sentences about levels that are skipped because they have fewer than two items.

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
            words.append(f"{names[model]}: skipped {held} {numbers} of {weight.shape[1]} (fewer than two items).")
    return words
