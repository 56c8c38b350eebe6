"""The state of questions for which only the numbers of answers and of 'unfit' matter."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import JUDGED, OPEN, UNFIT


def states_of(
    answered: Int[Array, " q"], unfit: Int[Array, " q"], min_answers: int, unfit_share: float
) -> Int[Array, " q"]:
    """The state of each question, from how many people answered it and how many found it unfit."""
    state = np.where(answered >= min_answers, JUDGED, OPEN)
    # shares as products, so that rounding cannot lift exactly one half above 0.5
    state[(unfit > unfit_share * answered * (1 + 1e-12)) & (answered >= min_answers)] = UNFIT
    return state
