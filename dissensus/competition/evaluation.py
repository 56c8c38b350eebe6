"""The competition of one study: its questions, the answers, and what follows from them.

`status`, the annotation service and the rankings all call `Competition.judged` on the same `Answers`, so that they
cannot disagree about what is open.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, Generic

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.competition.asked_first import asked_first
from dissensus.competition.judged import Judged
from dissensus.competition.notices import uncounted
from dissensus.competition.select import require_unchanged
from dissensus.competition.task import Evaluation, H, QuestionSet, S, States, Task, judged_rounds
from dissensus.errors import RankingError, StudyError
from dissensus.inquiry import Answers, Duel, Inquiry, Needed, Questions, Row, latest_rows
from dissensus.labeling import QUESTIONS, code_of_text
from dissensus.records import GONE, OPEN, Question, as_text
from dissensus.steps.growing import require_current_rounds
from dissensus.steps.presence import recorded_missing
from dissensus.store.answers import AnswerLog
from dissensus.store.rounds import read_rounds


class Competition(Inquiry, Generic[S, H]):
    """All rounds of a study, with their questions numbered in one list."""

    def __init__(self, task: Task[S, H], may_be_behind: bool = False) -> None:
        """Read the rounds; there may be none yet.

        Raises:
            StudyError: items have been added since a round was selected, unless `may_be_behind`.
        """
        self.task, self.work = task, task.work
        super().__init__()
        if not may_be_behind:
            require_current_rounds(self.work.folder)
        self.models, self.rounds = read_rounds(self.work.folder, task.selection)
        self.question_set: QuestionSet[S] = task.question_set(self.models, self.rounds)
        self._judged: tuple[Judged[S], ...] = ()

    def current_version(self) -> tuple[int, ...]:
        """Changes when a round or a batch of draws is added."""
        return (len(self.work.folder.batches()), *self.work.folder.rounds())

    def questions(self) -> list[Questions]:
        """All questions that may be asked."""
        return self.question_set.groups

    def judged(self, answers: Answers) -> tuple[States, tuple[Judged[S], ...]]:
        """The state of every question and every row: the only place that decides what is open."""
        states = self.task.states(self.question_set, answers)
        state = np.where((states.state == OPEN) & self._has_no_picture, GONE, states.state)
        states = replace(states, state=state)
        self._judged = judged_rounds(self.question_set, states, self.work.settings.judge.share, self._judged)
        return states, self._judged

    @cached_property
    def _has_no_picture(self) -> Bool[Array, " q"]:
        """Questions about items whose picture was missing when the study was last served."""
        names = recorded_missing(self.work.database)
        items = [item for item, name in self.question_set.item_ids.items() if name in names]
        return np.any(np.isin(self.question_set.keys[:, : self.question_set.shown], items), axis=1)

    def needed(self, answers: Answers) -> Needed:
        """The questions of all rows that currently count, with reserves for discarded rows, and their follow-ups."""
        states, judged = self.judged(answers)
        active = np.zeros(len(self.question_set), bool)
        for one in judged:
            active[one.round_questions.questions[one.active].ravel()] = True
        asked = self.question_set
        active[asked.drawn[asked.is_current & asked.is_apart]] = True
        is_needed, barred = self.task.needed(self.question_set, states, active, answers)
        first = asked_first(self.task, self.question_set, states, answers, judged)
        return Needed(is_needed, tuple(self._duels(judged)), tuple(barred), (*asked.open_draws(states.state), *first))

    def advance(self) -> None:
        """Add questions that depend on the answers so far."""
        if self.rounds and self.task.may_advance(self.question_set):
            self.task.advance(self.evaluation())

    @property
    def outlook(self) -> str:
        """When the owner may stop, in a line."""
        return self.task.outlook

    def require_rounds(self) -> None:
        """Raise StudyError if nothing has been selected yet."""
        if not self.rounds:
            raise StudyError(f"nothing has been selected yet: dissensus select {self.work.folder.root}")

    def evaluation(self) -> Evaluation[S, States]:
        """All rounds with the answers stored so far.

        Raises:
            StudyError: there are no rounds yet, or the database is damaged.
        """
        self.require_rounds()
        exclusions = self.work.people.excluded()
        read = read_answers(self.work.answers, self.question_set.groups, exclusions)
        answers = self.task.pooled(self.question_set, read)
        states, judged = self.judged(answers)
        return Evaluation(self.models, tuple(self.rounds), self.question_set, answers, states, judged, exclusions)

    def weighed(self) -> Evaluation[S, H]:
        """The evaluation with everything that a ranking needs.

        Raises:
            StudyError: a model's predictions have changed since the rounds were selected.
            RankingError: all answers are to another kind of question than the study asks.
            ScreeningError: the study's screening has no estimate for these answers.
        """
        evaluation = self.evaluation()
        require_unchanged(self.task, evaluation.rounds)
        if len(evaluation.answers.question) == 0 and (words := uncounted(self.task)):
            raise RankingError(f"no answers count: {' '.join(words).rstrip('.')}")
        return self.task.weighed(evaluation)

    @cached_property
    def _uris(self) -> Mapping[str, str | None]:
        return self.task.uris(self.models, self.question_set)

    def uris(self) -> Mapping[str, str | None]:
        return self._uris

    def context(self, question: Question) -> dict[str, Any]:
        """The answers that a question currently refers to."""
        place = self._places.get((question.kind, question.text))
        if place is None:  # one of the user's own questions
            return {}
        groups = [group.at(place) for group in self.question_set.groups]
        return self.task.context(question, read_answers(self.work.answers, groups, self.work.people.excluded()))

    @cached_property
    def _places(self) -> dict[tuple[str, str], int]:
        groups = self.question_set.groups
        return {(group.kind, text): place for group in groups for place, text in enumerate(group.texts)}

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """What a question's page shows besides pictures."""
        return self.task.material(self._uris, question, shown)

    def asked_so_far(self) -> list[Question]:
        """All questions that the study has needed so far."""
        evaluation, first = self.evaluation(), self.question_set.groups[0]
        asked = [Question(kind=first.kind, body=json.loads(first.texts[number])) for number in evaluation.asked]
        return asked + self.task.further_questions(evaluation)

    def texts_so_far(self) -> set[tuple[str, str]]:
        """Kind and text of all questions that the study has needed so far, in all wordings."""
        asked, first = {(one.kind, one.text) for one in self.asked_so_far()}, self.question_set.groups[0]
        needed = {text for kind, text in asked if kind == first.kind}
        places = first.places()
        numbers = {places[text][0] for text in needed if text in places}
        return asked | {(first.kind, text) for text, (place, _) in places.items() if place in numbers}

    def _duels(self, judged: Sequence[Judged[S]]) -> list[Duel]:
        models = len(self.models)
        rows, ended = np.zeros(models**2, np.int64), np.zeros(models**2, np.int64)
        for one in judged:
            first, second = (getattr(one.selection, side) for side in one.selection.sides)
            duel = first * models + second
            rows += np.bincount(duel[one.active], minlength=models**2)
            ended += np.bincount(duel[one.ended], minlength=models**2)
        return [
            Duel(self.models[duel // models], self.models[duel % models], int(rows[duel]), int(ended[duel]))
            for duel in np.flatnonzero(rows).tolist()
        ]


def read_answers(log: AnswerLog, groups: Sequence[Questions], excluded: Collection[str]) -> Answers:
    """Each annotator's latest answers to the questions, from the database, without excluded annotators."""
    found: list[tuple[int, int, int, Row]] = []
    start = 0
    for group in groups:
        known, kind = group.places(start), QUESTIONS[group.kind]
        for row in log.essentials(group.kind, "asked", known):
            place, wording = known[row[1]]
            if row[2] in excluded:
                continue
            answer = as_text(kind.turned(json.loads(row[3]))) if group.is_swapped(wording) else row[3]
            told = (*row[:3], answer, *row[4:])
            found.append((place, wording, code_of_text(group.kind, answer), told))
        start += len(group)
    people: dict[str, int] = {}
    columns = [(place, wording, code, people.setdefault(row[2], len(people))) for place, wording, code, row in found]
    question, wordings, code, person = np.array(columns, np.int64).reshape(-1, 4).T
    arrival = np.array([row[5] for *_, row in found], np.int64)
    last, _ = latest_rows(question, person, arrival)
    rows = tuple(found[place][3] for place in last.tolist())
    return Answers(question[last], person[last], code[last], arrival[last], tuple(people), wordings[last], rows)
