"""What people drew: everybody's last mask of each image, what others found wrong with it, and what it comes to."""

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
"""The groups of questions about an image."""
UNFIT_CODE = QUESTIONS["mask"].code("unfit")
FAULTY = QUESTIONS["check"].code([{"x": 0, "y": 0, "kind": "border"}])


@dataclass(frozen=True)
class Reply:
    """One answer of one person: a mask or 'unfit', or the marks of a check.

    What is open follows from its `code` (1: unfit, or errors were marked) and from when it was given, in seconds. The
    answer itself is there only where it comes from the database.
    """

    person: int
    code: int
    time: float
    row: Row | None = None
    wording: int = 0
    """By which wording of the question they were asked: which model's map they began with."""

    @property
    def id(self) -> str:
        """Of the answer."""
        assert self.row is not None, "it comes from the database"
        return self.row[0]

    @cached_property
    def answer(self) -> Any:
        """The mask, or the marks."""
        assert self.row is not None, "it comes from the database"
        return json.loads(self.row[3])


@dataclass
class Drawings:
    """What was said about one image."""

    drawn: dict[int, Reply] = field(default_factory=dict)
    """Everybody's last mask, or 'unfit'."""
    checks: dict[int, Reply] = field(default_factory=dict)
    corrected: Reply | None = None

    def hear_drawn(self, said: Reply) -> None:
        """A mask, or that there can be none; of each person the last word counts."""
        self.drawn[said.person] = said

    def hear_check(self, said: Reply) -> None:
        """What somebody found wrong with it."""
        self.checks[said.person] = said

    def hear_corrected(self, said: Reply) -> None:
        """A correction; the last one counts, whoever it is from."""
        if self.corrected is None or said.time >= self.corrected.time:
            self.corrected = said

    @property
    def masks(self) -> list[Reply]:
        """Those who drew something."""
        return [one for one in self.drawn.values() if one.code != UNFIT_CODE]

    @property
    def unfit(self) -> int:
        """How many people said that the image cannot be judged."""
        return len(self.drawn) - len(self.masks)

    @property
    def newest(self) -> Reply | None:
        """The mask that a check looks at: the correction, or the last one drawn."""
        masks = [*self.masks, *([] if self.corrected is None or not self._has_correction else [self.corrected])]
        return max(masks, key=lambda one: one.time) if masks else None

    @property
    def fresh_checks(self) -> list[Reply]:
        """Checks of the masks as they are: one that is older than a mask was about another."""
        since = max((one.time for one in self.masks), default=None)
        return [] if since is None else [one for one in self.checks.values() if one.time >= since]

    @property
    def fault(self) -> Reply | None:
        """The last check that found errors; None where there is none."""
        found = [one for one in self.fresh_checks if one.code == FAULTY]
        return max(found, key=lambda one: one.time) if found else None

    @property
    def is_checked(self) -> bool:
        """True where somebody looked at the mask, and it was corrected if that was necessary."""
        return self._has_correction or (bool(self.fresh_checks) and self.fault is None)

    @property
    def awaits_correction(self) -> bool:
        """True where errors were marked that nobody has corrected yet."""
        return self.fault is not None and self.corrected is None

    @property
    def is_given_up(self) -> bool:
        """True where whoever was to correct the mask found that the image cannot be judged."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code == UNFIT_CODE

    def truth(self, height: int, width: int) -> UInt8[Array, "H W"] | None:
        """What the masks come to in the size of the image; None where there is none."""
        if self._has_correction:
            assert self.corrected is not None, "it has one"
            return resized(labels_of(self.corrected.answer), height, width)
        masks = [resized(labels_of(one.answer), height, width) for one in self.masks]
        return voted_map(masks) if masks else None

    def is_stretched(self, height: int, width: int) -> bool:
        """True where a mask has other proportions than the image, by more than a pixel."""
        shapes = [(one.answer["height"], one.answer["width"]) for one in self.masks]
        return any(abs(h * width - w * height) > max(height, width, h, w) for h, w in shapes)

    @property
    def _has_correction(self) -> bool:
        """True unless somebody drew the image anew after it was corrected."""
        return self.corrected is not None and self._is_last(self.corrected) and self.corrected.code != UNFIT_CODE

    def _is_last(self, said: Reply) -> bool:
        """True where nobody drew the image afterwards."""
        return all(one.time <= said.time for one in self.masks)


def drawings_in(answers: Answers, images: int) -> list[Drawings]:
    """What was said about each image, from everybody's last words on its drawing, its correction and its check."""
    found = [Drawings() for _ in range(images)]
    hear = {DRAWN: Drawings.hear_drawn, CORRECTED: Drawings.hear_corrected, CHECKED: Drawings.hear_check}
    wordings = np.zeros(len(answers), np.int64) if answers.wording is None else answers.wording
    columns = (answers.question, answers.person, answers.code, answers.moment, wordings)
    for place, (question, person, code, moment, wording) in enumerate(
        zip(*(column.tolist() for column in columns), strict=True)
    ):
        group, image = divmod(question, images)
        row = answers.rows[place] if answers.rows else None
        hear[group](found[image], Reply(person, code, moment, row, wording))
    return found


def drawing_states(drawings: Sequence[Drawings], rule: TruthSettings) -> Int[Array, " q"]:
    """What became of each image: whether its truth counts, waits, or cannot be told."""
    answered = np.array([len(one.drawn) for one in drawings], np.int64)
    unfit = np.array([one.unfit for one in drawings], np.int64)
    state = states_of(answered, unfit, rule.min_answers, rule.unfit)
    state[(state == JUDGED) & np.array([one.is_given_up for one in drawings], bool)] = UNFIT
    state[(state == JUDGED) & np.array([one.awaits_correction for one in drawings], bool)] = OPEN
    return state


def mask_question(item: str, again: bool = False, prefill: str = "") -> Question:
    """'Draw what is in this image'; `again`: correct what was drawn; `prefill`: begin with a model's map."""
    more = {"again": again, "prefill": prefill}
    return Question(kind="mask", body={"item": item} | {name: value for name, value in more.items() if value})


def check_question(item: str) -> Question:
    """'Is this mask right?'."""
    return Question(kind="check", body={"item": item})
