"""What people are asked about candidates: three pages, each an inquiry of one kind of question."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import StudyError
from dissensus.inquiry import Answers, Inquiry, Needed, Questions
from dissensus.labeling import QUESTIONS
from dissensus.records import Question
from dissensus.shift.replicate.answers import answers_to, questions_of
from dissensus.shift.replicate.collection import kept_collection
from dissensus.shift.replicate.grids import kept_grids
from dissensus.shift.replicate.pairs import kept_pairs, pair_questions
from dissensus.shift.replicate.revisions import reviews
from dissensus.steps.presence import recorded_missing
from dissensus.steps.workspace import Workspace


class Page(Inquiry):
    """All questions of one kind about a replication."""

    kind: ClassVar[str]

    def __init__(self, work: Workspace[Any]) -> None:
        """Read what has been collected.

        Raises:
            StudyError: there is nothing to ask yet; says what to do first.
        """
        self.work = work
        super().__init__()
        self.collection = kept_collection(work)
        self.asked = self._listed()
        self._group = questions_of(self.kind, self.asked)
        self._uris = self.collection.uris()
        if not self.asked:
            raise StudyError(self._nothing())

    @abstractmethod
    def _listed(self) -> list[Question]:
        """All questions that there are."""

    @abstractmethod
    def _nothing(self) -> str:
        """Why there is nothing to ask, and what to do."""

    def _is_current(self) -> Bool[Array, " q"]:
        """Which questions still matter."""
        return np.ones(len(self._group), bool)

    def current_version(self) -> tuple[int, ...]:
        """Changes when images, tasks, pairs or revisions do."""
        files = sorted(self.work.folder.replica.rglob("*.parquet"))
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

    def uris(self) -> Mapping[str, str | None]:
        return self._uris


class GridPage(Page):
    """Which of these images show the class?"""

    kind = "grid"

    def _listed(self) -> list[Question]:
        return [task.question(self.work) for task in kept_grids(self.work)]

    def _nothing(self) -> str:
        return f"there are no tasks: dissensus shift collect {self.work.folder.root} --candidates DIR"


class PairsPage(Page):
    """Which of these pairs show the same picture?"""

    kind = "pairs"

    def _listed(self) -> list[Question]:
        return pair_questions(kept_pairs(self.work) or ())

    def _nothing(self) -> str:
        if kept_pairs(self.work) is None:
            return f"nobody has looked for near-duplicates yet: dissensus shift duplicates {self.work.folder.root}"
        return f"no two images look alike, so there is nothing to ask: dissensus shift status {self.work.folder.root}"


class ReviewPage(Page):
    """What is wrong with this class of the new test set? Questions about earlier revisions stay, but are not asked."""

    kind = "review"

    def _listed(self) -> list[Question]:
        found = reviews(self.work, self.collection)
        self._latest = {one.question.text for one in found if one.is_latest}
        return [one.question for one in found]

    def _is_current(self) -> Bool[Array, " q"]:
        return np.array([text in self._latest for text in self._group.texts], bool)

    def _nothing(self) -> str:
        return f"there is no revision to review yet: dissensus shift sample {self.work.folder.root}"


PAGES: dict[str, type[Page]] = {one.kind: one for one in (GridPage, PairsPage, ReviewPage)}
