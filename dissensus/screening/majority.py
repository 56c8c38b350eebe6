"""Majority vote with the paper's way out: items that people cannot judge are discarded, not guessed."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import ANSWERS, Judgement, moment_of

YES, NO, UNSURE, UNFIT = (ANSWERS.index(answer) for answer in ("yes", "no", "unsure", "unfit"))
UNJUDGED = -1


def latest_answers(judgements: Iterable[Judgement]) -> dict[tuple[str, int, str], Judgement]:
    """What each annotator said last on each question, by (item, label, annotator): people may change their mind.

    Judgements come in the order in which they were stored; equal times go by that order.
    """
    latest: dict[tuple[str, int, str], Judgement] = {}
    for judgement in judgements:
        question = (judgement.item, judgement.label, judgement.annotator)
        if question not in latest or moment_of(judgement.time) >= moment_of(latest[question].time):
            latest[question] = judgement
    return latest


def majority_verdicts(
    counts: Int[Array, "Q 4"], min_answers: int = 1, unsure_share: float = 0.6, unfit_share: float = 0.5
) -> Int[Array, " Q"]:
    """One verdict per question from the numbers of yes, no, unsure and unfit answers.

    UNFIT: more than half of the answers. UNSURE: more than 60 % (more than three of five) of the answers, or as many
    yes as no: people cannot tell, so another item is asked. Otherwise what more people said, YES or NO. UNJUDGED: fewer
    than `min_answers` answers.
    """
    answers = counts.sum(axis=1)
    verdict = np.where(counts[:, YES] > counts[:, NO], YES, NO)
    tied = counts[:, YES] == counts[:, NO]
    # shares as products: 3 of 5 must not exceed 0.6 by a rounding error
    unsure = counts[:, UNSURE] > unsure_share * answers * (1 + 1e-12)
    unfit = counts[:, UNFIT] > unfit_share * answers * (1 + 1e-12)
    verdict[tied | unsure] = UNSURE
    verdict[unfit] = UNFIT
    verdict[answers < max(min_answers, 1)] = UNJUDGED
    return verdict
