"""Line 18 of Algorithm 1: what is asked about the selected images, what is true of them, and who agrees with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competition.judged import Ballot, Judged
from dissensus.competition.task import Agenda, Hearing, States, counted_states, ids_of, numbered
from dissensus.discrepancy.masks import agreements
from dissensus.errors import StudyError
from dissensus.inquiry import Answers, Questions, Valued, Wording
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
"""How much a choice says for the first model."""


@dataclass(frozen=True, kw_only=True)
class MaskStates(States):
    """What became of every image, or of every two predictions of one."""

    drawings: tuple[Drawings, ...] = ()
    """By image, where people drew."""


@dataclass(frozen=True, kw_only=True)
class MaskScores(MaskStates):
    """With how well every model agrees with people, 0 to 1; read only where `known` is true."""

    scores: Float[Array, "q M"]
    known: Bool[Array, "q M"]
    truths: Maps | None = None
    """What people drew, where they did."""
    stretched: int = 0
    """Images of which a mask has other proportions."""
    choices: Valued | None = None
    """How much everybody's choice says for the first model, 0 to 1, where people chose."""


MaskHearing = Hearing[MaskSelection, MaskScores]
"""With scores, as a ranking needs it."""


def mask_ballot(selection: MaskSelection, numbers: Int[Array, " Q"], k: int) -> Ballot[MaskSelection]:
    """A round as people meet it: one image a row, and k rows of each category that count."""
    return Ballot(selection, numbers[:, None], numbers, k)


def mask_questions(
    settings: TruthSettings, models: Sequence[str], rounds: Sequence[Round[MaskSelection]]
) -> Agenda[MaskSelection]:
    """What is in every image, or which of two predictions of it is better; each once, however many duels need it.

    A key is the item and the two models whose predictions are compared, the one that came first being first; both are
    −1 where the truth is asked for.
    """
    if rounds and settings.prefill not in ("", *models):
        raise StudyError(f"judge.prefill is '{settings.prefill}': it is one of {', '.join(models)}")
    keys, rows = numbered([_keys(found.selection, settings.question == "choice")[:, None, :] for found in rounds])
    ids = ids_of(rounds)
    keys = keys.reshape(-1, 3)
    names = [ids[item] for item in keys[:, 0].tolist()]
    groups = _drawn(settings, models, names) if settings.question == "mask" else [_chosen(models, keys, names)]
    ballots = [
        mask_ballot(found.selection, numbers[:, 0], found.settings["k"])
        for found, numbers in zip(rounds, rows, strict=True)
    ]
    return Agenda(groups, keys, tuple(ballots), ids)


def mask_states(agenda: Agenda[MaskSelection], answers: Answers, settings: TruthSettings) -> MaskStates:
    """What became of every image, before anybody's map is compared with what people drew."""
    if settings.question == "mask":
        drawings = drawings_in(answers, len(agenda))
        return MaskStates(state=drawing_states(drawings, settings), drawings=tuple(drawings))
    return MaskStates(state=counted_states(agenda, answers, "choice", settings))


def scored_masks(work: Workspace[MaskSettings], hearing: Hearing[MaskSelection, MaskStates]) -> MaskScores:
    """The states with how well every model agrees with what people drew, or how many people chose it."""
    if work.settings.judge.question == "choice":
        return _by_choice(hearing)
    states, items = hearing.states, hearing.keys[:, 0]
    maps = [MapColumn(work.folder, name).at(items) for name in hearing.models]
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
    scores, known = agreements(maps, truths, len(work.classes), hearing.rounds[-1].settings["measure"])
    # people who differ on every pixel leave no truth: they are not asked again, and no reserve comes for it
    state = np.where((states.state == JUDGED) & ~known.any(axis=1), SCREENED_OUT, states.state)
    return MaskScores(
        state=state, drawings=states.drawings, scores=scores, known=known, truths=truths, stretched=stretched
    )


def contests_in(judged: Judged[MaskSelection], scores: Float[Array, "q M"]) -> Contests:
    """How well both models did on each row that is decided."""
    rows = np.flatnonzero(judged.decided)
    chosen, question = judged.selection.take(rows), judged.ballot.questions[rows, 0]
    return Contests(
        attacker=chosen.attacker,
        defender=chosen.defender,
        category=chosen.category,
        question=question,
        attacker_score=scores[question, chosen.attacker],
        defender_score=scores[question, chosen.defender],
        weight=np.ones(len(rows)),
    )


def doubts(settings: TruthSettings, hearing: MaskHearing) -> tuple[str, ...]:
    """What is doubtful about the masks: what the second round has not looked at, or found wrong, and who began them."""
    states, words = hearing.states, []
    found = [states.drawings[number] for number in hearing.asked] if states.drawings else []
    if waiting := sum(one.awaits_correction for one in found):
        masks, until = ("1 mask has", "does not count until it is")
        if waiting > 1:
            masks, until = f"{waiting:,} masks have", "do not count until they are"
        words.append(f"{masks} errors that somebody marked, and {until} corrected.")
    if states.stretched:
        words.append(
            f"Masks of {_images(states.stretched)} have other proportions than the image, and were stretched to it."
        )
    if contradictory := sum(states.state[number] == SCREENED_OUT for number in hearing.asked):
        words.append(f"On {_images(contradictory)} people agree on no pixel: what they drew there does not count.")
    begun = [began_from(settings, hearing.models, said.wording) for one in found for said in one.masks]
    words += [
        f"{begun.count(name):,} of the masks were begun from the map of {name}, which leads people to agree with it."
        for name in dict.fromkeys(begun)
        if name
    ]
    judged = [one for number, one in zip(hearing.asked, found, strict=bool(found)) if states.state[number] == JUDGED]
    if settings.check and (unchecked := sum(not one.is_checked for one in judged)):
        masks = "1 mask" if unchecked == 1 else f"{unchecked:,} masks"
        words.append(f"Nobody but their author has looked at {masks} that count.")
    return tuple(words)


def began_from(settings: TruthSettings, models: Sequence[str], wording: int) -> str:
    """The model whose map a drawing began with, by the wording of its question; mostly nobody's."""
    return [settings.prefill, *_other_beginnings(settings, models)][wording]


def faulty(hearing: Hearing[MaskSelection, MaskStates]) -> list[str]:
    """Images in whose masks somebody marked errors, corrected by now or not."""
    return [
        hearing.item_ids[int(hearing.keys[number, 0])]
        for number in hearing.asked
        if any(one.code == FAULTY for one in hearing.states.drawings[number].checks.values())
    ]


def truth_at(states: MaskScores, number: int) -> Array | None:
    """What people drew of an image; None where nobody did."""
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
    """The drawing of every image; its correction, and its check. A drawing may be begun from any model's map."""
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
    """Which of two models' predictions is better; people who write files may name them the other way round."""
    sides = [(models[first], models[second]) for _, first, second in keys.tolist()]

    def text(item: str, first: str, second: str) -> str:
        return Question(kind="choice", body={"item": item, "first": first, "second": second}).text

    texts = [text(name, one, other) for name, (one, other) in zip(names, sides, strict=True)]
    turned = [text(name, other, one) for name, (one, other) in zip(names, sides, strict=True)]
    return Questions("choice", texts, (Wording(turned, is_turned=True),))


def _by_choice(hearing: Hearing[MaskSelection, MaskStates]) -> MaskScores:
    """The share of people who chose each of two predictions."""
    count, choices = len(hearing.agenda), hearing.answers.valued(FOR_FIRST.get)
    counted = np.bincount(choices.question, minlength=count)
    share = np.bincount(choices.question, choices.value, count) / np.maximum(counted, 1)
    scores, known = np.zeros((count, len(hearing.models))), np.zeros((count, len(hearing.models)), bool)
    every, first, second = np.arange(count), hearing.keys[:, 1], hearing.keys[:, 2]
    scores[every, first], scores[every, second] = share, 1 - share
    known[every, first] = known[every, second] = counted > 0
    return MaskScores(state=hearing.states.state, scores=scores, known=known, choices=choices)


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count:,} images"
