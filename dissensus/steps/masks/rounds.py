"""The rounds of maps, as the annotation service needs them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.backends import Unreadable
from dissensus.competitions.duels import states_of
from dissensus.competitions.masks import JUDGED, JudgedMasks
from dissensus.errors import StudyError
from dissensus.labeling import QUESTIONS
from dissensus.predictions.maps import resized
from dissensus.records import BACKGROUND, VOID, Question
from dissensus.steps.answers import study_database
from dissensus.steps.masks.drawings import (
    Drawings,
    Said,
    check_question,
    drawing_states,
    mask_question,
    read_drawings,
)
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
from dissensus.web.backing import Answered, Duel, Needed


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

    def needed(self, answered: Answered) -> Needed:
        """Images that count now, reserves in the place of what people discarded; then corrections and checks."""
        count, rule = len(self.subjects), self.settings.judge
        drawings = self._drawings_of(answered) if rule.question == "mask" else []
        state = drawing_states(drawings, rule) if drawings else self._choice_states(answered)
        judged = judged_rounds(self.found, self.subjects, state, rule.share)
        active = np.zeros(count, bool)
        for one in judged:
            active[one.row_question[one.active]] = True
        needed = np.zeros(sum(len(texts) for _, texts in self.questions), bool)
        asked_so = np.bincount(answered.question, minlength=count)[:count]
        needed[:count] = active & ~((state == JUDGED) & (asked_so < rule.min_answers))  # judged, but asked otherwise
        if not self._has_checks:
            return Needed(needed, tuple(self._duels(judged)))
        # one correction and one check are enough, however many people draw; where one person draws, all are counted
        is_single = rule.min_answers == 1
        awaits = np.array([one.awaits_correction for one in drawings], bool)
        is_drawn = active & ((state == JUDGED) | awaits)
        is_corrected = np.array([one.corrected is not None and is_single for one in drawings], bool)
        is_unchecked = np.array([not one.checks or is_single for one in drawings], bool)
        needed[count : 2 * count] = is_drawn & (awaits | is_corrected)
        needed[2 * count : 3 * count] = is_drawn & is_unchecked
        barred = [(2 * count + place, int(name)) for place, one in enumerate(drawings) for name in one.drawn]
        return Needed(needed, tuple(self._duels(judged)), tuple(barred))

    def _drawings_of(self, answered: Answered) -> list[Drawings]:
        """What was said about each image, as far as codes and times tell."""
        found = [Drawings() for _ in range(len(self.subjects))]
        hear = {1: Drawings.hear_corrected} | ({2: Drawings.hear_check} if self._has_checks else {})
        columns = (answered.question, answered.annotator, answered.code, answered.moment)
        for question, annotator, code, moment in zip(*(column.tolist() for column in columns), strict=True):
            group, place = divmod(question, len(found))
            hear.get(group, Drawings.hear_drawn)(found[place], Said(str(annotator), code, moment))
        return found

    def _choice_states(self, answered: Answered) -> Int[Array, " q"]:
        """What became of each pair of predictions; a person who was asked in two ways said the last."""
        count = max(len(self.subjects), 1)
        subject, order = answered.question % count, np.argsort(answered.moment, kind="stable")[::-1]
        keys = (subject * answered.annotators + answered.annotator)[order]
        last = order[np.unique(keys, return_index=True)[1]]
        unfit = subject[last][answered.code[last] == QUESTIONS["choice"].code("unfit")]
        people = np.bincount(subject[last], minlength=len(self.subjects))
        discarded = np.bincount(unfit, minlength=len(self.subjects))
        return states_of(people, discarded, self.settings.judge.min_answers, self.settings.judge.unfit)

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


def _duels_of(judged: JudgedMasks, rows: Bool[Array, " Q"]) -> list[tuple[int, int]]:
    chosen = judged.selection.take(rows)
    return list(zip(chosen.attacker.tolist(), chosen.defender.tolist(), strict=True))


def _is_about_a_mask(question: Question) -> bool:
    """True for a check, and for the correction of a mask."""
    return question.kind == "check" or (question.kind == "mask" and bool(question.body.get("again")))
