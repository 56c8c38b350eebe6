"""Questions are about (item, label), so that an answer which several duels need is asked for once."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import Selection


def questions_of(selection: Selection) -> tuple[Int[Array, "q 2"], Int[Array, "Q 2"]]:
    """Distinct (item, label) questions, sorted, and for each selected row the numbers of its two questions."""
    asked = np.stack(
        [
            np.concatenate([selection.item, selection.item]),
            np.concatenate([selection.first_label, selection.second_label]),
        ],
        axis=1,
    )
    questions, number = np.unique(asked.reshape(-1, 2), axis=0, return_inverse=True)
    return questions, number.reshape(2, -1).T
