"""One question for all labels of an item: 'which of these does it show?' instead of 'does it contain …?' for each.

An answer to it says of each label whether it is right, so that it counts like as many answers to yes/no questions. From
`by_label` on, nothing differs: verdicts, the belief, draws, rankings and reports only know labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competition.task import QuestionSet, States
from dissensus.inquiry import Answers, Questions, latest_rows
from dissensus.labeling.kinds.base import NO_CODE
from dissensus.labeling.kinds.pick import UNFIT_CODE, chosen_of
from dissensus.records import ANSWERS, OPEN, Question, Selection
from dissensus.store.draws import StoredBatch

Asking = Literal["contains", "pick"]
MOST = 6
"""The most labels that one question offers: more cannot be compared at a glance, and would have to be scrolled to on a
phone. Items with more are asked about label by label."""
SAID = {answer: ANSWERS.index(answer) for answer in ANSWERS}


def pick_question(item: str, labels: Sequence[int]) -> Question:
    """'Which of these does ITEM show?'"""
    return Question(kind="pick", body={"item": item, "options": sorted(labels), "several": True})


def pick_group(batches: Sequence[StoredBatch], first: int) -> tuple[Questions, Int[Array, " d"]]:
    """The picks of all draws that offer several labels, each once, and the position of the question of every row.

    `first` is the position of the first of them; −1 for rows that are asked about on their own.
    """
    places: dict[str, int] = {}
    asked_as = []
    for one in batches:
        rows = np.flatnonzero(one.draw >= 0)
        found = np.full(len(rows), -1)
        start = np.flatnonzero(np.diff(one.draw[rows], prepend=-1))  # the labels of a draw are next to each other
        for begin, end in zip(start.tolist(), [*start[1:].tolist(), len(rows)], strict=True):
            if end - begin > 1:
                text = pick_question(one.ids[rows[begin]], one.label[rows[begin:end]].tolist()).text
                found[begin:end] = first + places.setdefault(text, len(places))
        asked_as.append(found)
    return Questions("pick", list(places)), np.concatenate([np.zeros(0, np.int64), *asked_as])


def by_label(question_set: QuestionSet[Selection], answers: Answers) -> Answers:
    """The answers, with every pick as an answer about each label that it offered.

    What a person chose is right and the rest is wrong; 'cannot tell' and 'unfit' are said of every label. If somebody
    was asked about a label in both ways, the answer that arrived last counts, as if it were the same question.
    """
    count = len(question_set)
    is_pick = answers.question >= count
    if not is_pick.any():
        return answers
    rows = np.flatnonzero(is_pick)
    which, label = _offered(question_set, answers.question[rows])
    row = rows[which]
    code = _said(question_set, answers, row, label)
    direct = np.flatnonzero(~is_pick)
    source = np.append(direct, row)
    question = np.append(answers.question[direct], label)
    codes = np.append(answers.code[direct], code)
    last, _ = latest_rows(question, answers.person[source], answers.arrival[source])
    told = tuple(
        (*answers.rows[one][:3], f'"{ANSWERS[given]}"', *answers.rows[one][4:])
        for one, given in zip(source[last].tolist() if answers.rows else (), codes[last].tolist(), strict=False)
    )
    wording = None if answers.wording is None else answers.wording[source][last]
    person, arrival = answers.person[source][last], answers.arrival[source][last]
    return Answers(question[last], person, codes[last], arrival, answers.people, wording, told)


def _offered(
    question_set: QuestionSet[Selection], asked: Int[Array, " n"]
) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
    """The labels that each of these picks offers: the place of the pick among them, and the number of the label."""
    is_part = ~question_set.is_apart
    pairs = np.unique(np.stack([question_set.asked_as[is_part], question_set.drawn[is_part]]), axis=1)
    start, end = (np.searchsorted(pairs[0], asked, side) for side in ("left", "right"))
    which = np.repeat(np.arange(len(asked)), end - start)
    within = np.arange(len(which)) - np.repeat(np.cumsum(end - start) - (end - start), end - start)
    return which, pairs[1][start[which] + within]


def _said(
    question_set: QuestionSet[Selection], answers: Answers, row: Int[Array, " k"], number: Int[Array, " k"]
) -> Int[Array, " k"]:
    """What the pick in each row says about a label, as the code of a yes/no answer."""
    code, label = answers.code[row], question_set.keys[number, 1]
    found = np.where(label == code, SAID["yes"], SAID["no"])
    found[code == NO_CODE], found[code == UNFIT_CODE] = SAID["unsure"], SAID["unfit"]
    for one in np.unique(row[code > UNFIT_CODE]).tolist():
        own = row == one
        chosen = chosen_of(tuple(label[own].tolist()), int(answers.code[one]))
        found[own] = np.where(np.isin(label[own], chosen), SAID["yes"], SAID["no"])
    return found


def needed_picks(
    question_set: QuestionSet[Selection], states: States, active: Bool[Array, " q"], answers: Answers
) -> tuple[Bool[Array, " every"], list[tuple[int, int]]]:
    """Which labels and picks have to be asked about, and who must not be asked about a label.

    A label that is both in a round and in a pick needs one verdict, from either: then whichever is still to be asked is
    dropped. Nobody is asked about a label on its own after they have seen it in a pick, and nobody is asked a pick that
    was drawn among other models.
    """
    count, is_open = len(question_set), states.state == OPEN
    picks = sum(map(len, question_set.groups)) - count
    if not picks:
        return active, []
    is_pick = answers.question >= count
    which, label = _offered(question_set, answers.question[is_pick])
    is_picked, is_asked = np.zeros(count, bool), np.zeros(count, bool)
    is_picked[label], is_asked[answers.question[~is_pick]] = True, True
    is_part = ~question_set.is_apart
    place, part = question_set.asked_as[is_part] - count, question_set.drawn[is_part]
    awaits, has_other = (np.bincount(place, flags[part], picks) > 0 for flags in (is_open, is_asked))
    has_answers = np.bincount(answers.question[is_pick] - count, minlength=picks) > 0
    is_asked_now = np.bincount(place, question_set.is_current[is_part], picks) > 0
    barred = active[label]
    people = answers.person[is_pick][which[barred]]
    return (
        np.append(active & (is_open | ~is_picked), is_asked_now & (awaits | (has_answers & ~has_other))),
        list(zip(label[barred].tolist(), people.tolist(), strict=True)),
    )
