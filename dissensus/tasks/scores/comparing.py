"""Step 10 of gMAD: the questions about the selected pairs or their items, and the annotators' preferences."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from json.encoder import encode_basestring

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competition.judged import RoundQuestions
from dissensus.competition.task import Evaluation, QuestionSet, States, counted_states, ids_of, numbered
from dissensus.errors import ScreeningError, StudyError
from dissensus.inquiry import Answers, NumericAnswers, Questions, Wording
from dissensus.records import JUDGED, SCREENED_OUT, PairSelection
from dissensus.screening import PREFERENCES, PairMeans, WeightedAnswers, by_bt500, item_means, pair_means
from dissensus.store.rounds import Round
from dissensus.tasks.scores.settings import PairSettings

CHOICES = {"first": -100.0, "second": 100.0, "same": 0.0}
"""Answers to `choice` on the scale of the slider."""


@dataclass(frozen=True, kw_only=True)
class Preferences(States):
    """`pairs.value[p]`, −1 to 1, is how much better annotators find the second item of a pair, if it is known.

    `state` is that of the questions: about pairs, or about their items. `compared` holds the answers to them: how much
    better the second item is, −100 to 100, or how good an item is, 0 to 100.
    """

    compared: NumericAnswers
    weighed: WeightedAnswers
    pairs: PairMeans


PairEvaluation = Evaluation[PairSelection, Preferences]
"""An evaluation with preferences, as a ranking needs it."""


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
    return QuestionSet(
        [Questions(kind, _texts(kind, pairs, ids), tuple(wordings))], pairs, tuple(by_round), ids, shown=2
    )


def item_questions(rounds: Sequence[Round[PairSelection]]) -> QuestionSet[PairSelection]:
    """'How good is it?', once per item, however many pairs need it; a row is decided by its two items."""
    selections = [found.selection for found in rounds]
    pairs, rows = pairs_of(selections)
    items, place = np.unique(pairs, return_inverse=True)
    sides, ids = place.reshape(-1, 2), ids_of(rounds)
    texts = [f'{{"item":{encode_basestring(ids[item])}}}' for item in items.tolist()]
    by_round = [RoundQuestions(one, sides[part], part, k=1) for one, part in zip(selections, rows, strict=True)]
    return QuestionSet([Questions("rating", texts)], items[:, None], tuple(by_round), ids)


def pair_states(question_set: QuestionSet[PairSelection], answers: Answers, settings: PairSettings) -> States:
    """The state of each pair, or of each item that is rated."""
    kind = "rating" if settings.question == "rating" else "slider"  # a choice between items has no 'unfit'
    return States(counted_states(question_set, answers, kind, settings))


def compared_in(answers: Answers) -> NumericAnswers:
    """How much better annotators find the second item, or how good they find one; 'unfit' answers are left out."""
    return answers.valued(lambda answer: CHOICES.get(answer) if isinstance(answer, str) else answer)


def weighted_pairs(
    question_set: QuestionSet[PairSelection], states: States, answers: Answers, settings: PairSettings
) -> Preferences:
    """The states with preferences after the study's screening.

    Raises:
        StudyError: there is no such screening method.
        ScreeningError: the screening has no estimate; names the person.
    """
    compared = compared_in(answers)
    return preferred(question_set.by_round, states, compared, weigh(compared, len(states.state), settings))


def preferred(
    by_round: Sequence[RoundQuestions[PairSelection]],
    states: States,
    compared: NumericAnswers,
    weighed: WeightedAnswers,
) -> Preferences:
    """The states with preferences from weighted answers; questions of which no answer counts are screened out."""
    columns = compared.question, compared.person, weighed, len(states.state), len(compared.people)
    sides = _sides(by_round)
    found = pair_means(*columns) if sides.shape[1] == 1 else item_means(*columns).between(sides[:, 0], sides[:, 1])
    counts = np.bincount(compared.question, weighed.weight, len(states.state)) > 0
    state = np.where((states.state == JUDGED) & ~counts, SCREENED_OUT, states.state)
    pairs = PairMeans(found.value / 100, found.moved / 100, found.is_known)
    return Preferences(state=state, compared=compared, weighed=weighed, pairs=pairs)


def _sides(by_round: Sequence[RoundQuestions[PairSelection]]) -> Int[Array, "p w"]:
    """The questions that decide each pair: one about the pair, or two about its first and its second item."""
    pairs = max((int(one.subject.max(initial=-1)) for one in by_round), default=-1) + 1
    sides = np.zeros((pairs, by_round[0].questions.shape[1] if by_round else 1), np.int64)
    for one in by_round:
        sides[one.subject] = one.questions
    return sides


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
