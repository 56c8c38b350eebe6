"""Which items of a duel count now: the selected ones, with reserves in the place of those that people discarded."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.records import Selection


def active_rows(selection: Selection, discarded: Bool[Array, " Q"], k: int, cap: int) -> Bool[Array, " Q"]:
    """True for the first `k` rows of each duel, by rank, that are not discarded and fit the cap together.

    It depends on the selection and the verdicts alone: nothing needs to be remembered when a reserve moves up.
    """
    active = np.zeros(len(selection), bool)
    places: Counter[tuple[int, int]] = Counter()
    labels: Counter[tuple[int, int, int, int]] = Counter()
    order = np.lexsort((selection.rank, selection.second, selection.first))
    for row in order[~discarded[order]]:
        one, other = int(selection.first[row]), int(selection.second[row])
        sides = (
            (one, other, 0, int(selection.first_label[row])),
            (one, other, 1, int(selection.second_label[row])),
        )
        if places[one, other] < k and all(labels[side] < cap for side in sides):
            active[row] = True
            places[one, other] += 1
            labels.update(sides)
    return active
