"""The rounds of maps, as the annotation service needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.backends import Unreadable
from dissensus.competitions.duels import UNFIT, states_of
from dissensus.competitions.masks import JUDGED, JudgedMasks
from dissensus.errors import StudyError
from dissensus.labeling import QUESTIONS
from dissensus.predictions.maps import resized
from dissensus.records import BACKGROUND, VOID, Question
from dissensus.steps.answers import study_database
from dissensus.steps.masks.drawings import Drawings, check_question, mask_question, read_drawings
from dissensus.steps.masks.overlays import Overlays
from dissensus.steps.masks.sizes import image_size
from dissensus.steps.masks.subjects import Subjects, judged_rounds, subjects_of
from dissensus.steps.pools import open_pool
from dissensus.store.answers import Answers
from dissensus.store.database import Database
from dissensus.store.exchange.map_answers import answer_of, labels_of
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
        places = {self.subjects.ids[place]: place for place in self.subjects.items.tolist()}
        self.photos = dict(zip(places, open_pool(folder).uris(list(places.values())), strict=True))
        self.overlays = Overlays(folder, self.models, self.photos, places)
        self.questions = self._groups()

    @property
    def uris(self) -> Mapping[str, str | None]:
        """Where photos and overlays lie; an overlay is made when it is first asked for."""
        return self.overlays

    def needed(self, question: Array, annotator: Array, answer: Int[Array, " A"], annotators: int) -> Needed:
        """Images that count now, reserves in the place of what people discarded; then checks, then corrections."""
        count, rule = len(self.subjects), self.settings.judge
        asked_so = np.bincount(question, minlength=count)[:count]
        question, annotator, answer = self._last_words(question, annotator, answer, annotators)
        answered = np.bincount(question, minlength=3 * count)
        unfit = np.bincount(question[answer == self._unfit], minlength=3 * count)
        state = states_of(answered[:count], unfit[:count], rule.min_answers, rule.unfit)
        # whoever was to correct it found that it cannot be judged
        state[(state == JUDGED) & (unfit[count : 2 * count] > 0)] = UNFIT
        judged = judged_rounds(self.found, self.subjects, state, rule.share)
        active = np.zeros(count, bool)
        for one in judged:
            active[one.row_question[one.active]] = True
        needed = np.zeros(sum(len(texts) for _, texts in self.questions), bool)
        needed[:count] = active & ~((state == JUDGED) & (asked_so < rule.min_answers))  # judged, but asked otherwise
        if not self._has_checks:
            return Needed(needed, tuple(self._duels(judged)))
        is_drawn = active & (state == JUDGED)
        is_faulty = np.bincount(question[answer == FAULTY], minlength=3 * count)[2 * count :] > 0
        # one correction and one check are enough, however many people draw
        is_left = (answered[count:] == 0) | (rule.min_answers == 1)
        needed[count : 3 * count] = np.concatenate([is_drawn & is_faulty, is_drawn]) & is_left
        drawers = question < count
        barred = zip((question[drawers] + 2 * count).tolist(), annotator[drawers].tolist(), strict=True)
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
        named = {body.get(side) for side in ("first", "second", "prefill")} - {None}
        if named and (body["item"] not in self.photos or not named <= set(self.models)):
            return {}  # somebody wrote it down by hand
        if question.kind == "choice":
            maps = [self.overlays.map_of(body["item"], body[side]) for side in ("first", "second")]
            return {"labels": sorted({int(label) for one in maps for label in np.unique(one)} - {BACKGROUND, VOID})}
        if question.kind == "mask" and "prefill" in body:
            begun = self.overlays.map_of(body["item"], body["prefill"])
            return {"mask": answer_of(begun)} if begun.size else {}
        answers = Answers(self._database)
        found = {name: answers.given(shown[key]) for key, name in MATERIAL.items() if key in shown}
        told = {name: answer for name, answer in found.items() if answer is not None}
        return told | ({"mask": self._in_photos_size(body["item"], told["mask"])} if "mask" in told else {})

    def _in_photos_size(self, item: str, mask: dict[str, Any]) -> dict[str, Any]:
        """A mask as it lies on its photo: it may have been drawn elsewhere, in another size."""
        uri = self.photos.get(item)
        size = None if uri is None else image_size(uri)
        if size is None or isinstance(size, Unreadable) or size == (mask["height"], mask["width"]):
            return mask
        return answer_of(resized(labels_of(mask), *size))

    def _drawings(self, question: Question) -> Drawings:
        excluded = People(self._database).excluded()
        (found,) = read_drawings(Answers(self._database), [question.body["item"]], excluded, self.models)
        return found

    @cached_property
    def _database(self) -> Database:
        return study_database(self.folder, self.settings)

    @property
    def _has_checks(self) -> bool:
        return self.settings.judge.question == "mask" and self.settings.judge.check

    def _groups(self) -> list[tuple[str, list[str]]]:
        """What is asked of each subject; its correction and its check; last the other ways in which it may be asked."""
        kind, asked = self.settings.judge.question, self.subjects.questions(self.models)
        groups: list[tuple[str, list[str]]] = [(kind, [question.text for question in asked])]
        if kind == "mask":
            groups.append((kind, [mask_question(question.body["item"], again=True).text for question in asked]))
        if self._has_checks:
            groups.append(("check", [check_question(question.body["item"]).text for question in asked]))
        return groups + [(kind, texts) for texts in self.subjects.other_ways(self.models)]

    def _last_words(
        self, question: Array, annotator: Array, answer: Int[Array, " A"], annotators: int
    ) -> tuple[Array, Array, Array]:
        """The answers with all ways to ask a subject as one; where a person has several, the last that was stored."""
        count = len(self.subjects)
        groups = 1 if self.settings.judge.question == "choice" else 2 + self._has_checks
        question = np.where(question < groups * count, question, question % max(count, 1))
        latest = len(question) - 1 - np.unique((question * annotators + annotator)[::-1], return_index=True)[1]
        return question[latest], annotator[latest], answer[latest]

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
