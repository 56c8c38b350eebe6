"""What people are asked about candidates: three pages, each an inquiry of one kind of question."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.records import Question
from dissensus.shift.pages import Page
from dissensus.shift.replicate.collection import kept_collection
from dissensus.shift.replicate.grids import kept_grids
from dissensus.shift.replicate.pairs import kept_pairs, pair_questions
from dissensus.shift.replicate.revisions import reviews
from dissensus.steps.workspace import Workspace


class ReplicaPage(Page):
    """All questions of one kind about a replication."""

    def __init__(self, work: Workspace[Any]) -> None:
        """Read what has been collected.

        Raises:
            StudyError: there is nothing to ask yet; says what to do first.
        """
        self.collection = kept_collection(work)
        super().__init__(work)
        self._uris = self.collection.uris()

    def _folder(self) -> Path:
        return self.work.folder.replica

    def uris(self) -> Mapping[str, str | None]:
        return self._uris


class GridPage(ReplicaPage):
    """Which of these images show the class?"""

    kind = "grid"

    def _listed(self) -> list[Question]:
        return [task.question(self.work) for task in kept_grids(self.work)]

    def _nothing(self) -> str:
        return f"there are no tasks: dissensus shift collect {self.work.folder.root} --candidates DIR"


class PairsPage(ReplicaPage):
    """Which of these pairs show the same picture?"""

    kind = "pairs"

    def _listed(self) -> list[Question]:
        return pair_questions(kept_pairs(self.work) or ())

    def _nothing(self) -> str:
        if kept_pairs(self.work) is None:
            return f"nobody has looked for near-duplicates yet: dissensus shift duplicates {self.work.folder.root}"
        return f"no two images look alike, so there is nothing to ask: dissensus shift status {self.work.folder.root}"


class ReviewPage(ReplicaPage):
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


PAGES: dict[str, type[ReplicaPage]] = {one.kind: one for one in (GridPage, PairsPage, ReviewPage)}
