"""The rounds of maps, as the annotation service needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.competitions.duels import UNFIT, states_of
from dissensus.competitions.masks import JUDGED, JudgedMasks
from dissensus.errors import StudyError
from dissensus.labeling import QUESTIONS
from dissensus.records import BACKGROUND, VOID, Question
from dissensus.steps.answers import study_database
from dissensus.steps.masks.drawings import Drawings, check_question, mask_question, read_drawings
from dissensus.steps.masks.overlays import Overlays
from dissensus.steps.masks.subjects import Subjects, judged_rounds, subjects_of
from dissensus.steps.pools import open_pool
from dissensus.store.answers import Answers
from dissensus.store.database import Database
from dissensus.store.exchange.map_answers import answer_of
from dissensus.store.folder import Folder
from dissensus.store.mask_rounds import read_mask_rounds
from dissensus.store.people import People
from dissensus.store.settings import MaskSettings
from dissensus.web.backing import Duel, Needed


class MaskRounds:
    """What was selected, with the questions of all rounds in one list: drawings, their checks, their corrections."""

    def __init__(self, folder: Folder, settings: MaskSettings) -> None:
        """Read the rounds; there may be none yet."""
        self.folder, self.settings = folder, settings
        self.on_disk = tuple(folder.rounds())
        self.models, self.found = read_mask_rounds(folder)
        if self.found and settings.judge.prefill not in ("", *self.models):
            raise StudyError(f"judge.prefill is '{settings.judge.prefill}': it is one of {', '.join(self.models)}")
        self.subjects: Subjects = subjects_of(settings.judge, self.found)
        places = list(dict.fromkeys(self.subjects.items.tolist()))
        self.photos = dict(zip(open_pool(folder).ids(places), open_pool(folder).uris(places), strict=True))
        self.overlays = Overlays(folder, self.models, self.photos)
        self.questions = self._groups()

    @property
    def uris(self) -> Mapping[str, str | None]:
        """Where photos and overlays lie; an overlay is made when it is first asked for."""
        return self.overlays

    def needed(self, question: Array, annotator: Array, answer: Int[Array, " A"], annotators: int) -> Needed:  # noqa: ARG002
        """Images that count now, reserves in the place of what people discarded; then checks, then corrections."""
        count = len(self.subjects)
        answered = np.bincount(question, minlength=3 * count)
        unfit = np.bincount(question[answer == self._unfit], minlength=3 * count)
        rule = self.settings.judge
        state = states_of(answered[:count], unfit[:count], rule.min_answers, rule.unfit)
        state[unfit[2 * count :] > 0] = UNFIT  # whoever was to correct it found that it cannot be judged
        judged = judged_rounds(self.found, self.subjects, state, self.settings.judge.share)
        active = np.zeros(count, bool)
        for one in judged:
            active[one.row_question[one.active]] = True
        if len(self.questions) == 1:
            return Needed(active, tuple(self._duels(judged)))
        is_drawn = active & (state == JUDGED)
        is_faulty = np.bincount(question[answer == FAULTY], minlength=3 * count)[count : 2 * count] > 0
        # one check and one correction are enough, however many people draw
        is_left = (answered[count:] == 0) | (rule.min_answers == 1)
        needed = np.concatenate([active, is_drawn & is_left[:count], is_drawn & is_faulty & is_left[count:]])
        drawers = question < count
        barred = zip((question[drawers] + count).tolist(), annotator[drawers].tolist(), strict=True)
        return Needed(needed, tuple(self._duels(judged)), tuple(barred))

    def beside(self, question: Question) -> dict[str, Any]:
        """Which mask is checked, or corrected for which reason."""
        if not _is_about_a_mask(question):
            return {}
        found = self._drawings(question)
        masks = {} if found.newest is None else {"mask": found.newest.id}
        return masks | ({"check": found.fault.id} if question.kind == "mask" and found.fault is not None else {})

    def material(self, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """The mask and what was marked in it; a model's map to begin with; the classes that two predictions show."""
        body = question.body
        if not {body.get(side) for side in ("first", "second", "prefill")} - {None} <= set(self.models):
            return {}  # somebody wrote it down by hand
        if question.kind == "choice":
            maps = [self.overlays.map_of(body["item"], body[side]) for side in ("first", "second")]
            return {"labels": sorted({int(label) for one in maps for label in np.unique(one)} - {BACKGROUND, VOID})}
        if question.kind == "mask" and "prefill" in body:
            begun = self.overlays.map_of(body["item"], body["prefill"])
            return {"mask": answer_of(begun)} if begun.size else {}
        answers = Answers(self._database)
        told = {name: answers.given(shown[key]) for key, name in MATERIAL.items() if key in shown}
        return {name: answer for name, answer in told.items() if answer is not None}

    def _drawings(self, question: Question) -> Drawings:
        excluded = People(self._database).excluded()
        (found,) = read_drawings(Answers(self._database), [question.body["item"]], excluded, self.models)
        return found

    @cached_property
    def _database(self) -> Database:
        return study_database(self.folder, self.settings)

    def _groups(self) -> list[tuple[str, list[str]]]:
        asked = [question.text for question in self.subjects.questions(self.models)]
        if self.settings.judge.question == "choice":
            return [("choice", asked)]
        if not self.settings.judge.check:
            return [("mask", asked)]
        items = [question.body["item"] for question in self.subjects.questions(self.models)]
        checks = [check_question(item).text for item in items]
        return [("mask", asked), ("check", checks), ("mask", [mask_question(item, again=True).text for item in items])]

    @property
    def _unfit(self) -> int:
        """The code of an answer that discards an image."""
        return QUESTIONS[self.settings.judge.question].code("unfit")

    def _duels(self, judged: list[JudgedMasks]) -> list[Duel]:
        images, decided = Counter[tuple[int, int]](), Counter[tuple[int, int]]()
        for one in judged:
            images.update(_duels_of(one, one.active))
            decided.update(_duels_of(one, one.active & (one.state[one.row_question] == JUDGED)))
        return [
            Duel(self.models[attacker], self.models[defender], count, decided[attacker, defender])
            for (attacker, defender), count in images.items()
        ]


MATERIAL = {"mask": "mask", "check": "marks"}
"""What the page is told, by what stands in `shown`."""
FAULTY = QUESTIONS["check"].code([{"x": 0, "y": 0, "kind": "border"}])
"""The code of a check that found errors."""


def _duels_of(judged: JudgedMasks, rows: Bool[Array, " Q"]) -> list[tuple[int, int]]:
    chosen = judged.selection.take(rows)
    return list(zip(chosen.attacker.tolist(), chosen.defender.tolist(), strict=True))


def _is_about_a_mask(question: Question) -> bool:
    """True for a check, and for the correction of a mask."""
    return question.kind == "check" or (question.kind == "mask" and bool(question.body.get("again")))
