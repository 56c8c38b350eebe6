"""Pages on which people are asked about images of a study: each an inquiry of one kind of question."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.competition.evaluation import read_answers
from dissensus.errors import StudyError
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.labeling import QUESTIONS
from dissensus.records import Question
from dissensus.steps.presence import recorded_missing
from dissensus.steps.workspace import Workspace

P = TypeVar("P")


class Page(Inquiry):
    """All questions of one kind that a page asks."""

    kind: ClassVar[str]

    def __init__(self, work: Workspace[Any]) -> None:
        """Read what there is to ask about.

        Raises:
            StudyError: there is nothing to ask yet; says what to do first.
        """
        self.work = work
        super().__init__()
        self.asked = self._listed()
        self._group = questions_of(self.kind, self.asked)
        if not self.asked:
            raise StudyError(self._nothing())

    @abstractmethod
    def _listed(self) -> list[Question]:
        """All questions that there are."""

    @abstractmethod
    def _nothing(self) -> str:
        """Why there is nothing to ask, and what to do."""

    @abstractmethod
    def _folder(self) -> Path:
        """The folder of the study that has the tables of the questions."""

    def _is_current(self) -> Bool[Array, " q"]:
        """Which questions still matter."""
        return np.ones(len(self._group), bool)

    def current_version(self) -> tuple[int, ...]:
        """Changes when a table of the folder does."""
        files = sorted(self._folder().rglob("*.parquet"))
        return tuple(path.stat().st_mtime_ns for path in files if path.is_file())

    def questions(self) -> list[Questions]:
        return [self._group]

    def answers(self) -> Answers:
        """Everybody's answers, from the database, without excluded people."""
        return answers_to(self.work, self.kind, self.asked)

    def needed(self, _answers: Answers) -> Needed:
        """All that matter and have all their pictures; the service stops once enough people have answered."""
        missing, kind = recorded_missing(self.work.database), QUESTIONS[self.kind]
        has_pictures = [missing.isdisjoint(kind.pictures(json.loads(text), {})) for text in self._group.texts]
        return Needed(self._is_current() & np.array(has_pictures, bool))

    @abstractmethod
    def uris(self) -> Mapping[str, str | None]:
        """Paths of the pictures by item."""


def questions_of(kind: str, questions: Sequence[Question]) -> Questions:
    """A group of questions, each text once."""
    return Questions(kind, list(dict.fromkeys(one.text for one in questions)))


def answers_to(work: Workspace[Any], kind: str, questions: Sequence[Question]) -> Answers:
    """Everybody's latest answers, without excluded people."""
    return read_answers(work.answers, [questions_of(kind, questions)], work.people.excluded())


def page_named(pages: Mapping[str, P], page: str) -> P:
    """One of some pages.

    Raises:
        StudyError: there is no such page.
    """
    if page not in pages:
        raise StudyError(f"'{page}' is not a page: choose from {', '.join(pages)}")
    return pages[page]
