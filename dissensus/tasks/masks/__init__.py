"""MAD for segmentation models: Algorithms 1 and 2 of the paper.

* `predictions`, lines 2–4: all models on all images
* `selecting`, lines 5–13: who attacks whom, the concordance of two maps, the scale constraint (`scales`), top-K;
  `groups` says which categories have no images, and why
* `judging` and `drawings`, line 18: the ground truth of the images, with reserves for those that cannot be judged
* `sensitivity`, section 4.3.1: the same images and masks, ranked under other measures
* `standings`, line 19: the ratios in Eq. 3 and 5; `competition.attacks` turns them into two global rankings (line 20)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.backends import MapPreprocess
from dissensus.competition.attacks import rankings_of
from dissensus.competition.examining import Examination, Trial
from dissensus.competition.ranking import method_of
from dissensus.competition.task import Evaluation, QuestionSet, Task
from dissensus.inquiry import Answers
from dissensus.predictions.maps import map_at
from dissensus.records import JUDGED, MOST_CLASSES, Failures, MaskSelection, Question, Rankings, Record
from dissensus.report.masks.page import masks_page
from dissensus.report.page import Page
from dissensus.report.predictions import WordedPrediction
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.masks.browsing import MaskCatalogue
from dissensus.tasks.masks.columns import MapColumn
from dissensus.tasks.masks.drawings import check_question, drawings_in, mask_question
from dissensus.tasks.masks.failing import mask_failures
from dissensus.tasks.masks.judging import (
    MaskEvaluation,
    MaskScores,
    MaskStates,
    doubts,
    faulty,
    mask_questions,
    mask_states,
    scored_masks,
)
from dissensus.tasks.masks.overlays import Overlays, material_of
from dissensus.tasks.masks.predictions import MaskSource
from dissensus.tasks.masks.reporting import masks_report
from dissensus.tasks.masks.sanity import examined_maps, map_trial, maps_in_words
from dissensus.tasks.masks.scales import KEPT, keep_scales
from dissensus.tasks.masks.selecting import MaskSelector, recorded_settings
from dissensus.tasks.masks.settings import MASKS, MaskSettings
from dissensus.tasks.masks.standings import contradictions, evidence_of, likeness


class OpenImage(Record):
    """'What is where in ITEM?', or 'which of two predictions is better?'."""

    kind: str
    item: str
    first: str | None
    second: str | None
    answers: int


class Masks(Task[MaskSelection, MaskScores]):
    """A competition of segmentation models."""

    name, noun = "masks", "images"
    settings, template = MaskSettings, MASKS
    usual_classes = "voc"
    most_classes = MOST_CLASSES
    selection, source, selecting = MaskSelection, MaskSource, MaskSelector
    catalogue = MaskCatalogue
    preprocess = MapPreprocess
    kept_files = (KEPT,)
    short = "{duels} no image"
    frame = (
        '# fit = "stretch"           # stretch or letterbox: both show the whole image\n'
        '# labels = "voc"            # meaning of the outputs of a model with other classes'
    )
    work: Workspace[MaskSettings]

    def predictions(self, model: str, only_first: bool = False) -> dict[str, Any]:
        """The map of every item as a matrix of class numbers; None where there is none."""
        maps = MapColumn(self.work.folder, model).at(np.arange(self.work.size))
        found = [map_at(maps, place) if maps.heights[place] else None for place in range(self.work.size)]
        return {"map": [None if labels is None else labels.tolist() for labels in found]}

    def wanted(self) -> dict[str, Any]:
        return recorded_settings(self.work)

    def predictions_in_words(self, models: list[str], items: Int[Array, " n"]) -> list[list[WordedPrediction]]:
        """The different predictions for each of some items in words, with the models that make them."""
        return maps_in_words(self.work, models, items)

    def examined(self, models: list[str]) -> Examination:
        """What the models predict, and what looks wrong about it."""
        return examined_maps(self.work, models)

    def trial(self, model: str, peers: Sequence[str]) -> Trial:
        """How well a network would agree with its peers if it had other settings."""
        return map_trial(self.work, model, peers)

    def question_set(self, models: Sequence[str], rounds: Sequence[Round[MaskSelection]]) -> QuestionSet[MaskSelection]:
        """Ask what is in every image, or which of two predictions is better."""
        return mask_questions(self.work.settings.judge, models, rounds)

    def states(self, question_set: QuestionSet[MaskSelection], answers: Answers) -> MaskStates:
        return mask_states(question_set, answers, self.work.settings.judge)

    def weighed(self, evaluation: Evaluation[MaskSelection, MaskStates]) -> MaskEvaluation:
        """The evaluation with every model's agreement with annotators."""
        return evaluation.with_states(scored_masks(self.work, evaluation), self.work.settings.judge.share)

    def needed(
        self, question_set: QuestionSet[MaskSelection], states: MaskStates, active: Bool[Array, " q"], answers: Answers
    ) -> tuple[Bool[Array, " every"], Sequence[tuple[int, int]]]:
        """Images that count now, then their corrections and checks; nobody checks a mask they drew themselves."""
        rule, count, drawings = self.work.settings.judge, len(question_set), states.drawings
        needed = np.zeros(sum(map(len, question_set.groups)), bool)
        needed[:count] = active
        if rule.question != "mask" or not rule.check:
            return needed, ()
        # one correction and one check are enough if several people draw; with a single one, all are needed
        is_single = rule.min_answers == 1
        awaits = np.array([one.awaits_correction for one in drawings], bool)
        is_drawn = active & ((states.state == JUDGED) | awaits)
        is_corrected = np.array([one.corrected is not None and is_single for one in drawings], bool)
        is_unchecked = np.array([not one.checks or is_single for one in drawings], bool)
        needed[count : 2 * count] = is_drawn & (awaits | is_corrected)
        needed[2 * count :] = is_drawn & is_unchecked
        return needed, [(2 * count + place, person) for place, one in enumerate(drawings) for person in one.drawn]

    def weights(self, rows: MaskSelection) -> Float[Array, " Q"]:
        """All categories of a duel count alike, however many images each has (Eq. 4)."""
        number, images = np.unique(rows.group, return_inverse=True, return_counts=True)[1:]
        return 1 / images[number]

    def positions(
        self, question_set: QuestionSet[MaskSelection], states: MaskStates, numbers: Int[Array, " n"]
    ) -> Int[Array, " n"]:
        """The drawing of each image, or its correction if errors were marked."""
        awaits = np.array([one.awaits_correction for one in states.drawings], bool)
        return numbers if not len(awaits) else np.where(awaits[numbers], numbers + len(question_set), numbers)

    def rank(self, evaluation: MaskEvaluation, method: str | None) -> Rankings:
        """Rank the models as attackers and as defenders, and save the result."""
        settings, evidence = self.work.settings, evidence_of(evaluation)
        chosen = method_of(settings.rank, method)
        return rankings_of(
            self,
            evaluation,
            evidence,
            chosen,
            (*evidence.limits(settings.answers_from), *doubts(settings.judge, evaluation, settings.answers_from)),
            {"measure": evaluation.rounds[-1].settings["measure"]},
            lambda _, matrices: (*likeness(chosen), *contradictions(matrices, evaluation.models)),
        )

    def failures(self, evaluation: MaskEvaluation) -> Failures:
        return mask_failures(self.work, evaluation)

    def page(self, evaluation: MaskEvaluation, method: str | None) -> Page:
        """Rank the models and make the report."""
        rankings, chosen = self.rank(evaluation, method), method_of(self.work.settings.rank, method)
        return masks_page(masks_report(self.work, evaluation, rankings, chosen))

    def further_questions(self, evaluation: Evaluation[MaskSelection, MaskStates]) -> list[Question]:
        """The checks of masks, and the corrections of masks with marked errors."""
        if self.work.settings.judge.question != "mask" or not self.work.settings.judge.check:
            return []
        items = [evaluation.item_ids[int(evaluation.keys[number, 0])] for number in evaluation.asked]
        return [check_question(item) for item in items] + [
            mask_question(item, again=True) for item in faulty(evaluation)
        ]

    def uris(self, models: Sequence[str], question_set: QuestionSet[MaskSelection]) -> Mapping[str, str | None]:
        """Paths of the photos and of the overlays, which are made on demand."""
        places = {question_set.item_ids[item]: item for item in question_set.keys[:, 0].tolist()}
        photos = dict(zip(places, self.work.pool.uris(list(places.values())), strict=True))
        return Overlays(self.work.folder, models, photos, places)

    def context(self, question: Question, answers: Answers) -> dict[str, Any]:
        """The mask that is to be checked, or corrected, and the check that marked its errors."""
        (found,) = drawings_in(answers, 1)
        masks = {} if found.newest is None else {"mask": found.newest.id}
        return masks | ({"check": found.fault.id} if question.kind == "mask" and found.fault is not None else {})

    def material(self, uris: Overlays, question: Question, shown: dict[str, Any]) -> dict[str, Any]:
        """The mask and the errors marked in it; a model's map to start from; or the classes in two predictions."""
        return material_of(uris, question, shown, self.work.answers)

    def open_questions(self, evaluation: Evaluation[MaskSelection, Any]) -> list[OpenImage]:
        """Open questions in the order of the pool, each once, however many duels need it."""
        found = []
        for number in evaluation.open:
            item, first, second = evaluation.keys[number].tolist()
            sides = (None, None) if first < 0 else (evaluation.models[first], evaluation.models[second])
            found.append(
                OpenImage(
                    kind=self.work.settings.judge.question,
                    item=evaluation.item_ids[item],
                    first=sides[0],
                    second=sides[1],
                    answers=int(evaluation.answered[number]),
                )
            )
        return found

    def sheet_row(self, one: OpenImage) -> dict[str, Any]:
        """The question as annotators see it, with an empty answer."""
        body = {"item": one.item, "first": one.first, "second": one.second}
        question = {name: value for name, value in body.items() if value is not None}
        return {"kind": one.kind, "question": question, "annotator": "", "answer": None, "time": ""}

    def keep_select(self, given: dict[str, Any]) -> dict[str, Any]:
        """Copy a table of scales into the study, or make one from the maps of a training set."""
        if "scales" in given:
            kept = keep_scales(self.work.folder, given["scales"], self.work.classes, self.work.progress)
            return given | {"scales": kept}
        return given
