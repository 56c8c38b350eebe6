"""Step 10 of gMAD: the questions about the selected pairs, and the annotators' preferences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.judged import RoundQuestions
from dissensus.competition.task import QuestionSet, States, counted_states, ids_of, numbered
from dissensus.errors import ScreeningError, StudyError
from dissensus.inquiry import Answers, NumericAnswers, Questions, Wording
from dissensus.records import JUDGED, SCREENED_OUT, PairSelection
from dissensus.screening import PREFERENCES, WeightedAnswers, by_bt500, preferences
from dissensus.store.rounds import Round
from dissensus.tasks.scores.settings import PairSettings

CHOICES = {"first": -100.0, "second": 100.0, "same": 0.0}
"""Answers to `choice` on the scale of the slider."""


@dataclass(frozen=True, kw_only=True)
class Preferences(States):
    """`preference[q]`, −1 to 1, is how much better annotators find the second item; only valid where state is JUDGED.

    It is the weighted mean of the answers in `compared` (how much better the second item is, −100 to 100).
    """

    compared: NumericAnswers
    weighed: WeightedAnswers
    preference: Float[Array, " q"]


def pair_round(selection: PairSelection, numbers: Int[Array, " Q"]) -> RoundQuestions[PairSelection]:
    """A round as questions: one pair per row, and one row per level that counts."""
    return RoundQuestions(selection, numbers[:, None], numbers, k=1)


def pairs_of(selections: Sequence[PairSelection]) -> tuple[Int[Array, "q 2"], list[Int[Array, " Q"]]]:
    """The distinct pairs (smaller item number first), sorted, and the number of each row's pair."""
    keys = [np.sort(np.stack([one.low, one.high], axis=1), axis=1)[:, None, :] for one in selections]
    distinct, rows = numbered(keys)
    return distinct.reshape(-1, 2), [part[:, 0] for part in rows]


def signs_of(selection: PairSelection) -> Int[Array, " Q"]:
    """1 if the row's `high` is the second item of its pair, else −1; answers say how much better the second item is."""
    return np.where(selection.high > selection.low, 1, -1)


def pair_questions(kind: str, rounds: Sequence[Round[PairSelection]]) -> QuestionSet[PairSelection]:
    """'Which of the two is better?', once per pair, however many duels need it.

    Imported files may swap the two items, and need not offer 'no difference'.
    """
    pairs, rows = pairs_of([found.selection for found in rounds])
    ids = ids_of(rounds)
    wordings = [Wording(_texts(kind, pairs[:, ::-1], ids), is_swapped=True)]
    if kind == "choice":  # without a third option, the text is the same as a slider's
        wordings.append(Wording(_texts("slider", pairs, ids)))
        wordings.append(Wording(_texts("slider", pairs[:, ::-1], ids), is_swapped=True))
    by_round = [pair_round(found.selection, numbers) for found, numbers in zip(rounds, rows, strict=True)]
    return QuestionSet([Questions(kind, _texts(kind, pairs, ids), tuple(wordings))], pairs, tuple(by_round), ids)


def pair_states(question_set: QuestionSet[PairSelection], answers: Answers, settings: PairSettings) -> States:
    """The state of each pair."""
    return States(counted_states(question_set, answers, "slider", settings))  # a choice between items has no 'unfit'


def compared_in(answers: Answers) -> NumericAnswers:
    """How much better annotators find the second item, −100 to 100; 'unfit' answers are left out."""
    return answers.valued(lambda answer: CHOICES.get(answer) if isinstance(answer, str) else answer)


def weighted_pairs(states: States, answers: Answers, settings: PairSettings) -> Preferences:
    """The states with preferences after the study's screening.

    Raises:
        StudyError: there is no such screening method.
        ScreeningError: the screening has no estimate; names the person.
    """
    compared = compared_in(answers)
    return preferred(states, compared, weigh(compared, len(states.state), settings))


def preferred(states: States, compared: NumericAnswers, weighed: WeightedAnswers) -> Preferences:
    """The states with preferences from weighted answers; pairs of which no answer counts are screened out."""
    preference, weight = preferences(compared.question, weighed, len(states.state))
    state = np.where((states.state == JUDGED) & (weight == 0), SCREENED_OUT, states.state)
    return Preferences(state=state, compared=compared, weighed=weighed, preference=preference / 100)


def columns_of(compared: NumericAnswers, questions: int) -> tuple[Array, Array, Array, int, int]:
    """The input of a screening: question, person and value of every answer, and the number of questions and people."""
    return compared.question, compared.person, compared.value, questions, len(compared.people)


def weigh(compared: NumericAnswers, questions: int, settings: PairSettings) -> WeightedAnswers:
    """The value and weight of each answer after the study's screening; choices cannot be screened and count equally.

    Raises:
        StudyError: there is no such screening method.
        ScreeningError: the screening has no estimate; names the person.
    """
    if settings.method not in PREFERENCES:
        raise StudyError(f"judge.method is '{settings.method}' in study.toml: choose one of {', '.join(PREFERENCES)}")
    weighing = PREFERENCES[screening_of(settings)]
    if weighing is by_bt500:
        weighing = partial(by_bt500, balance=settings.balance)
    try:
        return weighing(*columns_of(compared, questions))
    except ScreeningError as error:
        raise ScreeningError(person_named(str(error), compared.people)) from None


def screening_of(settings: PairSettings) -> str:
    """The screening method in use; choices cannot be screened and count equally."""
    return "mean" if settings.question == "choice" else settings.method


def person_named(message: str, people: tuple[str, ...]) -> str:
    """The message of a screening with 'person 3' replaced by that person's name."""
    return re.sub(r"\bperson (\d+)\b", lambda match: people[int(match[1])], message)


def _texts(kind: str, pairs: Int[Array, "q 2"], ids: Mapping[int, str]) -> list[str]:
    """The texts of the questions about pairs, the same as `Question.text`; a choice offers 'no difference'."""
    written = {item: encode_basestring(name) for item, name in ids.items()}
    same = '"same":true,' if kind == "choice" else ""
    return [f'{{"first":{written[first]},{same}"second":{written[second]}}}' for first, second in pairs.tolist()]
