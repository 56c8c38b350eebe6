"""rank: aggressiveness and resistance of models that give a map, with intervals, rank sets and their words."""

from __future__ import annotations

from collections import Counter

import numpy as np

from dissensus.competitions.mask_standings import (
    Choices,
    MaskEvidence,
    contradictions,
    limits,
    matrices_of,
    rank_contests,
)
from dissensus.competitions.two_orders import AttackMethod
from dissensus.records import Contests, Rankings
from dissensus.steps.attacks import attack_ranking, write_rankings
from dissensus.steps.masks.drawings import Said
from dissensus.steps.masks.judging import MaskHearing
from dissensus.steps.masks.predictions import require_unchanged
from dissensus.store.folder import Folder
from dissensus.store.settings import MaskSettings


def contests_of(hearing: MaskHearing) -> Contests:
    """The judged rows of all rounds."""
    parts = [judged.contests() for judged in hearing.judged]
    return Contests(*(np.concatenate([getattr(one, name) for one in parts]) for name in Contests.__dataclass_fields__))


def evidence_of(hearing: MaskHearing) -> MaskEvidence:
    """The judged rows of all rounds, with the choices behind them where people chose."""
    contests, chosen = contests_of(hearing), hearing.spoken.choices
    if chosen is None:
        return MaskEvidence(contests)
    is_first = contests.attacker == hearing.subjects.first[contests.question]
    return MaskEvidence(contests, Choices(chosen.question, chosen.person, chosen.value, is_first))


def make_mask_rankings(folder: Folder, settings: MaskSettings, hearing: MaskHearing, method: AttackMethod) -> Rankings:
    """Both rankings of all models that compete, kept under results/.

    Raises:
        RankingError: nothing is judged yet, or the method has no estimate.
        StudyError: a model's predictions are not those that its images were selected by.
    """
    require_unchanged(folder, settings, hearing.rounds)
    evidence = evidence_of(hearing)
    found = rank_contests(evidence, hearing.models, method)
    matrices = matrices_of(evidence, hearing.models, method)
    beside = (*limits(evidence), *_doubts(settings, hearing))
    parameters = {"measure": hearing.rounds[-1].settings["measure"], "judge": settings.judge.model_dump()}
    made = {
        measure: attack_ranking(folder, hearing, "images", one, beside, method, parameters)
        for measure, one in found.items()
    }
    rankings = Rankings(**made, words=contradictions(matrices, hearing.models))
    write_rankings(folder, hearing.models, rankings, matrices)
    return rankings


def _doubts(settings: MaskSettings, hearing: MaskHearing) -> tuple[str, ...]:
    """What is doubtful about the masks: what the second round has not looked at, or found wrong, and who began them."""
    words = []
    if waiting := len(hearing.awaiting_correction):
        masks, until = ("1 mask has", "does not count until it is")
        if waiting > 1:
            masks, until = f"{waiting:,} masks have", "do not count until they are"
        words.append(f"{masks} errors that somebody marked, and {until} corrected.")
    if stretched := hearing.spoken.stretched:
        images = "1 image" if stretched == 1 else f"{stretched:,} images"
        words.append(f"Masks of {images} have other proportions than the image, and were stretched to it.")
    if contradictory := hearing.contradictory:
        images = "1 image" if contradictory == 1 else f"{contradictory:,} images"
        words.append(f"On {images} people agree on no pixel: what they drew there does not count.")
    for model, count in Counter(one.begun_from for one in _counted(hearing) if one.begun_from).items():
        words.append(f"{count:,} of the masks were begun from the map of {model}, which leads people to agree with it.")
    if settings.judge.question == "mask" and settings.judge.check and (unchecked := hearing.unchecked):
        masks = "1 mask" if unchecked == 1 else f"{unchecked:,} masks"
        words.append(f"Nobody but their author has looked at {masks} that count.")
    return tuple(words)


def _counted(hearing: MaskHearing) -> list[Said]:
    """The masks that people drew of what was asked."""
    found = [hearing.spoken.drawings[number] for number in hearing.asked] if hearing.spoken.drawings else []
    return [said for one in found for said in one.masks]
