"""Questions put to annotators, for a competition or for any other purpose.

The annotation service, `status` and the rankings share three things: the questions of an inquiry, each annotator's
latest answers to them (`Answers`), and the questions that are still needed (`Needed`). Each is built in one place.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import StudyError
from dissensus.records import Question


@dataclass(frozen=True)
class Wording:
    """An alternative wording, one text per question in the group; '' if a question does not have it.

    `is_swapped`: the two sides are swapped, and so are the answers.
    """

    texts: list[str]
    is_swapped: bool = False


@dataclass(frozen=True)
class Questions:
    """A group of questions of one kind. Annotators see `texts`; answers to the other wordings count too."""

    kind: str
    texts: list[str]
    wordings: tuple[Wording, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    def places(self, start: int = 0) -> dict[str, tuple[int, int]]:
        """Map every text to the position of its question, counting from `start`, and the number of its wording.

        Wording 0 is the one that annotators see.
        """
        known: dict[str, tuple[int, int]] = {}
        for number in range(len(self.wordings), 0, -1):
            texts = self.wordings[number - 1].texts
            known |= {text: (start + place, number) for place, text in enumerate(texts) if text}
        return known | {text: (start + place, 0) for place, text in enumerate(self.texts)}

    def at(self, place: int) -> Questions:
        """The question at one position, as a group of its own."""
        wordings = tuple(Wording([one.texts[place]], one.is_swapped) for one in self.wordings)
        return Questions(self.kind, [self.texts[place]], wordings)

    def is_swapped(self, wording: int) -> bool:
        """Whether a wording swaps the two sides."""
        return wording > 0 and self.wordings[wording - 1].is_swapped


Row = tuple[str, str, str, str, str, int]
"""A stored answer: id, text of the question, annotator, answer as JSON, time, number in the order of arrival."""


@dataclass(frozen=True)
class Answers:
    """Each annotator's latest answer to each question, as columns, without excluded annotators.

    `question` is a question's position across all groups, `person` an index into `people`, `code` the answer as a code
    of its kind, `arrival` its number in the order in which answers were stored. Answers to a swapped wording are
    swapped back.
    """

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    code: Int[Array, " A"]
    arrival: Int[Array, " A"]
    people: Sequence[str]
    wording: Int[Array, " A"] | None = None
    """The number of the wording that was answered; only for answers read from the database."""
    rows: tuple[Row, ...] = ()
    """The answers themselves, swapped back if needed; only for answers read from the database."""

    def __len__(self) -> int:
        return len(self.question)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the answers, sorted."""
        return tuple(sorted(row[0] for row in self.rows))

    def valued(self, value_of: Callable[[Any], float | None]) -> NumericAnswers:
        """The answers for which `value_of` returns a number; people are numbered in order of their names."""
        values = [value_of(json.loads(row[3])) for row in self.rows]
        is_told = np.array([value is not None for value in values], bool)
        spoken, person = np.unique(self.person[is_told], return_inverse=True)
        names = [self.people[number] for number in spoken.tolist()]
        order = np.argsort(np.array(names, dtype=object))
        place = np.argsort(order)
        people = tuple(names[number] for number in order.tolist())
        told = np.array([value for value in values if value is not None], np.float64)
        return NumericAnswers(self.question[is_told], place[person.reshape(-1)], told, people)

    def counts(self, questions: int) -> Int[Array, " q"]:
        """How many people have answered each of the first `questions` questions."""
        return np.bincount(self.question[self.question < questions], minlength=questions)


@dataclass(frozen=True)
class NumericAnswers:
    """Each annotator's latest answer to each question as a number; every task defines its meaning."""

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    value: Float[Array, " A"]
    people: tuple[str, ...]


def latest_rows(
    question: Int[Array, " A"], person: Int[Array, " A"], arrival: Int[Array, " A"]
) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """Rows of the last and of the first answer of each person to each question, in the order of the first answers.

    People may change their minds: the answer that arrived last counts, whatever its time, since clocks can be wrong.
    """
    order = np.lexsort((arrival, person, question))
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
    """Progress of the duel between two models."""

    first: str
    second: str
    items: int
    judged: int


@dataclass(frozen=True)
class Needed:
    """Which questions still have to be asked given the answers so far, and the progress of the duels.

    `barred` pairs positions of questions with people who must not be asked them: nobody checks a mask they drew
    themselves.
    """

    is_needed: Bool[Array, " q"]
    duels: tuple[Duel, ...] = ()
    barred: tuple[tuple[int, int], ...] = field(default=())
    urgent: tuple[int, ...] = ()
    """Questions that later ones depend on, or that an early end should not leave out, in the order of asking."""
    is_in_order: bool = False
    """Whether urgent questions come before all others, instead of every other time."""


class Inquiry(ABC):
    """What the annotation service needs from a source of questions.

    By default, no question depends on answers, its page shows nothing but pictures, and nobody knows what is right.
    """

    is_told: ClassVar[bool] = False
    """Whether people learn at once if they were right. They cannot change their answers then."""
    is_for_everybody: ClassVar[bool] = False
    """Whether every question is for everybody, however many people there are and however late they come."""

    def __init__(self) -> None:
        """Note which questions there are now; subclasses call this before they read them."""
        self.version = self.current_version()

    @abstractmethod
    def current_version(self) -> tuple[int, ...]:
        """Changes when the questions change."""

    def is_current(self) -> bool:
        """False if the questions have changed, so that the inquiry has to be built again."""
        return self.current_version() == self.version

    @property
    def outlook(self) -> str:
        """When the owner may stop, in a line, as of the last `advance`; empty if there is nothing to say."""
        return ""

    @abstractmethod
    def questions(self) -> list[Questions]:
        """All questions that may be asked, including follow-ups to answers; positions run through all groups."""

    @abstractmethod
    def needed(self, answers: Answers, /) -> Needed:
        """Which of the questions have to be asked."""

    @abstractmethod
    def uris(self) -> Mapping[str, str | None]:
        """Paths of the pictures by item; those of model predictions by `prediction_key`."""

    def advance(self) -> None:  # noqa: B027
        """Add questions that depend on the answers so far; called now and then, while answers arrive."""

    def context(self, _question: Question, /) -> dict[str, Any]:
        """The answers that a question refers to at the time it is asked, which are recorded with it."""
        return {}

    def material(self, _question: Question, _shown: dict[str, Any], /) -> dict[str, Any]:
        """What the browser needs to show a question."""
        return {}

    def picture_at(self, question: Question, _steps: Sequence[int] | None, /) -> bytes:
        """A picture that people uncover, as PNG, after so many steps along each axis; None: all of it.

        Raises:
            StudyError: the question has no such picture.
        """
        raise StudyError(f"a {question.kind} question has no picture to uncover")

    def guide(self, _label: int, /) -> str:
        """How to recognise a class, as plain text for people who label; empty if there is nothing to say."""
        return ""

    def examples(self, _label: int, /) -> Sequence[str]:
        """Absolute paths of example pictures of a class, best first; none of them may be asked about.

        Called from threads, once for every picture that somebody looks at.
        """
        return ()

    @property
    def is_guided(self) -> bool:
        """Whether pages offer to show guides and examples: only if there may be any."""
        return (type(self).guide, type(self).examples) != (Inquiry.guide, Inquiry.examples)

    def feedback(self, _question: Question, _answer: Any, /) -> dict[str, Any] | None:
        """What somebody learns who has just answered: see `web.messages.Feedback`. None if there is nothing to say.

        Called only if `is_told`, once the answer is stored.
        """
        return None
