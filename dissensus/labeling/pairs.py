"""Questions are about pairs of items, so that a comparison which several duels need is asked for once."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import PairSelection


def pair_questions(selection: PairSelection) -> tuple[Int[Array, "q 2"], Int[Array, " Q"], Int[Array, " Q"]]:
    """Distinct pairs (the smaller item number first), sorted; for each row its pair, and the sign of its preference.

    An answer is how much better the second item of the pair is: the sign is 1 where that is the row's `high`.
    """
    ordered = np.sort(np.stack([selection.low, selection.high], axis=1), axis=1)
    pairs, number = np.unique(ordered, axis=0, return_inverse=True)
    return pairs.reshape(-1, 2), number.reshape(-1), np.where(selection.high > selection.low, 1, -1)
