"""Steps 2 and 4 to 9 of gMAD: the pair of items in each level of a defender that an attacker rates most differently."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import replace
from itertools import pairwise
from typing import Any, Self

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.competition.selector import Plan, SelectionResult, Selector, refuse_alike
from dissensus.engines.reduction import Reduction, Renumber
from dissensus.errors import SelectionError, StudyError
from dissensus.predictions.scale import Scale
from dissensus.records import PairSelection
from dissensus.selection import Cells, Extremes, Pairs, extremal_pairs, merge_extremes, scan_extremes
from dissensus.steps.workspace import Workspace
from dissensus.store.tables import ROW_GROUP
from dissensus.tasks.scores.levels import (
    even_levels,
    level_cells,
    level_counts,
    level_steps,
    most_different,
    quantile_cells,
    require_levels,
)
from dissensus.tasks.scores.scaling import SAMPLE, CommonScale, ScoreColumn, common_scale, scale_of, scale_stamp
from dissensus.tasks.scores.settings import ScoreSettings

FOUND = ("width", "low", "high")
"""Settings whose defaults follow from the ratings."""


class LevelExtremes(Reduction[Float[Array, "M N"], Extremes]):
    """The items with each attacker's lowest and highest scores in every level of every defender."""

    chunk, kept = ROW_GROUP, 4
    partial = Extremes

    def __init__(self, columns: Sequence[ScoreColumn], cells: Cells, depth: int) -> None:
        self.columns, self.cells, self.depth = columns, cells, depth
        self.dtype = np.result_type(*(column.dtype for column in columns))
        self.item_bytes = sum(column.file.bytes_of("score") for column in columns)

    def load(self, rows: range) -> Float[Array, "M N"]:
        scores = np.empty((len(self.columns), len(rows)), self.dtype)
        for model, column in enumerate(self.columns):
            scores[model] = column.group(rows.start // ROW_GROUP)
        return scores

    def scan(self, loaded: Float[Array, "M N"], first_item: int, known: Extremes | None) -> Extremes:
        return scan_extremes(loaded, first_item, self.cells, self.depth, known)

    def merge(self, one: Extremes, other: Extremes) -> Extremes:
        return merge_extremes(one, other)

    def stamp(self) -> Any:
        signs = [column.sign for column in self.columns]
        return [signs, str(self.dtype), self.cells.edges, self.cells.levels, self.cells.window, self.depth]

    def take(self, loaded: Float[Array, "M N"], rows: Int[Array, " n"]) -> Float[Array, "M n"]:
        return np.take(loaded, rows, axis=1)

    def renumbered(self, found: Extremes, renumber: Renumber) -> Extremes:
        return found.renumbered(renumber)


def depth_of(cells: Cells, reserves: int, taken: Int[Array, "T 4"] | None) -> int:
    """How many extremes to find in each cell, given that earlier rounds may have taken some of them."""
    duels = np.zeros((0, 2), np.int64) if taken is None else taken[:, :2]
    most = np.unique(duels, axis=0, return_counts=True)[1].max(initial=0)
    return cells.depth(1 + reserves, int(most))


class PairSelector(Selector[PairSelection]):
    """The selection of one round."""

    tried_up_to = 200_000
    recorded = ("pool", "predictions", "better")

    def __init__(self, work: Workspace[ScoreSettings], plan: Plan[PairSelection]) -> None:
        """Prepare the selection.

        Raises:
            SelectionError: two models rank all items in the same order.
            PredictionError: the scores of a model cannot be mapped to the common scale.
        """
        better = {name: work.settings.models[name].better for name in plan.models}
        self.columns = [ScoreColumn(work.folder, work.settings, name) for name in plan.models]
        contents = [(plan.stamps[name]["content"], better[name]) for name in plan.models]
        refuse_alike(_orders(self.columns, contents), "rank all items in the same order")
        self.scale = _scale(work, plan)
        self.taken = plan.taken_rows("attacker", "defender", "low", "high")
        self.inputs = {"better": better, "scales": self.scale.parameters(plan.models)}
        self._prepare(plan)

    def _prepare(self, plan: Plan[PairSelection]) -> None:
        self.plan, self.settings = plan, _resolved(plan.settings, self.scale)
        self.ends = even_levels(*(self.settings[name] for name in ("levels", "width", "low", "high")))
        self.cells = _cells(self.columns, self.scale.scales, self.ends, plan.settings)
        depth = depth_of(self.cells, plan.settings["reserves"], self.taken)
        self.reduction = LevelExtremes(self.columns, self.cells, depth)

    def with_settings(self, work: Workspace[Any], settings: Mapping[str, Any]) -> Self:
        """The same selection with other levels; scales take time to fit, and stay."""
        other = copy(self)
        other._prepare(replace(self.plan, settings=dict(settings)))
        return other

    @property
    def limits(self) -> str:
        """The rules that apply last."""
        fresh = ["not in an earlier round"] if self.taken is not None else []
        most = ["case most"] if self.plan.settings["case"] == "most" else []
        return ", ".join([f"levels {self.plan.settings['levels']}", *most, *fresh])

    def others(self, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Twice as many levels, and levels with equal numbers of items."""
        found = {name: self.plan.settings[name] for name in FOUND}  # defaults depend on the levels
        more = {f"levels {2 * settings['levels']}": {"levels": 2 * settings["levels"], **found}}
        equal = {"spacing quantile": {"spacing": "quantile", "jnd": None}} if settings["spacing"] == "even" else {}
        return more | equal

    def finish(self, found: Extremes) -> SelectionResult[PairSelection]:
        """The extremal pair of every attacker in every level of every defender, and its reserves."""
        plan = self.plan
        weight = level_counts(found, self.cells)
        skipped = require_levels(weight, plan.models, np.any(plan.wanted, axis=0))
        pairs = extremal_pairs(found, self.cells, plan.wanted, 1 + plan.settings["reserves"], self.taken)
        selection = _selection(pairs, self.columns, self.scale.scales)
        steps = level_steps(weight, plan.wanted, selection)
        if plan.settings["case"] == "most":
            selection = most_different(selection)
        if len(selection) == 0:
            raise SelectionError(
                "no attacker scores two items of a level differently: widen the levels, or add other models"
            )
        about = {
            "settings": self.settings,
            "models": plan.models,
            "scales": self.scale.parameters(plan.models),
            "levels": _ends(plan.settings, self.ends),
            "skipped": skipped,
        }
        return SelectionResult(selection, about, steps=steps)


def recorded_settings(work: Workspace[ScoreSettings]) -> dict[str, Any]:
    """The settings for the next round."""
    chosen = work.settings.select
    if chosen.jnd is not None and chosen.spacing == "quantile":
        raise StudyError("--jnd does not work with --spacing quantile: use --spacing even")
    idle = [name for name in FOUND if getattr(chosen, name) is not None]
    if idle and chosen.spacing == "quantile":
        raise StudyError(f"select.{idle[0]} does not apply to quantile spacing: remove it from [select] in study.toml")
    return chosen.model_dump() | {"scale": scale_stamp(work.folder, work.settings.scale)}


def _scale(work: Workspace[ScoreSettings], plan: Plan[PairSelection]) -> CommonScale:
    """The scales of all models; those of earlier rounds with the same ratings are reused, to keep their levels.

    If the ratings have changed, all scales are new: models on different scales have no common levels.
    """
    made = common_scale(work.folder, work.settings, plan.models)
    like_now = [found for found in plan.rounds if found.settings["scale"] == plan.settings["scale"]]
    known = {name: scale for found in like_now for name, scale in found.about["scales"].items()}
    scales = [
        scale_of(known[name]) if name in known else scale for name, scale in zip(plan.models, made.scales, strict=True)
    ]
    return replace(made, scales=tuple(scales))


def _resolved(settings: dict[str, Any], scale: CommonScale) -> dict[str, Any]:
    """The settings with defaults for the range and the width of levels.

    With ratings: one standard deviation wide, within the middle 98 %. With ranks: adjacent levels.
    """
    if settings["spacing"] == "quantile":
        return settings | dict(zip(FOUND, (100 / settings["levels"], 0.0, 100.0), strict=True))
    low = scale.span[0] if settings["low"] is None else settings["low"]
    high = scale.span[1] if settings["high"] is None else settings["high"]
    if low >= high:
        raise SelectionError(f"levels would start at {low:.1f} and end at {high:.1f}: set select.low below select.high")
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


def _selection(pairs: Pairs, columns: Sequence[ScoreColumn], scales: Sequence[Scale]) -> PairSelection:
    """The pairs with both models' scores on the common scale."""
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
    """Scores on the common scale; missing ones become 0, as such items are in none of the model's pairs."""
    given = ~np.isnan(scores)
    placed = np.zeros(len(scores))
    placed[given] = scale(scores[given])
    return placed


def _orders(
    columns: Sequence[ScoreColumn], contents: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, tuple[str, str] | bytes]]:
    """Each model's scores as a fingerprint and, in pools of up to a million items, their order."""
    for column, content in zip(columns, contents, strict=True):
        yield column.name, content
        if len(column) <= SAMPLE:
            yield column.name, np.unique(column.sample(SAMPLE), return_inverse=True)[1].tobytes()
