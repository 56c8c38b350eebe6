"""Line 12 of Algorithm 1: the questions about the selected items, the verdicts, and which models were right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competition.judged import LABELS, Judged, RoundQuestions
from dissensus.competition.task import NOTHING, QuestionSet, States, ids_of, numbered
from dissensus.errors import ScreeningError, StudyError
from dissensus.inquiry import Answers, Questions
from dissensus.records import UNFIT, YES, Outcomes, Selection
from dissensus.screening import VERDICTS, Rule
from dissensus.store.draws import StoredBatch
from dissensus.store.rounds import Round
from dissensus.tasks.labels.picks import by_label, pick_group
from dissensus.tasks.labels.selecting import caps
from dissensus.tasks.labels.settings import JudgeSettings


@dataclass(frozen=True)
class LabelStates(States):
    """The states are verdicts. If the study's method fails, `problem` says why, and they are majority verdicts."""

    problem: ScreeningError | None = None


def label_round(
    selection: Selection, questions: Int[Array, "Q 2"], k: int, cap: int | None
) -> RoundQuestions[Selection]:
    """A round as questions: two per row; each duel has the cap that its selected rows needed, and at least `cap`."""
    labels = np.stack([selection.first_label, selection.second_label], axis=1)
    return RoundQuestions(selection, questions, selection.item, k, labels, caps(selection, cap))


def questions_of(
    selections: Sequence[Selection], drawn: Sequence[StoredBatch] = ()
) -> tuple[Int[Array, "q 2"], list[Int[Array, "Q w"]]]:
    """The distinct (item, label) questions, sorted, and the numbers of those of every row: two of each selected row.

    Batches of draws follow the selections, with one question per label of each draw.
    """
    keys = [
        np.stack([one.item * LABELS + one.first_label, one.item * LABELS + one.second_label], axis=1)[:, :, None]
        for one in selections
    ]
    keys += [(one.item * LABELS + one.label)[one.draw >= 0, None, None] for one in drawn]
    distinct, rows = numbered(keys)
    return np.concatenate([distinct // LABELS, distinct % LABELS], axis=1), rows


def label_questions(rounds: Sequence[Round[Selection]], batches: Sequence[StoredBatch] = ()) -> QuestionSet[Selection]:
    """'Does ITEM contain a LABEL?', each once, however many duels and draws need it; then what asks for several."""
    keys, rows = questions_of([found.selection for found in rounds], batches)
    drawn = np.concatenate([NOTHING, *(numbers[:, 0] for numbers in rows[len(rounds) :])])
    picks, place = pick_group(batches, len(keys))
    asked_as = np.where(place < 0, drawn, place)
    current = [np.full(int((one.draw >= 0).sum()), _is_among_models_of(rounds, one)) for one in batches]
    is_current = np.concatenate([np.zeros(0, bool), *current])
    ids = ids_of(rounds) | {
        item: name for one in batches for item, name in zip(one.item.tolist(), one.ids, strict=True)
    }
    written = {item: encode_basestring(name) for item, name in ids.items()}
    # the same as `Question.text`, but faster
    texts = [f'{{"item":{written[item]},"label":{label}}}' for item, label in keys.tolist()]
    by_round = [
        label_round(found.selection, questions, found.settings["k"], found.settings["cap"])
        for found, questions in zip(rounds, rows, strict=False)
    ]
    groups = [Questions("contains", texts), *([picks] if len(picks) else [])]
    return QuestionSet(groups, keys, tuple(by_round), ids, drawn=drawn, asked_as=asked_as, is_current=is_current)


def _is_among_models_of(rounds: Sequence[Round[Selection]], batch: StoredBatch) -> bool:
    """Whether a batch was drawn among all models that compete now, which are those of the last round."""
    return bool(rounds) and batch.predictions == rounds[-1].predictions


def label_verdicts(question_set: QuestionSet[Selection], answers: Answers, settings: JudgeSettings) -> LabelStates:
    """Verdicts by the study's method; by majority while that has no estimate, so that annotators can carry on.

    Raises:
        StudyError: there is no such method.
    """
    if settings.method not in VERDICTS:
        raise StudyError(f"judge.method is '{settings.method}' in study.toml: choose one of {', '.join(VERDICTS)}")
    answers = by_label(question_set, answers)
    columns = (answers.question, answers.person, answers.code, len(question_set), len(answers.people))
    rule, problem = Rule(settings.min_answers, settings.unsure, settings.unfit), None
    try:
        verdicts = VERDICTS[settings.method](*columns, rule)
    except ScreeningError as error:
        verdicts, problem = VERDICTS["majority"](*columns, rule), error
    return LabelStates(verdicts, lost_with_their_item(verdicts, question_set.keys), problem)


def lost_with_their_item(verdicts: Int[Array, " q"], keys: Int[Array, "q 2"]) -> Bool[Array, " q"]:
    """Questions about unfit items: these leave every duel, while unsure ones only leave the duels that asked."""
    return np.isin(keys[:, 0], keys[verdicts == UNFIT, 0])


def outcomes_of(judged: Judged[Selection]) -> Outcomes:
    """Which models were right on each decided row."""
    chosen, rows = judged.selection, judged.decided
    is_right = judged.state[judged.round_questions.questions[rows]] == YES
    return Outcomes(
        chosen.first[rows],
        chosen.second[rows],
        chosen.item[rows],
        judged.place[rows],
        is_right[:, 0],
        is_right[:, 1],
    )
