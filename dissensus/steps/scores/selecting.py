"""select: in every level of every defender the pair of items that each attacker tells apart most."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.duels import attacks_of
from dissensus.competitions.scores import (
    Selecting,
    even_levels,
    level_cells,
    level_counts,
    most_different,
    quantile_cells,
    require_levels,
)
from dissensus.engines.local import Progress, chunks, read_ahead
from dissensus.errors import SelectionError, StudyError
from dissensus.predictions.scale import Scale
from dissensus.records import PairSelection
from dissensus.selection import Cells, Extremes, Pairs
from dissensus.steps.planning import competing, refuse_changed
from dissensus.steps.pooling import pool_size, pool_stamp
from dissensus.steps.pools import open_pool
from dissensus.steps.predicting import check_same_pool
from dissensus.steps.scores.predictions import require_unchanged
from dissensus.steps.scores.scaling import SAMPLE, CommonScale, ScoreColumn, common_scale, scale_of, scale_stamp
from dissensus.store.folder import Folder
from dissensus.store.pair_rounds import PairRound, read_pair_rounds, write_pair_round
from dissensus.store.settings import ScoreSettings
from dissensus.store.tables import ROW_GROUP

CHUNK = 4 * ROW_GROUP
"""Items that are scanned at once. The pass over ten million items takes a second: it begins anew when it is killed."""


FOUND = ("width", "low", "high")
"""Settings that follow from the ratings where nobody says otherwise."""


@dataclass(frozen=True)
class Plan:
    """A round to be selected: its models (newcomers last), attacks, settings and the pairs taken before."""

    number: int
    models: list[str]
    wanted: Bool[Array, "M M"]
    settings: dict[str, Any]
    taken: Int[Array, "T 4"] | None
    """(attacker, defender, low, high)."""


def select_pairs(folder: Folder, settings: ScoreSettings, again: bool, progress: Progress) -> int:
    """Number of the round that holds the selection: a new one, or the last where nothing is left to select.

    All attacks at first; later only those of models that came since, or with `again` further pairs for all attacks.
    Earlier rounds are never touched.

    Raises:
        SelectionError: fewer than two models, or no pair that may be selected.
        StudyError: other settings than those of the rounds there are, or predictions that changed.
        PredictionError: a model cannot be brought on the common scale.
    """
    plan = _plan(folder, settings, again)
    if plan is None:
        return folder.rounds()[-1]
    require_unchanged(folder, settings, read_pair_rounds(folder)[1])
    stamps = check_same_pool(folder, plan.models)
    better = {name: settings.models[name].better for name in plan.models}
    columns = [ScoreColumn(folder, settings, name) for name in plan.models]
    _refuse_identical(columns, [(stamps[name]["content"], better[name]) for name in plan.models])
    scale = _scale(folder, settings, plan)
    resolved = _resolved(plan.settings, scale)
    ends = even_levels(*(resolved[name] for name in ("levels", "width", "low", "high")))
    selection, skipped = _selected(columns, scale.scales, ends, plan, pool_size(folder), progress)
    items = sorted({*selection.low.tolist(), *selection.high.tolist()})
    predictions = {name: stamps[name]["content"] for name in plan.models}
    about = {
        "settings": resolved,
        "models": plan.models,
        "duels": [[plan.models[a], plan.models[d]] for a, d in np.argwhere(plan.wanted).tolist()],
        "inputs": {"pool": pool_stamp(folder), "predictions": predictions, "better": better},
        "scales": scale.parameters(plan.models),
        "levels": _ends(plan.settings, ends),
        "skipped": skipped,
    }
    ids = dict(zip(items, open_pool(folder).ids(items), strict=True))
    write_pair_round(folder, plan.number, selection, plan.models, ids, about)
    return plan.number


def _selected(
    columns: Sequence[ScoreColumn],
    scales: Sequence[Scale],
    ends: Float[Array, "K 2"],
    plan: Plan,
    size: int,
    progress: Progress,
) -> tuple[PairSelection, list[str]]:
    """The pairs of a round, and sentences about levels that were skipped."""
    cells = _cells(columns, scales, ends, plan.settings)
    selecting = Selecting(cells, plan.wanted, plan.settings["reserves"], plan.taken)
    extremes = _extremes(columns, selecting, size, progress)
    skipped = require_levels(level_counts(extremes, cells), plan.models, np.any(plan.wanted, axis=0))
    selection = _selection(selecting.finish(extremes), columns, scales)
    if plan.settings["case"] == "most":
        selection = most_different(selection)
    if len(selection) == 0:
        raise SelectionError("no attacker tells any two items of a level apart: widen the levels, or add other models")
    return selection, skipped


def _plan(folder: Folder, settings: ScoreSettings, again: bool) -> Plan | None:
    met, rounds = read_pair_rounds(folder)
    models = competing(folder, settings, met)
    wanted = _recorded(folder, settings)
    if not rounds:
        return Plan(1, models, attacks_of(len(models)), wanted, None)
    number = rounds[-1].number + 1
    if again:
        return Plan(number, models, attacks_of(len(models)), wanted, _taken(rounds))
    if len(models) > len(met):
        return Plan(number, models, attacks_of(len(models), len(models) - len(met)), wanted, None)
    refuse_changed(rounds[-1].number, rounds[-1].settings, wanted, "pairs", FOUND)
    return None


def _recorded(folder: Folder, settings: ScoreSettings) -> dict[str, Any]:
    if settings.select.jnd is not None and settings.select.spacing == "quantile":
        raise StudyError("levels of equal numbers of items have no grid for jnd: use --spacing even with --jnd")
    idle = [name for name in FOUND if getattr(settings.select, name) is not None]
    if idle and settings.select.spacing == "quantile":
        raise StudyError(f"levels of equal numbers of items have no {idle[0]}: take it out of [select]")
    return settings.select.model_dump() | {"scale": scale_stamp(folder, settings.scale)}


def _taken(rounds: Sequence[PairRound]) -> Int[Array, "T 4"]:
    """Attacker, defender and both items of all pairs that earlier rounds took or hold in reserve."""
    found = [found.selection for found in rounds]
    return np.concatenate([np.stack([one.attacker, one.defender, one.low, one.high], axis=1) for one in found])


def _scale(folder: Folder, settings: ScoreSettings, plan: Plan) -> CommonScale:
    """The scales of all models; those of earlier rounds by the same ratings stay as they were, so that levels do.

    After other ratings all scales of the round are new: models on different scales have no common levels.
    """
    made = common_scale(folder, settings, plan.models)
    like_now = [found for found in read_pair_rounds(folder)[1] if found.settings["scale"] == plan.settings["scale"]]
    known = {name: scale for found in like_now for name, scale in found.scales.items()}
    scales = [
        scale_of(known[name]) if name in known else scale for name, scale in zip(plan.models, made.scales, strict=True)
    ]
    return replace(made, scales=tuple(scales))


def _resolved(settings: dict[str, Any], scale: CommonScale) -> dict[str, Any]:
    """The settings with where levels lie and how wide they are, where nobody said so.

    One standard deviation of the ratings wide, within their middle 98 %; by ranks levels that touch.
    """
    if settings["spacing"] == "quantile":
        return settings | dict(zip(FOUND, (100 / settings["levels"], 0.0, 100.0), strict=True))
    low = scale.span[0] if settings["low"] is None else settings["low"]
    high = scale.span[1] if settings["high"] is None else settings["high"]
    if low >= high:
        raise SelectionError(f"levels would lie between {low:.1f} and {high:.1f}: set select.low and select.high")
    width = (high - low) / settings["levels"] if scale.spread is None else scale.spread
    width = min(width if settings["width"] is None else settings["width"], high - low)
    return settings | {"low": float(low), "high": float(high), "width": float(width)}


def _cells(
    columns: Sequence[ScoreColumn], scales: Sequence[Scale], ends: Float[Array, "K 2"], settings: dict[str, Any]
) -> Cells:
    if settings["spacing"] == "even":
        return level_cells(scales, ends, settings["jnd"])
    shares = np.linspace(0, 1, settings["levels"] + 1)
    return quantile_cells(np.stack([np.quantile(column.sample(SAMPLE), shares) for column in columns]))


def _ends(settings: dict[str, Any], ends: Float[Array, "K 2"]) -> list[list[float]]:
    if settings["spacing"] == "even":
        return [[float(low), float(high)] for low, high in ends]
    shares = np.linspace(0, 100, settings["levels"] + 1)
    return [[float(low), float(high)] for low, high in pairwise(shares)]


def _extremes(columns: Sequence[ScoreColumn], selecting: Selecting, size: int, progress: Progress) -> Extremes:
    dtype = np.result_type(*(column.dtype for column in columns))

    def load(rows: range) -> Float[Array, "M N"]:
        scores = np.empty((len(columns), len(rows)), dtype)
        for group in range(rows.start // ROW_GROUP, -(-rows.stop // ROW_GROUP)):
            start = group * ROW_GROUP - rows.start
            for model, column in enumerate(columns):
                values = column.group(group)
                scores[model, start : start + len(values)] = values
        return scores

    known: Extremes | None = None
    for rows, scores in read_ahead(load, chunks(size, CHUNK)):
        found = selecting.scan(scores, rows.start, known)
        known = found if known is None else selecting.merge(known, found)
        progress("select", rows.stop, size)
    assert known is not None, "a pool has items"
    return known


def _selection(pairs: Pairs, columns: Sequence[ScoreColumn], scales: Sequence[Scale]) -> PairSelection:
    """The pairs with what both models say of them on the common scale."""
    items, place = np.unique(np.concatenate([pairs.low, pairs.high]), return_inverse=True)
    low, high = place.reshape(2, -1)
    raw = np.stack([column.at(items) for column in columns])
    scored = np.stack([_scaled(scale, row) for scale, row in zip(scales, raw, strict=True)])
    return PairSelection(
        attacker=pairs.attacker,
        defender=pairs.defender,
        level=pairs.level,
        rank=pairs.rank,
        is_reserve=pairs.rank > 1,
        low=pairs.low,
        high=pairs.high,
        weight=pairs.weight,
        attacker_low=scored[pairs.attacker, low],
        attacker_high=scored[pairs.attacker, high],
        defender_low=scored[pairs.defender, low],
        defender_high=scored[pairs.defender, high],
    )


def _scaled(scale: Scale, scores: Float[Array, " n"]) -> Float[Array, " n"]:
    """Places on the common scale; an item that a model has no score for is in none of its pairs."""
    given = ~np.isnan(scores)
    placed = np.zeros(len(scores))
    placed[given] = scale(scores[given])
    return placed


def _refuse_identical(columns: Sequence[ScoreColumn], contents: Sequence[tuple[str, str]]) -> None:
    """Refuse models that say the same: the same scores, or in pools of a million items the same order of them."""
    known: dict[object, str] = {}
    is_small = len(columns[0]) <= SAMPLE
    for column, content in zip(columns, contents, strict=True):
        order = np.unique(column.sample(SAMPLE), return_inverse=True)[1].tobytes() if is_small else content
        for said in (content, order):
            if said in known and known[said] != column.name:
                raise SelectionError(
                    f"{known[said]} and {column.name} order all items alike: they cannot be told apart; "
                    f"take one of them out of study.toml ([models.{column.name}])"
                )
            known[said] = column.name
