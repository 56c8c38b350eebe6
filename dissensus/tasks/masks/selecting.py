"""Lines 5 to 13 of Algorithm 1: find the images on which the maps of an attacker and a defender differ most.

One pass over all maps finds, for each of the defender's categories, the k least concordant images within its scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import astuple, replace
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float, Int
from dissensus.competition.selector import Plan, SelectionResult, Selector, refuse_alike
from dissensus.discrepancy.masks import MEASURES, concordances
from dissensus.engines.reduction import Reduction, Renumber
from dissensus.errors import PredictionError, SelectionError
from dissensus.predictions.scales import ScaleRanges
from dissensus.records import BACKGROUND, Classes, Maps, MaskSelection
from dissensus.selection import (
    CategoryTops,
    Quota,
    finish_categories,
    merge_categories,
    most_taken,
    scan_categories,
)
from dissensus.steps.pools import open_pool
from dissensus.steps.workspace import Workspace
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.groups import group_steps, require_groups
from dissensus.tasks.masks.scales import ranges_of, scales_stamp, shares
from dissensus.tasks.masks.settings import MaskSettings


class CategoryReduction(Reduction[list[Maps], CategoryTops]):
    """The least concordant images of every category of every defender."""

    chunk = MAP_GROUP
    kept = 4
    partial = CategoryTops

    def __init__(
        self,
        columns: Sequence[MapColumn],
        classes: int,
        measure: str,
        scales: Float[Array, "C 2"],
        quota: Quota,
    ) -> None:
        self.columns, self.classes, self.measure = columns, classes, measure
        self.scales, self.quota = scales, quota
        self.item_bytes = sum(column.item_bytes for column in columns)

    def load(self, rows: range) -> list[Maps]:
        loaded = [column.group(rows.start // MAP_GROUP) for column in self.columns]
        require_same_sizes(self.columns, loaded, rows.start)
        return loaded

    def scan(self, loaded: list[Maps], first_item: int, known: CategoryTops | None) -> CategoryTops:
        found = concordances(loaded, self.classes, self.measure, threads=1)  # the engine scans several chunks at a time
        share: Float[Array, "n M C"] = np.stack([shares(one, self.classes) for one in loaded], axis=1)
        compared = (found.value, found.is_comparable, found.differs, share)
        return scan_categories(*compared, first_item, self.scales, self.quota, known)

    def merge(self, one: CategoryTops, other: CategoryTops) -> CategoryTops:
        return merge_categories(one, other)

    def stamp(self) -> Any:
        return [self.classes, self.measure, self.scales, list(astuple(self.quota))]

    def take(self, loaded: list[Maps], rows: Int[Array, " n"]) -> list[Maps]:
        return [maps.take(rows) for maps in loaded]

    def renumbered(self, found: CategoryTops, renumber: Renumber) -> CategoryTops:
        return replace(found, item=renumber(found.item))

    def dump(self, found: CategoryTops) -> pa.Table:
        return super().dump(replace(found, quota=np.array(astuple(found.quota))))  # type: ignore[arg-type]

    def restore(self, table: pa.Table) -> CategoryTops:
        found = super().restore(table)
        return replace(found, quota=Quota(*np.asarray(found.quota).tolist()))


class MaskSelector(Selector[MaskSelection]):
    """The selection of one round."""

    tried_up_to = 1_000

    def __init__(self, work: Workspace[MaskSettings], plan: Plan[MaskSelection]) -> None:
        """Prepare the selection.

        Raises:
            SelectionError: two models predict the same map for every item, or earlier rounds have another measure.
        """
        self.plan, self.classes = plan, work.classes
        _refuse_other_measure(plan)
        refuse_alike(
            [(name, plan.stamps[name]["content"]) for name in plan.models], "predict the same map for every item"
        )
        columns = [MapColumn(work.folder, name) for name in plan.models]
        self.ranges = _known_ranges(plan, work.classes) or ranges_of(work, columns)
        self.taken = plan.taken_rows("attacker", "defender", "item")
        quota = Quota(plan.settings["k"], plan.settings["reserves"], most_taken(self.taken))
        self.reduction = CategoryReduction(
            columns, len(work.classes), plan.settings["measure"], self.ranges.ends, quota
        )
        self.inputs = {"scales": self.ranges.ends.tolist()}

    @property
    def limits(self) -> str:
        """The rules that apply last."""
        fresh = "" if self.taken is None else ", not in an earlier round"
        return f"k {self.plan.settings['k']}{fresh}"

    def others(self, settings: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
        """Twice as many images per category."""
        return {f"k {2 * settings['k']}": {"k": 2 * settings["k"]}}

    def finish(self, found: CategoryTops) -> SelectionResult[MaskSelection]:
        """The k images of every category of every wanted duel, and their reserves."""
        plan = self.plan
        words = require_groups(found, plan.wanted, plan.models, self.classes.names)
        selection = finish_categories(found, plan.wanted, self.taken)
        if len(selection) == 0:
            raise SelectionError("there is nothing left to select: add images to the pool, or other models")
        about = {"models": plan.models, "scales": _named_ranges(self.ranges, self.classes), "words": words}
        names = [self.classes.names[label] for label in selection.category.tolist()]
        steps = group_steps(found, plan.wanted)
        return SelectionResult(selection, about, {"category": pa.array(names, pa.string())}, steps)


def recorded_settings(work: Workspace[MaskSettings]) -> dict[str, Any]:
    """The settings for the next round."""
    chosen = work.settings.select
    if chosen.measure not in MEASURES:
        raise SelectionError(f"there is no measure '{chosen.measure}': choose one of {', '.join(MEASURES)}")
    return chosen.model_dump() | {"scales": scales_stamp(work.folder, work.settings)}


def _known_ranges(plan: Plan[MaskSelection], classes: Classes) -> ScaleRanges | None:
    """The ranges of an earlier round with the same settings: ranges from the pool stay when models join."""
    alike = [one for one in plan.rounds if one.settings["scales"] == plan.settings["scales"]]
    if not alike:
        return None
    ends, is_known = np.tile([0.0, 1.0], (len(classes), 1)), np.zeros(len(classes), bool)
    for name, found in alike[-1].about["scales"].items():
        label = classes.names.index(name)
        ends[label], is_known[label] = found, True
    return ScaleRanges(ends, is_known)


def _refuse_other_measure(plan: Plan[MaskSelection]) -> None:
    """A ranking scores all rounds by one measure: another one would change what earlier rounds mean."""
    measure = plan.settings["measure"]
    for one in plan.rounds:
        if one.settings["measure"] != measure:
            raise SelectionError(
                f"round {one.number} was selected by {one.settings['measure']}, and all rounds of a study are scored "
                f"by the same measure: set it back, or start another study for {measure}"
            )


def _named_ranges(ranges: ScaleRanges, classes: Classes) -> dict[str, list[float]]:
    return {
        classes.names[label]: ranges.ends[label].tolist()
        for label in np.flatnonzero(ranges.is_known).tolist()
        if label != BACKGROUND
    }


def require_same_sizes(columns: Sequence[MapColumn], maps: Sequence[Maps], first: int) -> None:
    """Reject maps of one item that differ in size: without an image, there is no way to tell which size is right."""
    for at in range(1, len(maps)):
        for one in range(at):
            is_there = (maps[one].heights > 0) & (maps[at].heights > 0)
            same = (maps[one].heights == maps[at].heights) & (maps[one].widths == maps[at].widths)
            if (wrong := np.flatnonzero(is_there & ~same)).size:
                place = int(wrong[0])
                (item,) = open_pool(columns[at].folder).ids([first + place])
                sizes = [f"{maps[n].heights[place]}×{maps[n].widths[place]} ({columns[n].name})" for n in (one, at)]
                raise PredictionError(
                    f"the maps of {item} differ in size, {' and '.join(sizes)}: use a pool with images, to whose size "
                    "maps are resized, or resize the maps yourself"
                )
