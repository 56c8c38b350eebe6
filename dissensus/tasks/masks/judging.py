"""Line 18 of Algorithm 1: the questions about the selected images, their ground truth, and each model's agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.judged import Judged, RoundQuestions
from dissensus.competition.standings import people_in_words
from dissensus.competition.task import Evaluation, QuestionSet, States, counted_states, ids_of, numbered
from dissensus.discrepancy.masks import agreements
from dissensus.errors import StudyError
from dissensus.inquiry import Answers, NumericAnswers, Questions, Wording
from dissensus.predictions.maps import map_at, maps_of
from dissensus.records import JUDGED, SCREENED_OUT, Contests, Maps, MaskSelection, Question
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.masks.columns import MapColumn
from dissensus.tasks.masks.drawings import (
    FAULTY,
    Drawings,
    check_question,
    drawing_states,
    drawings_in,
    mask_question,
)
from dissensus.tasks.masks.settings import MaskSettings, TruthSettings

FOR_FIRST = {"first": 1.0, "second": 0.0, "same": 0.5}
"""How much a choice favours the first model."""


@dataclass(frozen=True, kw_only=True)
class MaskStates(States):
    """The state of every image, or of every pair of predictions."""

    drawings: tuple[Drawings, ...] = ()
    """By image; empty if annotators choose between predictions."""


@dataclass(frozen=True, kw_only=True)
class MaskScores(MaskStates):
    """The states with every model's agreement with annotators, 0 to 1; only valid where `known` is true."""

    scores: Float[Array, "q M"]
    known: Bool[Array, "q M"]
    truths: Maps | None = None
    """Ground truth from drawn masks; None for choices."""
    stretched: int = 0
    """Number of images with a mask of a different aspect ratio."""
    choices: NumericAnswers | None = None
    """How much each choice favours the first model, 0 to 1; None if annotators draw masks."""


MaskEvaluation = Evaluation[MaskSelection, MaskScores]
"""An evaluation with scores, as a ranking needs it."""


def mask_round(selection: MaskSelection, numbers: Int[Array, " Q"], k: int) -> RoundQuestions[MaskSelection]:
    """A round as questions: one image per row, and k rows per category that count."""
    return RoundQuestions(selection, numbers[:, None], numbers, k)


def mask_questions(
    settings: TruthSettings, models: Sequence[str], rounds: Sequence[Round[MaskSelection]]
) -> QuestionSet[MaskSelection]:
    """Ask what is in every image, or which of two predictions is better; each once, however many duels need it.

    A key holds the item and the two models whose predictions are compared, in the order in which they joined; both are
    −1 if annotators draw the ground truth.
    """
    if rounds and settings.prefill not in ("", *models):
        raise StudyError(f"judge.prefill is '{settings.prefill}' in study.toml: choose one of {', '.join(models)}")
    keys, rows = numbered([_keys(found.selection, settings.question == "choice")[:, None, :] for found in rounds])
    ids = ids_of(rounds)
    keys = keys.reshape(-1, 3)
    names = [ids[item] for item in keys[:, 0].tolist()]
    groups = _drawn(settings, models, names) if settings.question == "mask" else [_chosen(models, keys, names)]
    by_round = [
        mask_round(found.selection, numbers[:, 0], found.settings["k"])
        for found, numbers in zip(rounds, rows, strict=True)
    ]
    return QuestionSet(groups, keys, tuple(by_round), ids)


def mask_states(question_set: QuestionSet[MaskSelection], answers: Answers, settings: TruthSettings) -> MaskStates:
    """The state of every image, before any model is compared with the ground truth."""
    if settings.question == "mask":
        drawings = drawings_in(answers, len(question_set))
        return MaskStates(state=drawing_states(drawings, settings), drawings=tuple(drawings))
    return MaskStates(state=counted_states(question_set, answers, "choice", settings))


def scored_masks(work: Workspace[MaskSettings], evaluation: Evaluation[MaskSelection, MaskStates]) -> MaskScores:
    """The states with every model's agreement with the ground truth, or the share of annotators who chose it."""
    if work.settings.judge.question == "choice":
        return _by_choice(evaluation)
    states, items = evaluation.states, evaluation.keys[:, 0]
    maps = [MapColumn(work.folder, name).at(items) for name in evaluation.models]
    heights, widths = (np.max([getattr(one, side) for one in maps], axis=0).tolist() for side in ("heights", "widths"))
    is_judged = (states.state == JUDGED).tolist()
    truths = maps_of(
        [
            one.truth(height, width) if judged else None
            for one, height, width, judged in zip(states.drawings, heights, widths, is_judged, strict=True)
        ]
    )
    sizes = zip(states.drawings, heights, widths, strict=True)
    stretched = sum(one.is_stretched(height, width) for one, height, width in sizes)
    scores, known = agreements(maps, truths, len(work.classes), evaluation.rounds[-1].settings["measure"])
    # annotators who disagree on every pixel leave no ground truth: nobody is asked again, and no reserve moves up
    state = np.where((states.state == JUDGED) & ~known.any(axis=1), SCREENED_OUT, states.state)
    return MaskScores(
        state=state, drawings=states.drawings, scores=scores, known=known, truths=truths, stretched=stretched
    )


def contests_in(judged: Judged[MaskSelection], scores: Float[Array, "q M"]) -> Contests:
    """The scores of both models on each decided row."""
    rows = np.flatnonzero(judged.decided)
    chosen, question = judged.selection.take(rows), judged.round_questions.questions[rows, 0]
    return Contests(
        attacker=chosen.attacker,
        defender=chosen.defender,
        category=chosen.category,
        question=question,
        attacker_score=scores[question, chosen.attacker],
        defender_score=scores[question, chosen.defender],
        weight=np.ones(len(rows)),
    )


def doubts(settings: TruthSettings, evaluation: MaskEvaluation, source: str) -> tuple[str, ...]:
    """Sentences about doubtful masks: unchecked, marked as wrong, stretched, contradictory, or started from a model.

    `source` is what answered if no person was asked.
    """
    states, words = evaluation.states, []
    found = [states.drawings[number] for number in evaluation.asked] if states.drawings else []
    if waiting := sum(one.awaits_correction for one in found):
        masks, until = ("1 mask has", "does not count until it is")
        if waiting > 1:
            masks, until = f"{waiting:,} masks have", "do not count until they are"
        words.append(f"{masks} marked errors and {until} corrected.")
    if states.stretched:
        words.append(
            f"Masks of {_images(states.stretched)} have a different aspect ratio from the image and were stretched."
        )
    if contradictory := sum(states.state[number] == SCREENED_OUT for number in evaluation.asked):
        words.append(f"On {_images(contradictory)}, annotators agree on no pixel, so their masks do not count.")
    begun = [began_from(settings, evaluation.models, said.wording) for one in found for said in one.masks]
    words += [
        f"{begun.count(name):,} of the masks were started from the map of {name}, which biases them towards it."
        for name in dict.fromkeys(begun)
        if name
    ]
    judged = [one for number, one in zip(evaluation.asked, found, strict=bool(found)) if states.state[number] == JUDGED]
    if settings.check and (unchecked := sum(not one.is_checked for one in judged)):
        were = "was" if unchecked == 1 else "were"
        words.append(f"{unchecked:,} of the masks that count {were} checked by nobody but their author.")
    drawn = np.array([(at, said.person) for at, one in enumerate(judged) for said in one.masks], int).reshape(-1, 2)
    people = people_in_words(drawn[:, 0], drawn[:, 1], "image", "drew the masks", is_merged=True, source=source)
    return (*words, *people)


def began_from(settings: TruthSettings, models: Sequence[str], wording: int) -> str:
    """The model whose map a drawing started from, by the wording of its question; '' if none."""
    return [settings.prefill, *_other_beginnings(settings, models)][wording]


def faulty(evaluation: Evaluation[MaskSelection, MaskStates]) -> list[str]:
    """Images whose masks have marked errors, corrected or not."""
    return [
        evaluation.item_ids[int(evaluation.keys[number, 0])]
        for number in evaluation.asked
        if any(one.code == FAULTY for one in evaluation.states.drawings[number].checks.values())
    ]


def truth_at(states: MaskScores, number: int) -> Array | None:
    """The ground truth of an image; None if there is none."""
    if states.truths is None or states.truths.heights[number] == 0:
        return None
    return map_at(states.truths, number)


def _keys(selection: MaskSelection, is_choice: bool) -> Int[Array, "Q 3"]:
    """(item, first model, second model) of every row."""
    none = np.full(len(selection), -1)
    first = np.minimum(selection.attacker, selection.defender) if is_choice else none
    second = np.maximum(selection.attacker, selection.defender) if is_choice else none
    return np.stack([selection.item, first, second], axis=1)


def _drawn(settings: TruthSettings, models: Sequence[str], names: Sequence[str]) -> list[Questions]:
    """The drawing, the correction and the check of every image. A drawing may start from any model's map."""
    others = [
        Wording([mask_question(name, prefill=model).text for name in names])
        for model in _other_beginnings(settings, models)
    ]
    drawn = Questions("mask", [mask_question(name, prefill=settings.prefill).text for name in names], tuple(others))
    corrected = Questions("mask", [mask_question(name, again=True).text for name in names])
    checks = [Questions("check", [check_question(name).text for name in names])] if settings.check else []
    return [drawn, corrected, *checks]


def _other_beginnings(settings: TruthSettings, models: Sequence[str]) -> list[str]:
    return [model for model in ("", *models) if model != settings.prefill]


def _chosen(models: Sequence[str], keys: Int[Array, "q 3"], names: Sequence[str]) -> Questions:
    """Which of two models' predictions is better; imported files may swap them."""
    sides = [(models[first], models[second]) for _, first, second in keys.tolist()]

    def text(item: str, first: str, second: str) -> str:
        return Question(kind="choice", body={"item": item, "first": first, "second": second}).text

    texts = [text(name, one, other) for name, (one, other) in zip(names, sides, strict=True)]
    turned = [text(name, other, one) for name, (one, other) in zip(names, sides, strict=True)]
    return Questions("choice", texts, (Wording(turned, is_swapped=True),))


def _by_choice(evaluation: Evaluation[MaskSelection, MaskStates]) -> MaskScores:
    """Scores from choices: the share of annotators who chose each prediction."""
    count, choices = len(evaluation.question_set), evaluation.answers.valued(FOR_FIRST.get)
    counted = np.bincount(choices.question, minlength=count)
    share = np.bincount(choices.question, choices.value, count) / np.maximum(counted, 1)
    scores, known = np.zeros((count, len(evaluation.models))), np.zeros((count, len(evaluation.models)), bool)
    every, first, second = np.arange(count), evaluation.keys[:, 1], evaluation.keys[:, 2]
    scores[every, first], scores[every, second] = share, 1 - share
    known[every, first] = known[every, second] = counted > 0
    return MaskScores(state=evaluation.states.state, scores=scores, known=known, choices=choices)


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count:,} images"
