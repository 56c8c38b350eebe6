"""Which open questions go first while people answer, for tasks whose models attack each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.competition.judged import Judged
from dissensus.competition.task import H, QuestionSet, S, States, Task
from dissensus.inquiry import Answers
from dissensus.planning.priority import foremost, priority
from dissensus.records import OPEN

MOST = 1000
"""How many questions are put in order; whoever may answer none of them is asked the others, in random order."""


def asked_first(
    task: Task[S, H], question_set: QuestionSet[S], states: States, answers: Answers, judged: Sequence[Judged[S]]
) -> list[int]:
    """Positions of the questions without which stopping now would lose most, in order; none if nobody attacks."""
    if not task.is_ordered:
        return []
    found = foremost(gains(task, question_set, states, answers, judged), MOST)
    return [int(place) for place in task.positions(question_set, states, found)]


def gains(
    task: Task[S, H], question_set: QuestionSet[S], states: States, answers: Answers, judged: Sequence[Judged[S]]
) -> Float[Array, " q"]:
    """By how much an answer to each question is expected to reduce the variances of what is reported about models.

    The rounds are added up: a later round of the same models has its own rows, and its own share of them to reach.
    """
    found, rule = np.zeros(len(question_set)), task.work.settings.judge
    left = rule.min_answers - answers.counts(len(question_set))
    missing = np.where(states.state == OPEN, np.maximum(left, 1), 0)
    for one in judged:
        rows = one.selection.take(one.active)
        attacker, defender = (getattr(rows, side) for side in rows.sides)
        questions = one.round_questions.questions[one.active]
        found += priority(attacker, defender, task.weights(rows), questions, missing, rule.share)
    return found
