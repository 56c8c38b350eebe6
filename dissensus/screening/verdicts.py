"""One verdict per question from everybody's answers: every method takes the same columns and the same rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import ANSWERS, NO, OPEN, UNFIT, UNSURE, YES
from dissensus.screening.counts import cross_counts
from dissensus.screening.dawid_skene import NO_MAYBE_YES, SCALE, dawid_skene
from dissensus.screening.majority import majority_verdicts


@dataclass(frozen=True)
class Rule:
    """When answers add up to a verdict, and when they discard an item; each method uses the fields it needs."""

    min_answers: int = 1
    unsure_share: float = 0.6
    unfit_share: float = 0.5
    certainty: float = 0.6
    """Dawid–Skene: the verdict is UNSURE unless YES or NO is more probable than this."""


Verdicts = Callable[[Int[Array, " A"], Int[Array, " A"], Int[Array, " A"], int, int, Rule], Int[Array, " Q"]]
"""(question, annotator, answer, questions, annotators, rule) → YES, NO, UNSURE, UNFIT or OPEN per question."""


def by_majority(
    question: Int[Array, " A"],
    annotator: Int[Array, " A"],  # noqa: ARG001
    answer: Int[Array, " A"],
    questions: int,
    annotators: int,  # noqa: ARG001
    rule: Rule,
) -> Int[Array, " Q"]:
    """What more people said, with equal weight for everybody."""
    counts = cross_counts(question, answer, questions, len(ANSWERS))
    return majority_verdicts(counts, rule.min_answers, rule.unsure_share, rule.unfit_share)


def by_dawid_skene(
    question: Int[Array, " A"],
    annotator: Int[Array, " A"],
    answer: Int[Array, " A"],
    questions: int,
    annotators: int,
    rule: Rule,
) -> Int[Array, " Q"]:
    """What is more probable given how reliably each person answers, instead of what more people said.

    Items that people cannot judge are discarded as with `by_majority`: too many unfit or unsure answers, or nobody said
    yes or no. The truth is yes or no; `unsure` is an answer that a person may give more often to one than to the other.

    Raises:
        ScreeningError: the estimate did not converge.
    """
    counts = cross_counts(question, answer, questions, len(ANSWERS))
    verdict = majority_verdicts(counts, rule.min_answers, rule.unsure_share, rule.unfit_share)
    yes, no, unsure, _ = counts.T
    told = answer != ANSWERS.index("unfit")
    if not told.any():
        return verdict
    found = dawid_skene(question[told], annotator[told], SCALE[answer[told]], questions, annotators, NO_MAYBE_YES)
    more_probable = np.where(found.posterior[:, 1] > found.posterior[:, 0], YES, NO)
    clear = found.posterior.max(axis=1) > rule.certainty
    too_unsure = unsure > rule.unsure_share * counts.sum(axis=1) * (1 + 1e-12)
    open_to_estimate = (verdict != UNFIT) & (verdict != OPEN) & ~too_unsure & (yes + no > 0)
    return np.where(open_to_estimate, np.where(clear, more_probable, UNSURE), verdict)
