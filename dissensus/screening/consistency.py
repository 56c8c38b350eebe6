"""How well a person agrees with the others, and with themselves."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import cross_counts
from dissensus.screening.shares import Shares


def agreement_with_others(
    question: Int[Array, " A"],
    annotator: Int[Array, " A"],
    answer: Int[Array, " A"],
    questions: int,
    annotators: int,
    answers: int,
) -> Shares:
    """How often each person says what most of the *others* said to the same question.

    A person's own answer is left out of the majority it is compared with. If t answers tie for the most votes, each of
    them is worth 1/t, the expected value of a random tie-break. A question that nobody else answered does not count.
    Pass at most one answer per person and question.
    """
    others = cross_counts(question, answer, questions, answers)[question]
    others[np.arange(len(answer)), answer] -= 1
    most = others.max(axis=1, initial=0)
    compared = most > 0
    is_top = others == most[:, None]
    worth = is_top[np.arange(len(answer)), answer] / is_top.sum(axis=1) * compared
    return Shares(
        np.bincount(annotator, weights=worth, minlength=annotators),
        np.bincount(annotator[compared], minlength=annotators),
    )


def repeat_consistency(
    annotator: Int[Array, " P"], first: Int[Array, " P"], second: Int[Array, " P"], annotators: int
) -> Shares:
    """How often each person gave the same answer again to a planned repeat."""
    if not len(annotator) == len(first) == len(second):
        raise ScreeningError("annotators, first and second answers have different lengths: pass one row per repeat")
    same = (first == second).astype(float)
    return Shares(
        np.bincount(annotator, weights=same, minlength=annotators), np.bincount(annotator, minlength=annotators)
    )
