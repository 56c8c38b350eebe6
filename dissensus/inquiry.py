"""What people are asked, whatever for: a competition, and later anything else that puts questions to people.

The annotation service, `status` and the rankings all look at the same three things: the questions of an inquiry,
everybody's last word on them (`Answers`), and what is needed next (`Needed`). Each is made in one place.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.records import Question


@dataclass(frozen=True)
class Wording:
    """Other texts that ask the same, one for each question of a group; '' where a question has no such wording.

    `is_turned`: the two sides are named the other way round, and so are the answers.
    """

    texts: list[str]
    is_turned: bool = False


@dataclass(frozen=True)
class Questions:
    """A group of questions of one kind. People are asked by `texts`; answers to other wordings count as well."""

    kind: str
    texts: list[str]
    wordings: tuple[Wording, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def places(self, start: int = 0) -> dict[str, tuple[int, int]]:
        """The place of a question, from `start` on, and the number of its wording, by every text that asks it.

        Wording 0 is how people are asked.
        """
        known: dict[str, tuple[int, int]] = {}
        for number in range(len(self.wordings), 0, -1):
            texts = self.wordings[number - 1].texts
            known |= {text: (start + place, number) for place, text in enumerate(texts) if text}
        return known | {text: (start + place, 0) for place, text in enumerate(self.texts)}

    def at(self, place: int) -> Questions:
        """The one question at a place."""
        wordings = tuple(Wording([one.texts[place]], one.is_turned) for one in self.wordings)
        return Questions(self.kind, [self.texts[place]], wordings)

    def is_turned(self, wording: int) -> bool:
        """Whether answers to a wording are about the two sides the other way round."""
        return wording > 0 and self.wordings[wording - 1].is_turned


Row = tuple[str, str, str, str, str]
"""An answer as it is stored: id, text of the question, annotator, answer as JSON, time."""


@dataclass(frozen=True)
class Answers:
    """Everybody's last word on every question, as columns; people who are excluded are left out.

    `question` is the place of a question among all groups, `person` the number of somebody in `people`, `code` the
    answer as its kind's code, `moment` when it was given, in seconds. Answers to a turned wording are turned back.
    """

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    code: Int[Array, " A"]
    moment: Float[Array, " A"]
    people: Sequence[str]
    wording: Int[Array, " A"] | None = None
    """The number of the wording that was answered; only where answers come from the database."""
    rows: tuple[Row, ...] = ()
    """The answers themselves, turned back; only where they come from the database."""

    def __len__(self) -> int:
        return len(self.question)

    @property
    def ids(self) -> tuple[str, ...]:
        """Of the answers, sorted."""
        return tuple(sorted(row[0] for row in self.rows))

    def valued(self, value_of: Callable[[Any], float | None]) -> Valued:
        """The answers that `value_of` gives a number; people are numbered by name."""
        values = [value_of(json.loads(row[3])) for row in self.rows]
        is_told = np.array([value is not None for value in values], bool)
        spoken, person = np.unique(self.person[is_told], return_inverse=True)
        names = [self.people[number] for number in spoken.tolist()]
        order = np.argsort(np.array(names, dtype=object))
        place = np.argsort(order)
        people = tuple(names[number] for number in order.tolist())
        told = np.array([value for value in values if value is not None], np.float64)
        return Valued(self.question[is_told], place[person.reshape(-1)], told, people)

    def counts(self, questions: int) -> Int[Array, " q"]:
        """How many people have answered each of the first so many questions."""
        return np.bincount(self.question[self.question < questions], minlength=questions)


@dataclass(frozen=True)
class Valued:
    """Everybody's last word on every question as a number; what it means is for each task to say."""

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    value: Float[Array, " A"]
    people: tuple[str, ...]


def last_words(
    question: Int[Array, " A"], person: Int[Array, " A"], moment: Float[Array, " A"]
) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """Of each person and question the row of the last answer and of the first one, in the order of the first ones.

    People may change their mind: the latest answer counts, and of equal times the one that was stored later.
    """
    order = np.lexsort((moment, person, question))  # stable: of equal times the later row comes later
    begins = np.ones(len(order), bool)
    begins[1:] = (np.diff(question[order]) != 0) | (np.diff(person[order]) != 0)
    starts = np.flatnonzero(begins)
    if len(starts) == len(order):  # nobody changed their mind
        rows = np.arange(len(order))
        return rows, rows
    last = order[np.append(starts[1:], len(order)) - 1]
    first = np.minimum.reduceat(order, starts)
    by_first = np.argsort(first)
    return last[by_first], first[by_first]


@dataclass(frozen=True)
class Duel:
    """How far two models' duel has come."""

    first: str
    second: str
    items: int
    judged: int


@dataclass(frozen=True)
class Needed:
    """Which questions have to be asked, given what people said, and how far the duels are.

    `barred` are places of questions with the numbers of people who must not be asked them: nobody checks a mask they
    drew themselves.
    """

    is_needed: Bool[Array, " q"]
    duels: tuple[Duel, ...] = ()
    barred: tuple[tuple[int, int], ...] = field(default=())


class Inquiry(Protocol):
    """What the annotation service needs of anything that people are asked."""

    version: tuple[int, ...]
    """Differs once there are other questions."""

    def is_current(self) -> bool:
        """False once there are other questions than this inquiry has: it has to be made anew."""

    def questions(self) -> list[Questions]:
        """All questions that may be asked, also those that only answers make necessary; places count through all."""

    def needed(self, answers: Answers) -> Needed:
        """Which of them have to be asked."""

    def uris(self) -> Mapping[str, str | None]:
        """Where pictures lie, by item; those of models' predictions by `prediction_key`."""

    def beside(self, question: Question) -> dict[str, Any]:
        """What a question about people's answers is about when it is put; recorded with it."""

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """What the browser is given to show it."""
