"""Drawn masks: each annotator's latest mask of an image, the errors others marked, and the resulting ground truth."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Int, UInt8
from dissensus.inquiry import Answers, Row
from dissensus.labeling import QUESTIONS
from dissensus.predictions.maps import resized
from dissensus.records import JUDGED, OPEN, UNFIT, Question
from dissensus.screening import states_of
from dissensus.screening.map_votes import voted_map
from dissensus.store.exchange.map_answers import labels_of
from dissensus.tasks.masks.settings import TruthSettings

DRAWN, CORRECTED, CHECKED = 0, 1, 2
"""The groups of questions about an image, in order."""
UNFIT_CODE = QUESTIONS["mask"].code("unfit")
FAULTY = QUESTIONS["check"].code([{"x": 0, "y": 0, "kind": "border"}])


@dataclass(frozen=True)
class Reply:
    """One person's answer: a mask or 'unfit', or the marks of a check.

    Its `code` (1: unfit, or errors were marked) and its number in the order of arrival decide what is open. The answer
    itself is only there if it was read from the database.
    """

    person: int
    code: int
    arrival: int
    row: Row | None = None
    wording: int = 0
    """The wording of the question, which tells which model's map the drawing started from."""

    @property
    def id(self) -> str:
        """Id of the answer."""
        assert self.row is not None, "it comes from the database"
        return self.row[0]

    @cached_property
    def answer(self) -> Any:
        """The mask, or the marks."""
        assert self.row is not None, "it comes from the database"
        return json.loads(self.row[3])


@dataclass
class Drawings:
    """All answers about one image."""

    drawn: dict[int, Reply] = field(default_factory=dict)
    """Each person's latest mask, or 'unfit'."""
    checks: dict[int, Reply] = field(default_factory=dict)
    corrected: Reply | None = None

    def add_mask(self, said: Reply) -> None:
        """Add a mask or 'unfit'; each person's latest answer counts."""
        self.drawn[said.person] = said

    def add_check(self, said: Reply) -> None:
        """Add the result of a check."""
        self.checks[said.person] = said

    def add_correction(self, said: Reply) -> None:
        """Add a correction; the latest one counts, no matter whose it is."""
        if self.corrected is None or said.arrival >= self.corrected.arrival:
            self.corrected = said

    @property
    def masks(self) -> list[Reply]:
        """The drawn masks, without 'unfit'."""
        return [one for one in self.drawn.values() if one.code != UNFIT_CODE]

    @property
    def unfit(self) -> int:
        """How many people said that the image cannot be judged."""
        return len(self.drawn) - len(self.masks)

    @property
    def newest(self) -> Reply | None:
        """The mask to check: the correction, or the latest drawing."""
        masks = [*self.masks, *([] if self.corrected is None or not self._has_correction else [self.corrected])]
        return max(masks, key=lambda one: one.arrival) if masks else None

    @property
    def fresh_checks(self) -> list[Reply]:
        """Checks of the current masks, i.e. those that are not older than any mask."""
        since = max((one.arrival for one in self.masks), default=None)
        return [] if since is None else [one for one in self.checks.values() if one.arrival >= since]

    @property
    def fault(self) -> Reply | None:
        """The latest check that found errors; None if there is none."""
        found = [one for one in self.fresh_checks if one.code == FAULTY]
        return max(found, key=lambda one: one.arrival) if found else None

    @property
    def is_checked(self) -> bool:
        """True if the mask was checked and, if necessary, corrected."""
        return self._has_correction or (bool(self.fresh_checks) and self.fault is None)

    @property
    def awaits_correction(self) -> bool:
        """True if errors were marked that nobody has corrected yet."""
        return self.fault is not None and self.corrected is None

    @property
    def is_given_up(self) -> bool:
        """True if the person asked to correct the mask said that the image cannot be judged."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code == UNFIT_CODE

    def truth(self, height: int, width: int) -> UInt8[Array, "H W"] | None:
        """The ground truth at the size of the image: the correction, or a vote of all masks; None without masks."""
        if self._has_correction:
            assert self.corrected is not None, "there is a correction"
            return resized(labels_of(self.corrected.answer), height, width)
        masks = [resized(labels_of(one.answer), height, width) for one in self.masks]
        return voted_map(masks) if masks else None

    def is_stretched(self, height: int, width: int) -> bool:
        """True if the aspect ratio of a mask differs from the image's by more than a pixel."""
        shapes = [(one.answer["height"], one.answer["width"]) for one in self.masks]
        return any(abs(h * width - w * height) > max(height, width, h, w) for h, w in shapes)

    @property
    def _has_correction(self) -> bool:
        """True if the mask was corrected and nobody has redrawn the image since."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code != UNFIT_CODE

    def _is_last(self, said: Reply) -> bool:
        """True if nobody drew the image afterwards."""
        return all(one.arrival <= said.arrival for one in self.masks)


def drawings_in(answers: Answers, images: int) -> list[Drawings]:
    """The answers about each image, from everyone's latest drawings, corrections and checks."""
    found = [Drawings() for _ in range(images)]
    hear = {DRAWN: Drawings.add_mask, CORRECTED: Drawings.add_correction, CHECKED: Drawings.add_check}
    wordings = np.zeros(len(answers), np.int64) if answers.wording is None else answers.wording
    columns = (answers.question, answers.person, answers.code, answers.arrival, wordings)
    for place, (question, person, code, arrival, wording) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        group, image = divmod(question, images)
        row = answers.rows[place] if answers.rows else None
        hear[group](found[image], Reply(person, code, arrival, row, wording))
    return found


def drawing_states(drawings: Sequence[Drawings], rule: TruthSettings) -> Int[Array, " q"]:
    """The state of each image: whether its ground truth counts, is open, or cannot be determined."""
    answered = np.array([len(one.drawn) for one in drawings], np.int64)
    unfit = np.array([one.unfit for one in drawings], np.int64)
    state = states_of(answered, unfit, rule.min_answers, rule.unfit)
    state[(state == JUDGED) & np.array([one.is_given_up for one in drawings], bool)] = UNFIT
    state[(state == JUDGED) & np.array([one.awaits_correction for one in drawings], bool)] = OPEN
    return state


def mask_question(item: str, again: bool = False, prefill: str = "") -> Question:
    """'Draw what is in this image'; `again`: correct the mask; `prefill`: start from a model's map."""
    more = {"again": again, "prefill": prefill}
    return Question(kind="mask", body={"item": item} | {name: value for name, value in more.items() if value})


def check_question(item: str) -> Question:
    """'Is this mask right?'."""
    return Question(kind="check", body={"item": item})
