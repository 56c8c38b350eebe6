"""Judgements: the answers to 'is LABEL in ITEM?' that were asked for the study, as its competition reads them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from json.encoder import encode_basestring
from typing import Final

from dissensus.records import ANSWERS, Answer, Judgement
from dissensus.store.answers import Answers, Row
from dissensus.store.database import Database

KIND: Final = "contains"
ROLE: Final = "asked"
STORED: dict[str, Answer] = {f'"{answer}"': answer for answer in ANSWERS}  # as JSON


class Judgements:
    """The judgements of one study, in the order in which they came."""

    def __init__(self, database: Database) -> None:
        """Name the database."""
        self._answers = Answers(database)

    def append(self, judgements: Iterable[Judgement]) -> int:
        """Store judgements, all or none, and return how many were new; one that is there already is stored once.

        Raises:
            JudgementError: an id is taken by another answer.
        """
        return self._answers.append_rows(map(_row, judgements))

    def all(self) -> Iterator[Judgement]:
        """Every judgement, in the order in which they came."""
        for row in self._answers.essentials(KIND, ROLE):
            body = json.loads(row[1])
            yield _judgement(row, body["item"], body["label"])

    def about(self, questions: Iterable[tuple[str, int]]) -> list[Judgement]:
        """Judgements on some (item, label) questions, in the order in which they came."""
        known = {question_text(*question): question for question in questions}
        return [_judgement(row, *known[row[1]]) for row in self._answers.essentials(KIND, ROLE, known)]

    def counts(self) -> tuple[int, int]:
        """Number of judgements and of the people who gave them."""
        return self._answers.counts(KIND, ROLE)


def question_text(item: str, label: int) -> str:
    """The text of `Question` for an item and a label; made by hand, since a study may have a million of them."""
    return f'{{"item":{encode_basestring(item)},"label":{label}}}'


def _row(given: Judgement) -> Row:
    text, answer = question_text(given.item, given.label), f'"{given.answer}"'
    return given.id, KIND, text, given.annotator, ROLE, answer, "{}", None, "", None, given.time


def _judgement(row: tuple[str, str, str, str, str], item: str, label: int) -> Judgement:
    identity, _, annotator, answer, time = row
    return Judgement(id=identity, item=item, label=label, annotator=annotator, answer=STORED[answer], time=time)
