"""How many items the models of each duel disagree on, and how far confidence has to be lowered for enough of them."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Int, UInt16


def disagreements(labels: UInt16[Array, "M N"], duels: Int[Array, "D 2"]) -> tuple[Bool[Array, " N"], Int[Array, " D"]]:
    """The items on which the two models of any duel disagree, and how many there are for each duel.

    Labels are MISSING where a model does not count.
    """
    counts = np.zeros(len(duels), np.int64)
    by_any = np.zeros(labels.shape[1], bool)
    is_given = labels != MISSING
    for duel, (first, second) in enumerate(duels.tolist()):
        differs = (labels[first] != labels[second]) & is_given[first] & is_given[second]
        counts[duel] = np.count_nonzero(differs)
        by_any |= differs
    return by_any, counts


def enough_from(candidates: Int[Array, "T D"], k: int) -> int:
    """The first row in which most duels have k candidates; if there is none, the first that fills the most places."""
    enough = np.flatnonzero(2 * (candidates >= k).sum(axis=1) > candidates.shape[1])
    return int(enough[0]) if len(enough) else int(np.minimum(candidates, k).sum(axis=1).argmax())
