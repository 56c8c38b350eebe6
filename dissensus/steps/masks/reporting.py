"""report: who falsifies whom and on which images, on one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.backends import Unreadable, read_image
from dissensus.competitions.masks import JUDGED
from dissensus.engines.local import Progress
from dissensus.pairwise import ratio_matrices
from dissensus.predictions.maps import map_at
from dissensus.records import BACKGROUND, AttackMatrices, Classes, Rankings
from dissensus.report.masks.data import MaskDuel, MasksReportData, ShownAttack, ShownImage
from dissensus.report.pictures import data_uri
from dissensus.steps.attacks import benchmarks_of, known_cell, left_out
from dissensus.steps.masks.columns import MapColumn
from dissensus.steps.masks.drawings import Drawings
from dissensus.steps.masks.judging import MaskHearing, truth_at
from dissensus.steps.masks.overlays import map_uri
from dissensus.steps.masks.ranking import contests_of
from dissensus.steps.pooling import pool_size
from dissensus.steps.pools import open_pool
from dissensus.store.folder import Folder
from dissensus.store.settings import MaskSettings

SIDE = 256
"""Pixels of the longer side of a picture on the page."""
PICTURED = 600
"""Images whose pictures the page carries: those of more would make it too large to open."""


def masks_report(
    folder: Folder,
    settings: MaskSettings,
    classes: Classes,
    hearing: MaskHearing,
    rankings: Rankings,
    progress: Progress,
) -> MasksReportData:
    """What the page shows, from the study folder alone."""
    matrices = ratio_matrices(contests_of(hearing), len(hearing.models), settings.rank.smoothing)
    items = _items_by_turn(hearing)
    scored, scores, associated = _scores(hearing, items)
    return MasksReportData(
        title=settings.title or folder.root.resolve().name,
        models=tuple(hearing.models),
        classes=classes.names,
        aggressiveness=rankings.aggressiveness,
        resistance=rankings.resistance,
        words=rankings.words,
        matrices=matrices,
        question=settings.judge.question,
        measure=hearing.rounds[-1].settings["measure"],
        images=_images(folder, hearing, items, progress),
        duels=_duels(hearing, matrices, {item: place for place, item in enumerate(items)}),
        scores=scores,
        scored=scored,
        associated=associated,
        pool_size=pool_size(folder),
        selected=sum(int((~found.selection.is_reserve).sum()) for found in hearing.rounds),
        questions=len(hearing.asked),
        waiting=len(hearing.open),
        judgements=len(hearing.spoken.ids),
        annotators=len(hearing.spoken.people),
        settings=_settings(settings, hearing),
        notes=(
            *settings.notes,
            *left_out(hearing.exclusions),
            *(words for found in hearing.rounds for words in found.words),
        ),
        benchmarks=benchmarks_of(folder, rankings),
    )


def _items_by_turn(hearing: MaskHearing) -> list[int]:
    """Items of the active rows, those with the least concordance first: should there be too many, these are shown."""
    least: dict[int, float] = {}
    for one in hearing.judged:
        chosen = one.selection.take(one.active)
        for item, value in zip(chosen.item.tolist(), chosen.concordance.tolist(), strict=True):
            least[item] = min(value, least.get(item, np.inf))
    return sorted(least, key=lambda item: (least[item], item))


def _images(folder: Folder, hearing: MaskHearing, items: Sequence[int], progress: Progress) -> tuple[ShownImage, ...]:
    """The images with what everybody says of them; pictures only of the first so many."""
    shown = list(items[:PICTURED])
    columns = {name: MapColumn(folder, name).at(np.array(shown, np.int64)) for name in hearing.models}
    uris = dict(zip(shown, open_pool(folder).uris(shown), strict=True))
    truths = _truths(hearing)
    needed = _models_of(hearing)
    made = []
    for place, item in enumerate(items):
        name = hearing.subjects.ids[item]
        if place >= len(shown):
            made.append(ShownImage(name, None, None, {}, ()))
            continue
        truth = truths.get(item)
        maps = {model: map_at(columns[model], place) for model in needed[item] if columns[model].heights[place]}
        made.append(
            ShownImage(
                item=name,
                photo=_photo(uris[item]),
                truth=None if truth is None else map_uri(truth, SIDE),
                maps={model: map_uri(labels, SIDE) for model, labels in maps.items()},
                labels=_labels([*maps.values(), *([] if truth is None else [truth])]),
            )
        )
        progress("pictures", place + 1, len(shown))
    return tuple(made)


def _photo(uri: str | None) -> str | None:
    image = Unreadable("no path") if uri is None else read_image(uri)
    return None if isinstance(image, Unreadable) else data_uri(image, SIDE)[0]


def _labels(maps: Sequence[Array]) -> tuple[int, ...]:
    return tuple(sorted({int(label) for one in maps for label in np.unique(one)} - {BACKGROUND}))


def _truths(hearing: MaskHearing) -> dict[int, Array]:
    found = {int(item): truth_at(hearing.spoken, number) for number, item in enumerate(hearing.subjects.items)}
    return {item: truth for item, truth in found.items() if truth is not None}


def _models_of(hearing: MaskHearing) -> dict[int, list[str]]:
    """Whose maps of an image are shown: of all models where there is a truth to falsify them, else of its duels."""
    if hearing.spoken.truths is not None:
        return {int(item): hearing.models for item in hearing.subjects.items}
    found: dict[int, list[str]] = {}
    for item, *pair in zip(hearing.subjects.items, hearing.subjects.first, hearing.subjects.second, strict=True):
        known = found.setdefault(int(item), [])
        known += [hearing.models[model] for model in pair if hearing.models[model] not in known]
    return found


def _duels(hearing: MaskHearing, matrices: AttackMatrices, places: Mapping[int, int]) -> tuple[MaskDuel, ...]:
    shown: dict[tuple[int, int], list[ShownAttack]] = {}
    for judged in hearing.judged:
        chosen = judged.selection
        for row in np.flatnonzero(judged.active).tolist():
            number = int(judged.row_question[row])
            is_judged = judged.state[number] == JUDGED
            shown.setdefault((int(chosen.attacker[row]), int(chosen.defender[row])), []).append(
                ShownAttack(
                    category=int(chosen.category[row]),
                    image=places[int(chosen.item[row])],
                    concordance=float(chosen.concordance[row]),
                    share=float(chosen.share[row]),
                    attacker_score=float(judged.attacker_score[row]) if is_judged else None,
                    defender_score=float(judged.defender_score[row]) if is_judged else None,
                    answers=_answers(hearing, number, int(chosen.attacker[row])),
                )
            )
    return tuple(
        MaskDuel(
            attacker=hearing.models[attacker],
            defender=hearing.models[defender],
            attacks=tuple(sorted(attacks, key=lambda one: (one.category, one.concordance))),
            aggressiveness=known_cell(matrices.aggressiveness, matrices.attacked, attacker, defender),
            resistance=known_cell(matrices.resistance, matrices.defended, defender, attacker),
        )
        for (attacker, defender), attacks in shown.items()
    )


def _answers(hearing: MaskHearing, number: int, attacker: int) -> str:
    """Who judged it and how, in words."""
    if hearing.spoken.drawings:
        return _drawn(hearing.spoken.drawings[number])
    choices = hearing.spoken.choices
    assert choices is not None, "people drew, or they chose"
    value = choices.value[choices.question == number]
    if len(value) == 0:
        return ""
    for_attacker = value if hearing.subjects.first[number] == attacker else 1 - value
    return f"{for_attacker.sum():g} of {len(value)} chose the attacker"


def _drawn(found: Drawings) -> str:
    if not found.masks:
        return ""
    people = "drawn" if len(found.masks) == 1 else f"drawn by {len(found.masks)} people"
    if found.awaits_correction:
        return f"{people}, waits for a correction"
    corrected = found.corrected is not None and found.newest is found.corrected
    return people + (", corrected" if corrected else ", checked" if found.is_checked else "")


def _scores(
    hearing: MaskHearing, items: Sequence[int]
) -> tuple[tuple[int, ...], Array | None, Bool[Array, "I M"] | None]:
    """The images with a truth, every model's score on them, and for whose duels they were selected."""
    if hearing.spoken.truths is None:
        return (), None, None
    place = {item: number for number, item in enumerate(items)}
    is_whole = (hearing.spoken.state == JUDGED) & hearing.spoken.known.all(axis=1)
    rows = [n for n in np.flatnonzero(is_whole).tolist() if int(hearing.subjects.items[n]) in place]
    associated = np.zeros((len(hearing.subjects), len(hearing.models)), bool)
    for judged in hearing.judged:
        question = judged.row_question[judged.active]
        associated[question, judged.selection.attacker[judged.active]] = True
        associated[question, judged.selection.defender[judged.active]] = True
    chosen: Int[Array, " I"] = np.array(rows, np.int64)
    scored = tuple(place[int(item)] for item in hearing.subjects.items[chosen])
    return scored, hearing.spoken.scores[chosen], associated[chosen]


def _settings(settings: MaskSettings, hearing: MaskHearing) -> dict[str, str]:
    """Every setting that the page's numbers depend on."""
    shown: dict[str, Any] = {}
    for found in hearing.rounds:
        shown |= {f"round {found.number}: {name}": value for name, value in found.settings.items()}
        ranges = ", ".join(f"{name} {low:.3f}–{high:.3f}" for name, (low, high) in found.scales.items())
        shown[f"round {found.number}: shares of the pixels"] = ranges or "all"
    shown |= {f"judge: {name}": value for name, value in settings.judge.model_dump().items()}
    shown |= {f"rank: {name}": value for name, value in settings.rank.model_dump().items()}
    for name, model in settings.models.items():
        shown[f"model {name}"] = f"{model.backend}:{model.target}"
        if preprocess := settings.preprocess | model.preprocess:
            shown[f"model {name}: preprocess"] = ", ".join(f"{key} = {value}" for key, value in preprocess.items())
    return {name: "none" if value is None else str(value) for name, value in shown.items()}
