"""What became of questions of which only matters how many people answered, and how many could not."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import JUDGED, OPEN, UNFIT


def states_of(
    answered: Int[Array, " q"], unfit: Int[Array, " q"], min_answers: int, unfit_share: float
) -> Int[Array, " q"]:
    """What became of each question, from how many people said something about it and how many found it unfit."""
    state = np.where(answered >= min_answers, JUDGED, OPEN)
    # shares as products: a half must not exceed 0.5 by a rounding error
    state[(unfit > unfit_share * answered * (1 + 1e-12)) & (answered >= min_answers)] = UNFIT
    return state
