"""gMAD for models that give a number: the eleven steps of section 2.2 of the paper, room by room.

* step 1, all models on all items, is `predict`; the scales that make scores comparable are `predictions.scale`
* `level_cells`, step 3: the levels of every defender's scale
* `Selecting`, steps 2 and 4–9: in each level the extremal pair of every attacker
* `most_different`, step 10, Case 2: only the level in which the attacker sees the largest difference
* `judge`, step 10: what people said about the pairs; reserves for what they could not judge
* `attack_standings.rank_attacks`, step 11: aggressiveness, resistance, and both global rankings
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.duels import JUDGED, UNFIT, UNJUDGED, duel_of, had_turn, in_counted_duels, marked, place_of
from dissensus.errors import SelectionError
from dissensus.labeling import pair_questions
from dissensus.predictions.scale import Scale
from dissensus.records import Attacks, PairSelection
from dissensus.selection import Cells, Extremes, Pairs, extremal_pairs, merge_extremes, scan_extremes

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


@dataclass(frozen=True)
class Selecting:
    """The selection as a reduction over chunks of the pool: scan each, merge in any order, finish."""

    cells: Cells
    wanted: Bool[Array, "M M"]
    reserves: int = 1
    taken: Int[Array, "T 4"] | None = None
    """(attacker, defender, low, high) of earlier rounds, which are not selected again."""

    @property
    def depth(self) -> int:
        """Extremes that must be known of each cell: taken items may be among them."""
        duels = np.zeros((0, 2), np.int64) if self.taken is None else self.taken[:, :2]
        most = np.unique(duels, axis=0, return_counts=True)[1].max(initial=0)
        return self.cells.depth(1 + self.reserves, int(most))

    def scan(self, scores: Float[Array, "M N"], first_item: int, known: Extremes | None = None) -> Extremes:
        """Extremes among the items from `first_item` on."""
        return scan_extremes(scores, first_item, self.cells, self.depth, known)

    def merge(self, one: Extremes, other: Extremes) -> Extremes:
        """Extremes among the items of both."""
        return merge_extremes(one, other)

    def finish(self, extremes: Extremes) -> Pairs:
        """The extremal pair of every attacker in every level of every defender, and its reserves."""
        return extremal_pairs(extremes, self.cells, self.wanted, 1 + self.reserves, self.taken)


def level_counts(extremes: Extremes, cells: Cells) -> Int[Array, "M K"]:
    """Items in every level of every defender."""
    return np.stack([extremes.counts[:, first:last].sum(axis=1) for first, last in cells.levels.tolist()], axis=1)


def most_different(selection: PairSelection) -> PairSelection:
    """Of each attacker and defender only the level in which the attacker sees the largest difference (Eq. 1, Case 2).

    Eq. 1 is printed with q, what people measure, which is not known before they do: it is the attacker's prediction
    that can choose. Of equal differences the lowest level is taken.
    """
    duel = duel_of(selection.attacker, selection.defender)
    place = place_of(duel, selection.level)
    order = np.lexsort((selection.level, -selection.difference, duel))
    order = order[selection.rank[order] == 1]
    best = order[np.unique(duel[order], return_index=True)[1]]
    return selection.take(np.isin(place, place[best]))


@dataclass(frozen=True)
class JudgedPairs:
    """One round after its answers: which pairs count, and what came of them.

    `pairs[q]` are two items; `preference[q]`, −1 to 1, is how much better people find the second one, read only where
    `state[q]` is JUDGED. `row_pair` and `row_sign` as `pair_questions` gives them. A duel counts once `share` of its
    active rows are judged.
    """

    selection: PairSelection
    pairs: Int[Array, "q 2"]
    row_pair: Int[Array, " Q"]
    row_sign: Int[Array, " Q"]
    state: Int[Array, " q"]
    preference: Float[Array, " q"]
    active: Bool[Array, " Q"]
    share: float

    @property
    def asked(self) -> Bool[Array, " q"]:
        """Pairs that had or have to be compared: active ones, and those found unfit before their reserves came."""
        return marked(self.row_pair, self.active | self.given_up, len(self.pairs))

    @property
    def given_up(self) -> Bool[Array, " Q"]:
        """Unfit rows whose turn had come."""
        discarded = self.state[self.row_pair] == UNFIT
        return _had_turn(self.selection, discarded) & discarded

    @property
    def open(self) -> Bool[Array, " q"]:
        """Pairs that still need answers."""
        return marked(self.row_pair, self.active, len(self.pairs)) & (self.state == UNJUDGED)

    @property
    def decided(self) -> Bool[Array, " Q"]:
        """Active rows that people have compared, in duels that count."""
        judged = self.active & (self.state[self.row_pair] == JUDGED)
        duel = duel_of(self.selection.attacker, self.selection.defender)
        return in_counted_duels(duel, self.active, judged, self.share)

    def attacks(self) -> Attacks:
        """What people said about each row that is decided, towards the attacker's higher item."""
        rows = np.flatnonzero(self.decided)
        pair = self.row_pair[rows]
        return Attacks(
            attacker=self.selection.attacker[rows],
            defender=self.selection.defender[rows],
            level=self.selection.level[rows],
            pair=pair,
            weight=self.selection.weight[rows].astype(np.float64),
            preference=self.row_sign[rows] * self.preference[pair],
        )


def judge(
    selection: PairSelection,
    state: Int[Array, " q"],
    preference: Float[Array, " q"],
    share: float = 0.0,
) -> JudgedPairs:
    """What the answers to a round's questions (in the order of `pair_questions`) come to."""
    pairs, row_pair, row_sign = pair_questions(selection)
    active = active_pairs(selection, state[row_pair] == UNFIT)
    return JudgedPairs(selection, pairs, row_pair, row_sign, state, preference, active, share)


def active_pairs(selection: PairSelection, discarded: Bool[Array, " Q"]) -> Bool[Array, " Q"]:
    """The first row of each (attacker, defender, level) that was not discarded."""
    return _had_turn(selection, discarded) & ~discarded


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


def _had_turn(selection: PairSelection, discarded: Bool[Array, " Q"]) -> Bool[Array, " Q"]:
    place = place_of(duel_of(selection.attacker, selection.defender), selection.level)
    return had_turn(place, selection.rank, discarded, k=1)
