"""From stored answers to judged rounds: who was right on what, what is open, what was discarded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competitions.labels import Judged, judge, together
from dissensus.errors import StudyError
from dissensus.labeling import questions_of
from dissensus.records import ANSWERS, Exclusion, Judgement, Outcomes
from dissensus.screening import UNFIT, VERDICTS, Rule, latest_answers, majority_verdicts
from dissensus.steps.answers import study_database
from dissensus.steps.labels.selecting import rule_of
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.people import People
from dissensus.store.rounds import Round, read_rounds
from dissensus.store.settings import JudgeSettings, LabelSettings

Answers = dict[tuple[int, int], list[Judgement]]


@dataclass(frozen=True)
class Hearing:
    """All rounds of a study with what people said: `answers` holds each annotator's last word, by (item, label).

    Models are numbered in the order of `models`: those that compete, in the order in which they came.
    """

    models: list[str]
    rounds: tuple[Round, ...]
    judged: tuple[Judged, ...]
    answers: Answers
    item_ids: dict[int, str]
    exclusions: dict[str, Exclusion]
    """People whose answers do not count, with the reason."""

    @property
    def outcomes(self) -> Outcomes:
        """Who was right on each judged item of each duel."""
        return together([judged.outcomes() for judged in self.judged])

    @property
    def asked(self) -> list[tuple[int, int]]:
        """Distinct (item, label) questions that the study needed so far."""
        return self._distinct("asked")

    @property
    def open(self) -> list[tuple[int, int]]:
        """Distinct (item, label) questions that wait for answers."""
        return self._distinct("open")

    @property
    def discarded(self) -> int:
        """Number of items that people could not judge in some duel."""
        return len({int(item) for judged in self.judged for item in judged.selection.item[judged.given_up]})

    def _distinct(self, which: str) -> list[tuple[int, int]]:
        chosen = [judged.questions[getattr(judged, which)] for judged in self.judged]
        return sorted({(int(item), int(label)) for part in chosen for item, label in part})


def hear(folder: Folder, settings: LabelSettings) -> Hearing:
    """What the answers stored so far come to.

    Raises:
        StudyError: there is no round yet.
    """
    models, rounds = read_rounds(folder)
    if not rounds:
        raise StudyError(f"nothing is selected yet: dissensus select {folder.root}")
    item_ids = {
        int(item): name for found in rounds for item, name in zip(found.selection.item, found.items, strict=True)
    }
    positions = {name: item for item, name in item_ids.items()}
    questions = {
        (item_ids[int(item)], int(label)) for found in rounds for item, label in questions_of(found.selection)[0]
    }
    database = study_database(folder, settings)
    exclusions = People(database).excluded()
    answers: Answers = defaultdict(list)
    for judgement in latest_answers(Judgements(database).about(sorted(questions))).values():
        if judgement.annotator not in exclusions:
            answers[positions[judgement.item], judgement.label].append(judgement)
    verdicts = _verdicts(rounds, answers, settings.judge)
    unfit = {
        int(item)
        for found, given in zip(rounds, verdicts, strict=True)
        for item in questions_of(found.selection)[0][given == UNFIT, 0]
    }
    judged = []
    for found, given in zip(rounds, verdicts, strict=True):
        rule = rule_of(found.settings)
        judged.append(judge(found.selection, given, rule.k, rule.cap, settings.judge.share, sorted(unfit)))
    return Hearing(models, tuple(rounds), tuple(judged), dict(answers), item_ids, exclusions)


def verdicts_of(
    question: Int[Array, " A"],
    annotator: Int[Array, " A"],
    answer: Int[Array, " A"],
    questions: int,
    annotators: int,
    settings: JudgeSettings,
) -> Int[Array, " q"]:
    """Verdicts by the study's settings.

    Raises:
        StudyError: there is no such method.
    """
    if settings.method not in VERDICTS:
        raise StudyError(f"judge.method is '{settings.method}': it is one of {', '.join(VERDICTS)}")
    rule = Rule(settings.min_answers, settings.unsure, settings.unfit)
    return VERDICTS[settings.method](question, annotator, answer, questions, annotators, rule)


def verdicts_of_counts(counts: Int[Array, "q 4"], settings: JudgeSettings) -> Int[Array, " q"]:
    """Verdicts by majority, where only the numbers of the answers are known."""
    return majority_verdicts(counts, settings.min_answers, settings.unsure, settings.unfit)


def answer_counts(answers: list[Judgement]) -> Int[Array, " 4"]:
    """Numbers of yes, no, unsure and unfit."""
    return np.bincount([ANSWERS.index(judgement.answer) for judgement in answers], minlength=len(ANSWERS))


def _verdicts(rounds: list[Round], answers: Answers, settings: JudgeSettings) -> list[Int[Array, " q"]]:
    """The verdicts on each round's questions; people are compared over all rounds."""
    asked = [[(item, label) for item, label in questions_of(found.selection)[0].tolist()] for found in rounds]
    numbers = {question: number for number, question in enumerate(sorted({one for part in asked for one in part}))}
    people: dict[str, int] = {}
    rows = [
        (numbers[question], people.setdefault(judgement.annotator, len(people)), ANSWERS.index(judgement.answer))
        for question, given in answers.items()
        for judgement in given
    ]
    question, annotator, answer = np.array(rows, np.int64).reshape(-1, 3).T
    verdicts = verdicts_of(question, annotator, answer, len(numbers), len(people), settings)
    return [verdicts[[numbers[one] for one in part]] for part in asked]
