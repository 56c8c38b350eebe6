"""report: which models falsify which others, and on which images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.backends import Unreadable, read_image
from dissensus.competition.attacks import other_methods, other_orders
from dissensus.competition.reporting import about_attacks, attack_duels, model_settings, round_settings, under
from dissensus.competition.standings import Method
from dissensus.engines.local import chunks
from dissensus.predictions.maps import map_at
from dissensus.records import BACKGROUND, JUDGED, AttackMatrices, MaskSelection, Rankings
from dissensus.report.data import AttackDuel, ClassBeside
from dissensus.report.masks.data import MasksReport, ShownAttack, ShownImage
from dissensus.report.pictures import data_uri, picture_side
from dissensus.report.wording import counted
from dissensus.steps.beside import classes_beside
from dissensus.steps.workspace import Workspace
from dissensus.store.rounds import Round
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.drawings import Drawings
from dissensus.tasks.masks.failing import mask_failures
from dissensus.tasks.masks.judging import MaskEvaluation, truth_at
from dissensus.tasks.masks.overlays import map_uri
from dissensus.tasks.masks.scales import shares
from dissensus.tasks.masks.sensitivity import by_other_measures
from dissensus.tasks.masks.settings import MaskSettings
from dissensus.tasks.masks.standings import evidence_of

SIDE = 256
"""Longer side of a map in the report, in pixels."""
PICTURED = 600
"""Maximum number of images shown in the report: with more, it would be too large to open."""


def masks_report(
    work: Workspace[MaskSettings], evaluation: MaskEvaluation, rankings: Rankings, method: Method
) -> MasksReport:
    """The contents of the report, from the study alone."""
    settings, evidence = work.settings, evidence_of(evaluation)
    matrices = evidence.matrices(len(evaluation.models), method)
    by_method, unranked = other_orders(other_methods(evidence, method), evaluation.models, "images")
    by_measure, unmeasured = by_other_measures(work, evaluation, method)
    items = _items_by_turn(evaluation)
    scored, scores, associated = _scores(evaluation, items)
    return MasksReport(
        **about_attacks(
            work, evaluation, rankings, matrices, *(words for found in evaluation.rounds for words in found.words)
        ),
        classes=work.classes.names,
        question=settings.judge.question,
        measure=evaluation.rounds[-1].settings["measure"],
        images=_images(work, evaluation, items),
        duels=_duels(evaluation, matrices, {item: place for place, item in enumerate(items)}),
        scores=scores,
        scored=scored,
        associated=associated,
        selected=sum(int((~found.selection.is_reserve).sum()) for found in evaluation.rounds),
        settings=_settings(work, evaluation) | unranked | unmeasured,
        by_method=by_method,
        by_measure=by_measure,
        failures=mask_failures(work, evaluation),
        beside=_beside(work, evaluation, rankings.aggressiveness.standings[0].model),
    )


def _beside(
    work: Workspace[MaskSettings], evaluation: MaskEvaluation, model: str
) -> tuple[ClassBeside[ShownImage], ...]:
    """Ordinary images of the categories of most attacks; in those of the pool, `model` sees the category.

    Its share of the pixels is as it has to be in the latest selection.
    """
    chosen = [judged.selection.take(judged.active) for judged in evaluation.judged]
    column, allowed = MapColumn(work.folder, model), evaluation.rounds[-1].about["scales"]

    def items_of(labels: Sequence[int]) -> dict[int, Int[Array, " n"]]:
        found: dict[int, list[Array]] = {label: [] for label in labels}
        for rows in chunks(work.size, MAP_GROUP):
            share = shares(column.group(rows.start // MAP_GROUP), len(work.classes))
            for label in labels:
                low, high = allowed.get(work.classes.names[label], (0, 1))
                of_label = share[:, label]
                found[label].append(
                    rows.start + np.flatnonzero((of_label > 0) & (low <= of_label) & (of_label <= high))
                )
        return {label: np.concatenate(parts) for label, parts in found.items()}

    def shown(name: str, uri: str, _: bool, place: int | None) -> ShownImage:
        if place is None:
            return ShownImage(name, uri, None, {}, ())
        labels = map_at(column.at(np.array([place])), 0)
        return ShownImage(name, uri, None, {model: map_uri(labels, SIDE)}, _labels([labels]))

    limits = ", in a share of the pixels that the selection allows" if allowed else ""
    return classes_beside(
        work,
        pairs=[pair for one in chosen for pair in zip(one.category.tolist(), one.item.tolist(), strict=True)],
        selected=evaluation.item_ids,
        items_of=items_of,
        source=lambda count: f"at random from {counted(count, 'image')} in which {model} sees this category{limits}",
        shown=shown,
    )


def _items_by_turn(evaluation: MaskEvaluation) -> list[int]:
    """Items of the active rows, least concordant first: if there are too many, only the first are shown."""
    least: dict[int, float] = {}
    for one in evaluation.judged:
        chosen = one.selection.take(one.active)
        for item, value in zip(chosen.item.tolist(), chosen.concordance.tolist(), strict=True):
            least[item] = min(value, least.get(item, np.inf))
    return sorted(least, key=lambda item: (least[item], item))


def _images(work: Workspace[MaskSettings], evaluation: MaskEvaluation, items: Sequence[int]) -> tuple[ShownImage, ...]:
    """The images with the ground truth and the models' maps; pictures only for the first `PICTURED`."""
    shown = list(items[:PICTURED])
    columns = {name: MapColumn(work.folder, name).at(np.array(shown, np.int64)) for name in evaluation.models}
    uris = dict(zip(shown, work.pool.uris(shown), strict=True))
    truths = _truths(evaluation)
    needed = _models_of(evaluation)
    made = []
    for place, item in enumerate(items):
        name = evaluation.item_ids[item]
        if place >= len(shown):
            made.append(ShownImage(name, None, None, {}, ()))
            continue
        truth = truths.get(item)
        maps = {model: map_at(columns[model], place) for model in needed[item] if columns[model].heights[place]}
        made.append(
            ShownImage(
                item=name,
                photo=_photo(uris[item], picture_side(len(shown))),
                truth=None if truth is None else map_uri(truth, SIDE),
                maps={model: map_uri(labels, SIDE) for model, labels in maps.items()},
                labels=_labels([*maps.values(), *([] if truth is None else [truth])]),
            )
        )
        work.progress("pictures", place + 1, len(shown))
    return tuple(made)


def _photo(uri: str | None, side: int) -> str | None:
    image = Unreadable("no path") if uri is None else read_image(uri)
    return None if isinstance(image, Unreadable) else data_uri(image, side)[0]


def _labels(maps: Sequence[Array]) -> tuple[int, ...]:
    return tuple(sorted({int(label) for one in maps for label in np.unique(one)} - {BACKGROUND}))


def _truths(evaluation: MaskEvaluation) -> dict[int, Array]:
    found = {int(item): truth_at(evaluation.states, number) for number, item in enumerate(evaluation.keys[:, 0])}
    return {item: truth for item, truth in found.items() if truth is not None}


def _models_of(evaluation: MaskEvaluation) -> dict[int, list[str]]:
    """Models whose maps are shown for each image: all if there is ground truth, else those of its duels."""
    if evaluation.states.truths is not None:
        return {int(item): evaluation.models for item in evaluation.keys[:, 0]}
    found: dict[int, list[str]] = {}
    for item, *pair in evaluation.keys.tolist():
        known = found.setdefault(int(item), [])
        known += [evaluation.models[model] for model in pair if evaluation.models[model] not in known]
    return found


def _duels(
    evaluation: MaskEvaluation, matrices: AttackMatrices, places: Mapping[int, int]
) -> tuple[AttackDuel[ShownAttack], ...]:
    shown: dict[tuple[int, int], list[ShownAttack]] = {}
    scores = evaluation.states.scores
    for judged in evaluation.judged:
        chosen = judged.selection
        for row in np.flatnonzero(judged.active).tolist():
            number = int(judged.round_questions.questions[row, 0])
            is_judged = judged.state[number] == JUDGED
            shown.setdefault((int(chosen.attacker[row]), int(chosen.defender[row])), []).append(
                ShownAttack(
                    category=int(chosen.category[row]),
                    image=places[int(chosen.item[row])],
                    concordance=float(chosen.concordance[row]),
                    share=float(chosen.share[row]),
                    attacker_score=float(scores[number, chosen.attacker[row]]) if is_judged else None,
                    defender_score=float(scores[number, chosen.defender[row]]) if is_judged else None,
                    answers=_answers(evaluation, number, int(chosen.attacker[row])),
                )
            )
    return attack_duels(shown, evaluation.models, matrices, lambda one: (one.category, one.concordance))


def _answers(evaluation: MaskEvaluation, number: int, attacker: int) -> str:
    """How an image was judged, in words."""
    if evaluation.states.drawings:
        return _drawn(evaluation.states.drawings[number])
    choices = evaluation.states.choices
    assert choices is not None, "people drew, or they chose"
    value = choices.value[choices.question == number]
    if len(value) == 0:
        return ""
    for_attacker = value if evaluation.keys[number, 1] == attacker else 1 - value
    return f"{for_attacker.sum():g} of {len(value)} chose the attacker"


def _drawn(found: Drawings) -> str:
    if not found.masks:
        return ""
    people = "drawn" if len(found.masks) == 1 else f"drawn by {len(found.masks)} people"
    if found.awaits_correction:
        return f"{people}, awaiting correction"
    corrected = found.corrected is not None and found.newest is found.corrected
    return people + (", corrected" if corrected else ", checked" if found.is_checked else "")


def _scores(
    evaluation: MaskEvaluation, items: Sequence[int]
) -> tuple[tuple[int, ...], Array | None, Bool[Array, "I M"] | None]:
    """The images with ground truth, every model's score on them, and the models for whose duels they were selected."""
    if evaluation.states.truths is None:
        return (), None, None
    states, place = evaluation.states, {item: number for number, item in enumerate(items)}
    is_whole = (states.state == JUDGED) & states.known.all(axis=1)
    rows = [n for n in np.flatnonzero(is_whole).tolist() if int(evaluation.keys[n, 0]) in place]
    associated = np.zeros((len(evaluation.question_set), len(evaluation.models)), bool)
    for judged in evaluation.judged:
        question = judged.round_questions.questions[judged.active, 0]
        associated[question, judged.selection.attacker[judged.active]] = True
        associated[question, judged.selection.defender[judged.active]] = True
    chosen: Int[Array, " I"] = np.array(rows, np.int64)
    scored = tuple(place[int(item)] for item in evaluation.keys[chosen, 0])
    return scored, states.scores[chosen], associated[chosen]


def _settings(work: Workspace[MaskSettings], evaluation: MaskEvaluation) -> dict[str, str]:
    """All settings that the numbers in the report depend on."""
    settings = work.settings
    shown = round_settings(evaluation.rounds, settings.judge.model_dump(), _text, _shares)
    return shown | under("rank", settings.rank.model_dump(), _text) | model_settings(work)


def _shares(found: Round[MaskSelection]) -> dict[str, str]:
    ranges = ", ".join(f"{name} {low:.3f}–{high:.3f}" for name, (low, high) in found.about["scales"].items())
    return {"allowed shares of the pixels": ranges or "all"}


def _text(value: object) -> str:
    return "none" if value is None else str(value)
