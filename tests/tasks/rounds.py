"""Small rounds of a competition, made by hand or by chance, and what people said about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from dissensus.competition import judged
from dissensus.competition.judged import Judged
from dissensus.records import ANSWERS, Judgement, Outcomes, Selection
from dissensus.screening import majority_verdicts
from dissensus.tasks.labels.outcomes import label_round, lost_with_their_item, questions_of

Row = tuple[int, int, int, int, int, int]
"""first, second, item, rank, first_label, second_label"""
Answers = dict[tuple[int, int], list[Judgement]]


def selection_of(rows: Iterable[Row]) -> Selection:
    rows = list(rows)
    first, second, item, rank, first_label, second_label = np.array(rows, np.int64).reshape(-1, 6).T
    nothing = np.zeros(len(rows))
    return Selection(first, second, item, rank, nothing.astype(bool), nothing, first_label, second_label)


def outcomes_of(rows: Iterable[tuple[int, int, bool, bool]], items: list[int] | None = None) -> Outcomes:
    """Judged items of duels in order; the rank counts the items of a duel."""
    rows = list(rows)
    first, second = (np.array([row[side] for row in rows], int) for side in (0, 1))
    right, other_right = (np.array([row[side] for row in rows], bool) for side in (2, 3))
    rank = np.array([1 + [(row[0], row[1]) for row in rows[:at]].count(rows[at][:2]) for at in range(len(rows))], int)
    return Outcomes(first, second, np.arange(len(rows)) if items is None else np.array(items), rank, right, other_right)


def said(item: int, label: int, *answers: str) -> list[Judgement]:
    return [
        Judgement(
            id=f"{item}/{label}/{who}",
            item=str(item),
            label=label,
            annotator=f"p{who}",
            answer=answer,
            time="2026-01-01",
        )
        for who, answer in enumerate(answers)
    ]


def answers_of(judgements: Iterable[Judgement]) -> Answers:
    answers: Answers = {}
    for judgement in judgements:
        answers.setdefault((int(judgement.item), judgement.label), []).append(judgement)
    return answers


def keys_of(*selections: Selection) -> np.ndarray:
    """The item and the label of every question of all rounds."""
    return questions_of(selections)[0]


def judge(selection: Selection, verdicts: np.ndarray, k: int, cap: int, share: float = 0.0) -> Judged[Selection]:
    """What the verdicts on a round's questions, in the order of `keys_of`, come to."""
    (found,) = judge_all([selection], verdicts, k, cap, share)
    return found


def judge_all(
    selections: Sequence[Selection], verdicts: np.ndarray, k: int, cap: int, share: float = 0.0
) -> list[Judged[Selection]]:
    """The same for several rounds, which share their questions."""
    keys, rows = questions_of(selections)
    lost = lost_with_their_item(verdicts, keys)
    by_round = [label_round(one, numbers, k, cap) for one, numbers in zip(selections, rows, strict=True)]
    return [judged.judge(round_questions, verdicts, share, lost) for round_questions in by_round]


def judged_with(selection: Selection, answers: Answers, k: int, cap: int) -> Judged[Selection]:
    """The whole way from answers to a judged round."""
    (found,) = all_judged_with([selection], answers, k, cap)
    return found


def all_judged_with(selections: Sequence[Selection], answers: Answers, k: int, cap: int) -> list[Judged[Selection]]:
    """The same for several rounds."""
    questions = [tuple(question) for question in keys_of(*selections).tolist()]
    counts = [[[j.answer for j in answers.get(q, [])].count(answer) for answer in ANSWERS] for q in questions]
    return judge_all(selections, majority_verdicts(np.array(counts).reshape(-1, 4)), k, cap)


def by_number(answers: Answers, *selections: Selection) -> dict[int, list[Judgement]]:
    """The answers by the number of their question."""
    numbers = {tuple(key): number for number, key in enumerate(keys_of(*selections).tolist())}
    return {numbers[key]: given for key, given in answers.items()}


def random_round(
    seed: int, models: int = 3, k: int = 3, reserves: int = 2, people: int = 3
) -> tuple[Selection, Answers]:
    """A round whose items several duels share, with answers to most of its questions."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (models, 12))
    rows = []
    for first in range(models):
        for second in range(first + 1, models):
            differing = np.flatnonzero(labels[first] != labels[second])
            chosen = rng.permutation(differing)[: k + reserves]
            rows += [
                (first, second, int(item), rank, int(labels[first, item]), int(labels[second, item]))
                for rank, item in enumerate(chosen, start=1)
            ]
    selection = selection_of(rows)
    answers: Answers = {}
    for item, label in keys_of(selection).tolist():
        if rng.random() < 0.85:
            number = rng.integers(1, people + 1)
            answers[item, label] = said(item, label, *rng.choice(ANSWERS, number, p=[0.5, 0.3, 0.15, 0.05]).tolist())
    return selection, answers
