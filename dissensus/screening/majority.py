"""Majority vote; as in the paper, items that people cannot judge are discarded instead of guessed."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES


def majority_verdicts(
    counts: Int[Array, "Q 4"], min_answers: int = 1, unsure_share: float = 0.6, unfit_share: float = 0.5
) -> Int[Array, " Q"]:
    """One verdict per question from the numbers of yes, no, unsure and unfit answers.

    UNFIT: more than half of the answers say so. UNSURE: more than 60 % (three of five) of the answers say so, or there
    are as many yes as no: people cannot tell, so another item is asked. YES or NO: what more people said. OPEN: fewer
    than `min_answers` answers.
    """
    answers = counts.sum(axis=1)
    yes, no, unsure, unfit = counts.T
    verdict = np.where(yes > no, YES, NO)
    # shares as products, so that rounding cannot lift 3 of 5 above 0.6
    verdict[(yes == no) | (unsure > unsure_share * answers * (1 + 1e-12))] = UNSURE
    verdict[unfit > unfit_share * answers * (1 + 1e-12)] = UNFIT
    verdict[answers < max(min_answers, 1)] = OPEN
    return verdict
