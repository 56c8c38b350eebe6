"""From stored answers to judged rounds: who was right on what, what is open, what was discarded."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.competitions.labels import Judged, judge, together
from dissensus.errors import StudyError
from dissensus.labeling import questions_of
from dissensus.records import ANSWERS, Judgement, Outcomes
from dissensus.screening import UNFIT, latest_answers, majority_verdicts
from dissensus.steps.selecting import rule_of
from dissensus.store.folder import Folder
from dissensus.store.judgements import Judgements
from dissensus.store.rounds import Round, read_rounds
from dissensus.store.settings import JudgeSettings, Settings

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


def hear(folder: Folder, settings: Settings) -> Hearing:
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
    answers: Answers = defaultdict(list)
    for judgement in latest_answers(Judgements(folder.judgements).about(sorted(questions))).values():
        answers[positions[judgement.item], judgement.label].append(judgement)
    verdicts = [_verdicts(found, answers, settings.judge) for found in rounds]
    unfit = {
        int(item)
        for found, given in zip(rounds, verdicts, strict=True)
        for item in questions_of(found.selection)[0][given == UNFIT, 0]
    }
    judged = []
    for found, given in zip(rounds, verdicts, strict=True):
        rule = rule_of(found.settings)
        judged.append(judge(found.selection, given, rule.k, rule.cap, settings.judge.share, sorted(unfit)))
    return Hearing(models, tuple(rounds), tuple(judged), dict(answers), item_ids)


def verdicts_of(counts: Int[Array, "q 4"], settings: JudgeSettings) -> Int[Array, " q"]:
    """Verdicts by the study's settings."""
    return majority_verdicts(counts, settings.min_answers, settings.unsure, settings.unfit)


def answer_counts(answers: list[Judgement]) -> Int[Array, " 4"]:
    """Numbers of yes, no, unsure and unfit."""
    return np.bincount([ANSWERS.index(judgement.answer) for judgement in answers], minlength=len(ANSWERS))


def _verdicts(found: Round, answers: Answers, settings: JudgeSettings) -> Int[Array, " q"]:
    questions = questions_of(found.selection)[0]
    counts = np.array([answer_counts(answers.get((int(item), int(label)), [])) for item, label in questions])
    return verdicts_of(counts.reshape(-1, len(ANSWERS)), settings)
