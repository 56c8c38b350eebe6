"""MAD for models that give a map: Algorithms 1 and 2 of the paper.

* lines 2–4, all models on all images, is `predictions`
* `selecting`, lines 5–13: who attacks whom, the concordance of two maps, the scale constraint (`scales`), top-K;
  `groups` says which categories have no images, and why
* `judging` and `drawings`, line 18: what people said of the images; reserves for what they could not judge
* `standings`, line 19: the ratios of Eq. 3 and 5; `competition.attacks` makes both global rankings of them (line 20)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.backends import MapPreprocess
from dissensus.competition.attacks import rankings_of
from dissensus.competition.ranking import method_of
from dissensus.competition.task import Agenda, Hearing, Task
from dissensus.inquiry import Answers
from dissensus.records import JUDGED, MOST_CLASSES, Contests, MaskSelection, Question, Rankings, Record
from dissensus.report.masks.page import masks_page
from dissensus.report.page import Page
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.masks.drawings import check_question, drawings_in, mask_question
from dissensus.tasks.masks.judging import (
    MaskHearing,
    MaskScores,
    MaskStates,
    contests_in,
    doubts,
    faulty,
    mask_questions,
    mask_states,
    scored_masks,
)
from dissensus.tasks.masks.overlays import Overlays, material_of
from dissensus.tasks.masks.predictions import MaskSource
from dissensus.tasks.masks.reporting import masks_report
from dissensus.tasks.masks.scales import KEPT, keep_scales
from dissensus.tasks.masks.selecting import MaskSelecting, recorded_settings
from dissensus.tasks.masks.settings import MASKS, MaskSettings
from dissensus.tasks.masks.standings import Choices, MaskEvidence, contradictions


class OpenImage(Record):
    """'What is where in ITEM?', or 'which of two predictions of it is better?'; without a word of who is who."""

    kind: str
    item: str
    first: str | None
    second: str | None
    answers: int


class Masks(Task[MaskSelection, MaskScores]):
    """A competition of models that give a map."""

    name, noun = "masks", "images"
    settings, template = MaskSettings, MASKS
    usual_classes = "voc"
    most_classes = MOST_CLASSES
    selection, source, selecting = MaskSelection, MaskSource, MaskSelecting
    preprocess = MapPreprocess
    kept_files = (KEPT,)
    short = "{short:,} duels have no image"
    frame = (
        '# fit = "stretch"           # the whole image; or letterbox\n'
        '# labels = "voc"            # what the outputs of a model with other classes mean'
    )
    work: Workspace[MaskSettings]

    def wanted(self) -> dict[str, Any]:
        """The settings of a round to be selected now."""
        return recorded_settings(self.work)

    def agenda(self, models: Sequence[str], rounds: Sequence[Round[MaskSelection]]) -> Agenda[MaskSelection]:
        """What is in every image, or which of two predictions of it is better."""
        return mask_questions(self.work.settings.judge, models, rounds)

    def states(self, agenda: Agenda[MaskSelection], answers: Answers) -> MaskStates:
        """What became of every image."""
        return mask_states(agenda, answers, self.work.settings.judge)

    def weighed(self, hearing: Hearing[MaskSelection, MaskStates]) -> MaskHearing:
        """The hearing with how well every model agrees with people."""
        return hearing.with_states(scored_masks(self.work, hearing), self.work.settings.judge.share)

    def needed(
        self, agenda: Agenda[MaskSelection], states: MaskStates, active: Bool[Array, " q"]
    ) -> tuple[Bool[Array, " every"], Sequence[tuple[int, int]]]:
        """Images that count now; then their corrections and their checks, which nobody does for their own mask."""
        rule, count, drawings = self.work.settings.judge, len(agenda), states.drawings
        needed = np.zeros(sum(map(len, agenda.groups)), bool)
        needed[:count] = active
        if rule.question != "mask" or not rule.check:
            return needed, ()
        # one correction and one check are enough, however many people draw; where one person draws, all are counted
        is_single = rule.min_answers == 1
        awaits = np.array([one.awaits_correction for one in drawings], bool)
        is_drawn = active & ((states.state == JUDGED) | awaits)
        is_corrected = np.array([one.corrected is not None and is_single for one in drawings], bool)
        is_unchecked = np.array([not one.checks or is_single for one in drawings], bool)
        needed[count : 2 * count] = is_drawn & (awaits | is_corrected)
        needed[2 * count :] = is_drawn & is_unchecked
        return needed, [(2 * count + place, person) for place, one in enumerate(drawings) for person in one.drawn]

    def rank(self, hearing: MaskHearing, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and keep the result."""
        settings, evidence = self.work.settings, evidence_of(hearing)
        return rankings_of(
            self.work.folder,
            hearing,
            evidence,
            method_of(settings.rank, method),
            self.noun,
            (*evidence.limits, *doubts(settings.judge, hearing)),
            {"measure": hearing.rounds[-1].settings["measure"], "judge": settings.judge.model_dump()},
            lambda _, matrices: contradictions(matrices, hearing.models),
        )

    def page(self, hearing: MaskHearing, method: str | None) -> Page:
        """Rank, and the page about it."""
        rankings = self.rank(hearing, method)
        return masks_page(masks_report(self.work, hearing, rankings, evidence_of(hearing).contests))

    def further_questions(self, hearing: Hearing[MaskSelection, MaskStates]) -> list[Question]:
        """The checks of what was drawn, and the corrections of what was marked."""
        if self.work.settings.judge.question != "mask" or not self.work.settings.judge.check:
            return []
        items = [hearing.item_ids[int(hearing.keys[number, 0])] for number in hearing.asked]
        return [check_question(item) for item in items] + [mask_question(item, again=True) for item in faulty(hearing)]

    def uris(self, models: Sequence[str], agenda: Agenda[MaskSelection]) -> Mapping[str, str | None]:
        """Where photos lie, and overlays, which are made when they are first asked for."""
        places = {agenda.item_ids[item]: item for item in agenda.keys[:, 0].tolist()}
        photos = dict(zip(places, self.work.pool.uris(list(places.values())), strict=True))
        return Overlays(self.work.folder, models, photos, places)

    def beside(self, question: Question, answers: Answers) -> dict[str, Any]:
        """Which mask is checked, or corrected for which reason."""
        (found,) = drawings_in(answers, 1)
        masks = {} if found.newest is None else {"mask": found.newest.id}
        return masks | ({"check": found.fault.id} if question.kind == "mask" and found.fault is not None else {})

    def material(self, uris: Overlays, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """The mask and what was marked in it; a model's map to begin with; the classes that two predictions show."""
        return material_of(uris, question, shown, self.work.answers)

    def open_questions(self, hearing: Hearing[MaskSelection, Any]) -> list[OpenImage]:
        """What waits for answers, each once, however many duels need it; in the order of the pool."""
        found = []
        for number in hearing.open:
            item, first, second = hearing.keys[number].tolist()
            sides = (None, None) if first < 0 else (hearing.models[first], hearing.models[second])
            found.append(
                OpenImage(
                    kind=self.work.settings.judge.question,
                    item=hearing.item_ids[item],
                    first=sides[0],
                    second=sides[1],
                    answers=int(hearing.answered[number]),
                )
            )
        return found

    def sheet_row(self, one: OpenImage) -> dict[str, Any]:
        """The question as people are asked it, with room for its answer."""
        body = {"item": one.item, "first": one.first, "second": one.second}
        question = {name: value for name, value in body.items() if value is not None}
        return {"kind": one.kind, "question": question, "annotator": "", "answer": None, "time": ""}

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """A table of scales, or one made from the maps of a training set, is copied into the study."""
        if "scales" in given:
            kept = keep_scales(self.work.folder, given["scales"], self.work.classes, self.work.progress)
            return given | {"scales": kept}
        return given


def evidence_of(hearing: MaskHearing) -> MaskEvidence:
    """The judged rows of all rounds, with the choices behind them where people chose."""
    contests = Contests.together([contests_in(judged, hearing.states.scores) for judged in hearing.judged])
    chosen = hearing.states.choices
    if chosen is None:
        return MaskEvidence(contests)
    is_first = contests.attacker == hearing.keys[contests.question, 1]
    return MaskEvidence(contests, Choices(chosen, is_first))
