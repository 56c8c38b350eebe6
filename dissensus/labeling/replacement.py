"""Which items of a duel count now: the selected ones, with reserves in the place of those that people discarded."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.labeling.questions import LABELS
from dissensus.records import Selection


def active_rows(selection: Selection, discarded: Bool[Array, " Q"], k: int, cap: int) -> Bool[Array, " Q"]:
    """True for the first `k` rows of each duel, by rank, that are not discarded and fit the cap together.

    It depends on the selection and the verdicts alone: nothing needs to be remembered when a reserve moves up.
    """
    order = _by_duel_and_rank(selection)
    order = order[~discarded[order]]
    duel = np.cumsum(_begins(selection.first[order], selection.second[order])) - 1
    first_place = np.flatnonzero(_begins(duel))
    is_among_first = np.arange(len(order)) - first_place[duel] < k
    is_crowded = np.zeros(len(first_place), bool)
    for label in (selection.first_label, selection.second_label) if cap < k else ():
        is_crowded |= _is_over(duel[is_among_first], label[order[is_among_first]], cap, len(first_place))
    active = np.zeros(len(selection), bool)
    active[order[is_among_first & ~is_crowded[duel]]] = True
    ends = np.append(first_place[1:], len(order))
    for number in np.flatnonzero(is_crowded):  # only where the cap turns rows away do they depend on each other
        rows = order[first_place[number] : ends[number]]
        active[rows[_taken(selection.first_label[rows], selection.second_label[rows], k, cap)]] = True
    return active


def _by_duel_and_rank(selection: Selection) -> Int[Array, " Q"]:
    """The rows in order; a selection has them so already, and to see that is quicker than to sort."""
    step = np.diff(selection.first * (1 << 32) + selection.second)
    if np.all((step > 0) | ((step == 0) & (np.diff(selection.rank) >= 0))):
        return np.arange(len(selection))
    return np.lexsort((selection.rank, selection.second, selection.first))


def _begins(*columns: Int[Array, " n"]) -> Bool[Array, " n"]:
    """True for each row that differs from the one before."""
    differs = [np.diff(column, prepend=column[:1] - 1) != 0 for column in columns]
    return np.logical_or.reduce(differs)


def _is_over(duel: Int[Array, " n"], label: Int[Array, " n"], cap: int, duels: int) -> Bool[Array, " D"]:
    """True for duels in which some label stands more than `cap` times."""
    pairs, times = np.unique(duel * LABELS + label, return_counts=True)
    is_over = np.zeros(duels, bool)
    is_over[pairs[times > cap] // LABELS] = True
    return is_over


def _taken(first: Int[Array, " n"], second: Int[Array, " n"], k: int, cap: int) -> list[int]:
    """Rows of one duel, taken one after the other while they fit."""
    taken: list[int] = []
    labels: Counter[tuple[int, int]] = Counter()
    for row, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
        sides = tuple(enumerate(pair))
        if len(taken) < k and all(labels[side] < cap for side in sides):
            taken.append(row)
            labels.update(sides)
    return taken
