"""From stored answers to judged images: what is true, who agrees with it, what is open, what was discarded."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.duels import JUDGED, SCREENED_OUT, states_of
from dissensus.competitions.masks import JudgedMasks
from dissensus.discrepancy.masks import agreements
from dissensus.errors import StudyError
from dissensus.predictions.maps import map_at, maps_of
from dissensus.records import Classes, Exclusion, Maps, moment_of
from dissensus.steps.answers import study_database
from dissensus.steps.masks.columns import MapColumn
from dissensus.steps.masks.drawings import FAULTY, Drawings, drawing_states, read_drawings
from dissensus.steps.masks.subjects import Subjects, judged_rounds, subjects_of
from dissensus.store.answers import Answers
from dissensus.store.folder import Folder
from dissensus.store.mask_rounds import MaskRound, read_mask_rounds
from dissensus.store.people import People
from dissensus.store.settings import MaskSettings

FOR_FIRST = {"first": 1.0, "second": 0.0, "same": 0.5}
"""How much a choice says for the first model."""


@dataclass(frozen=True)
class Chosen:
    """Everybody's last choice between two predictions; `value` is how much it says for the first model, 0 to 1."""

    question: Int[Array, " A"]
    person: Int[Array, " A"]
    value: Float[Array, " A"]


@dataclass(frozen=True)
class Spoken:
    """What people's answers come to for every subject."""

    state: Int[Array, " q"]
    scores: Float[Array, "q M"]
    """How well every model agrees with people, 0 to 1; read only where `known` is true."""
    known: Bool[Array, "q M"]
    answered: Int[Array, " q"]
    ids: tuple[str, ...]
    """Of the answers that were used."""
    people: tuple[str, ...]
    drawings: tuple[Drawings, ...] = ()
    """By subject, where people drew."""
    truths: Maps | None = None
    stretched: int = 0
    """Images of which a mask has other proportions."""
    choices: Chosen | None = None


@dataclass(frozen=True)
class MaskHearing:
    """All rounds of a study with what people said; what they judge is numbered in one list."""

    models: list[str]
    rounds: tuple[MaskRound, ...]
    judged: tuple[JudgedMasks, ...]
    subjects: Subjects
    spoken: Spoken
    exclusions: dict[str, Exclusion]

    @property
    def answer_ids(self) -> tuple[str, ...]:
        """Of the answers that were used."""
        return self.spoken.ids

    @property
    def asked(self) -> list[int]:
        """Numbers of the subjects that the study needed so far."""
        return self._distinct("asked")

    @property
    def open(self) -> list[int]:
        """Numbers of the subjects that wait for answers."""
        return self._distinct("open")

    @property
    def discarded(self) -> int:
        """Number of images that people could not judge."""
        return len(self._distinct_rows("given_up"))

    @property
    def awaiting_correction(self) -> list[int]:
        """Subjects whose masks have errors that nobody has corrected."""
        return [number for number in self.asked if self._drawings(number).awaits_correction]

    @property
    def faulty(self) -> list[str]:
        """Images in whose masks somebody marked errors, corrected by now or not."""
        return [
            self.subjects.ids[int(self.subjects.items[number])]
            for number in self.asked
            if any(one.code == FAULTY for one in self._drawings(number).checks.values())
        ]

    @property
    def contradictory(self) -> int:
        """Number of images on which people who drew them agree on no pixel; told where there are scores."""
        return sum(self.spoken.state[number] == SCREENED_OUT for number in self.asked)

    @property
    def unchecked(self) -> int:
        """Number of masks that count and that nobody but their author has looked at."""
        judged = [number for number in self.asked if self.spoken.state[number] == JUDGED]
        return sum(not self._drawings(number).is_checked for number in judged)

    def _drawings(self, number: int) -> Drawings:
        return self.spoken.drawings[number] if self.spoken.drawings else Drawings()

    def _distinct(self, which: str) -> list[int]:
        return sorted({int(number) for one in self.judged for number in np.flatnonzero(getattr(one, which))})

    def _distinct_rows(self, which: str) -> set[int]:
        return {int(number) for one in self.judged for number in one.row_question[getattr(one, which)]}


def hear_masks(folder: Folder, settings: MaskSettings, classes: Classes, is_scored: bool = True) -> MaskHearing:
    """What the answers stored so far come to; without scores where only what is open matters, which is quicker.

    Raises:
        StudyError: there is no round yet.
    """
    models, rounds = read_mask_rounds(folder)
    if not rounds:
        raise StudyError(f"nothing is selected yet: dissensus select {folder.root}")
    subjects = subjects_of(settings.judge, rounds)
    database = study_database(folder, settings)
    exclusions = People(database).excluded()
    answers = Answers(database)
    if settings.judge.question == "mask":
        items = [subjects.ids[item] for item in subjects.items.tolist()]
        drawings = read_drawings(answers, items, exclusions, models)
        if not settings.judge.check:  # nobody is asked to correct what was marked while checks were on
            drawings = [replace(one, checks={}) for one in drawings]
        spoken = _drawn(drawings, settings, len(models))
        if is_scored:
            spoken = _scored(spoken, folder, len(classes), models, rounds[-1].settings["measure"], subjects)
    else:
        spoken = _by_choice(settings, answers, exclusions, models, subjects)
    judged = judged_rounds(rounds, subjects, spoken.state, settings.judge.share, spoken.scores)
    return MaskHearing(models, tuple(rounds), tuple(judged), subjects, spoken, exclusions)


def _drawn(drawings: Sequence[Drawings], settings: MaskSettings, models: int) -> Spoken:
    """What became of each image, before anybody's map is compared with what people drew."""
    said = [one for found in drawings for one in (*found.drawn.values(), *found.checks.values(), found.corrected)]
    used = [one for one in said if one is not None]
    return Spoken(
        state=drawing_states(drawings, settings.judge),
        scores=np.zeros((len(drawings), models)),
        known=np.zeros((len(drawings), models), bool),
        answered=np.array([len(one.drawn) for one in drawings], np.int64),
        ids=tuple(sorted(one.id for one in used)),
        people=tuple(sorted({one.annotator for one in used})),
        drawings=tuple(drawings),
    )


def _scored(
    spoken: Spoken, folder: Folder, classes: int, models: Sequence[str], measure: str, subjects: Subjects
) -> Spoken:
    """The same with how well every model agrees with what people drew."""
    maps = [MapColumn(folder, name).at(subjects.items) for name in models]
    heights, widths = (np.max([getattr(one, side) for one in maps], axis=0) for side in ("heights", "widths"))
    truths = [
        one.truth(int(height), int(width)) if is_judged else None
        for one, height, width, is_judged in zip(spoken.drawings, heights, widths, spoken.state == JUDGED, strict=True)
    ]
    sizes = zip(spoken.drawings, heights.tolist(), widths.tolist(), strict=True)
    stretched = sum(one.is_stretched(height, width) for one, height, width in sizes)
    scores, known = agreements(maps, maps_of(truths), classes, measure)
    # people who differ on every pixel leave no truth: they are not asked again, and no reserve comes for it
    state = np.where((spoken.state == JUDGED) & ~known.any(axis=1), SCREENED_OUT, spoken.state)
    return replace(spoken, state=state, scores=scores, known=known, truths=maps_of(truths), stretched=stretched)


def _by_choice(
    settings: MaskSettings,
    answers: Answers,
    exclusions: dict[str, Exclusion],
    models: Sequence[str],
    subjects: Subjects,
) -> Spoken:
    """The share of people who chose each of two predictions."""
    ways = _ways_to_ask(subjects, models)
    last: dict[tuple[int, str], tuple[datetime, str, str]] = {}
    for identity, text, annotator, answer, time in answers.essentials("choice", "asked", ways):
        number, is_turned = ways[text]
        key, moment = (number, annotator), moment_of(time)
        if annotator not in exclusions and (key not in last or moment >= last[key][0]):
            said = json.loads(answer)
            last[key] = moment, identity, _turned(said) if is_turned else said
    told = [(number, name, said) for (number, name), (_, _, said) in last.items()]
    chosen = [row for row in told if row[2] in FOR_FIRST]
    people = {name: place for place, name in enumerate(sorted({name for _, name, _ in told}))}
    choices = Chosen(
        question=np.array([row[0] for row in chosen], np.int64),
        person=np.array([people[row[1]] for row in chosen], np.int64),
        value=np.array([FOR_FIRST[row[2]] for row in chosen], np.float64),
    )
    answered = np.bincount([row[0] for row in told], minlength=len(subjects)).astype(np.int64)
    counted = np.bincount(choices.question, minlength=len(subjects))
    state = states_of(answered, answered - counted, settings.judge.min_answers, settings.judge.unfit)
    share = np.bincount(choices.question, choices.value, len(subjects)) / np.maximum(counted, 1)
    scores, known = np.zeros((len(subjects), len(models))), np.zeros((len(subjects), len(models)), bool)
    every = np.arange(len(subjects))
    scores[every, subjects.first], scores[every, subjects.second] = share, 1 - share
    known[every, subjects.first] = known[every, subjects.second] = counted > 0
    ids = tuple(sorted(identity for _, identity, _ in last.values()))
    return Spoken(state, scores, known, answered, ids, tuple(people), choices=choices)


def _ways_to_ask(subjects: Subjects, models: Sequence[str]) -> dict[str, tuple[int, bool]]:
    """The number of the subject by every text that asks about it, and whether its two models are turned round."""
    asked = [question.text for question in subjects.questions(models)]
    ways = {text: (number, True) for turned in subjects.other_ways(models) for number, text in enumerate(turned)}
    return ways | {text: (number, False) for number, text in enumerate(asked)}


def _turned(said: str) -> str:
    return {"first": "second", "second": "first"}.get(said, said)


def truth_at(spoken: Spoken, number: int) -> Array | None:
    """What people drew of a subject; None where nobody did."""
    if spoken.truths is None or spoken.truths.heights[number] == 0:
        return None
    return map_at(spoken.truths, number)
