"""select: the images on which the maps of an attacker and a defender differ most, in one pass over all maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from io import BytesIO
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.masks import Selecting, attacks_of, require_groups
from dissensus.discrepancy.masks import MEASURES, concordances
from dissensus.engines.local import Progress, chunks, read_ahead
from dissensus.errors import PredictionError, SelectionError
from dissensus.predictions.scales import ScaleRanges
from dissensus.records import BACKGROUND, Classes, Maps, MaskSelection
from dissensus.selection import CategoryTops, Quota
from dissensus.steps.masks.columns import MAP_GROUP, MapColumn
from dissensus.steps.masks.predictions import require_unchanged
from dissensus.steps.masks.scales import ranges_of, scales_stamp, shares
from dissensus.steps.planning import competing, refuse_changed
from dissensus.steps.pooling import pool_size, pool_stamp
from dissensus.steps.pools import open_pool
from dissensus.steps.predicting import check_same_pool
from dissensus.store.folder import Folder
from dissensus.store.mask_rounds import MaskRound, read_mask_rounds, write_mask_round
from dissensus.store.parts import Parts
from dissensus.store.settings import MaskSettings

CHUNK = 4 * MAP_GROUP
"""Maps of each model that are compared before what they gave is kept."""


@dataclass(frozen=True)
class Plan:
    """A round to be selected: its models (newcomers last), attacks, settings and what was taken before."""

    number: int
    models: list[str]
    wanted: Bool[Array, "M M"]
    settings: dict[str, Any]
    taken: Int[Array, "T 3"] | None


def select_masks(folder: Folder, settings: MaskSettings, classes: Classes, again: bool, progress: Progress) -> int:
    """Number of the round that holds the selection: a new one, or the last where nothing is left to select.

    All duels at first; later only those of models that came since (Algorithm 2), or with `again` further images for
    all duels. Earlier rounds are never touched.

    Raises:
        SelectionError: fewer than two models, or no image by which any could be falsified.
        StudyError: other settings than those of the rounds there are, or predictions that changed.
        PredictionError: two maps of an item have different sizes.
    """
    if settings.select.measure not in MEASURES:
        raise SelectionError(f"there is no measure '{settings.select.measure}': it is one of {', '.join(MEASURES)}")
    plan = _plan(folder, settings, again)
    if plan is None:
        return folder.rounds()[-1]
    require_unchanged(folder, settings, read_mask_rounds(folder)[1])
    stamps = check_same_pool(folder, plan.models)
    contents = [stamps[name]["content"] for name in plan.models]
    _refuse_identical(plan.models, contents)
    columns = [MapColumn(folder, name) for name in plan.models]
    size = pool_size(folder)
    ranges = _known_ranges(folder, plan, classes) or ranges_of(folder, settings, classes, columns, size, progress)
    inputs = {
        "pool": pool_stamp(folder),
        "predictions": dict(zip(plan.models, contents, strict=True)),
        "settings": plan.settings,
        "scales": ranges.ends.tolist(),
        "duels": int(plan.wanted.sum()),
    }
    parts = Parts(folder.parts(f"select-{plan.number:03}"), f"select (round {plan.number})", inputs)
    try:
        selection, words = _selected(folder, plan, ranges, columns, classes, parts, progress)
    except (PredictionError, SelectionError):  # it would end here again, so nobody goes on with these parts
        parts.clear()
        raise
    items = sorted(set(selection.item.tolist()))
    ids = dict(zip(items, open_pool(folder).ids(items), strict=True))
    about = {
        "settings": plan.settings,
        "models": plan.models,
        "duels": [[plan.models[a], plan.models[d]] for a, d in np.argwhere(plan.wanted).tolist()],
        "inputs": {"pool": inputs["pool"], "predictions": inputs["predictions"]},
        "scales": _named_ranges(ranges, classes),
        "words": words,
    }
    write_mask_round(folder, plan.number, selection, plan.models, classes, ids, about)
    parts.clear()
    return plan.number


def _plan(folder: Folder, settings: MaskSettings, again: bool) -> Plan | None:
    met, rounds = read_mask_rounds(folder)
    models = competing(folder, settings, met)
    wanted = settings.select.model_dump() | {"scales": scales_stamp(folder, settings)}
    if not rounds:
        return Plan(1, models, attacks_of(len(models)), wanted, None)
    number = rounds[-1].number + 1
    if again:
        return Plan(number, models, attacks_of(len(models)), wanted, _taken(rounds))
    if len(models) > len(met):
        return Plan(number, models, attacks_of(len(models), len(models) - len(met)), wanted, None)
    refuse_changed(rounds[-1].number, rounds[-1].settings, wanted, "images")
    return None


def _taken(rounds: Sequence[MaskRound]) -> Int[Array, "T 3"]:
    """Attacker, defender and item of all rows that earlier rounds took or hold in reserve."""
    found = [found.selection for found in rounds]
    return np.concatenate([np.stack([one.attacker, one.defender, one.item], axis=1) for one in found])


def _known_ranges(folder: Folder, plan: Plan, classes: Classes) -> ScaleRanges | None:
    """Those of an earlier round by the same settings: what the pool says does not change with who joins."""
    alike = [one for one in read_mask_rounds(folder)[1] if one.settings["scales"] == plan.settings["scales"]]
    if not alike:
        return None
    ends, is_known = np.tile([0.0, 1.0], (len(classes), 1)), np.zeros(len(classes), bool)
    for name, found in alike[-1].scales.items():
        label = classes.names.index(name)
        ends[label], is_known[label] = found, True
    return ScaleRanges(ends, is_known)


def _named_ranges(ranges: ScaleRanges, classes: Classes) -> dict[str, list[float]]:
    return {
        classes.names[label]: ranges.ends[label].tolist()
        for label in np.flatnonzero(ranges.is_known).tolist()
        if label != BACKGROUND
    }


def _selected(
    folder: Folder,
    plan: Plan,
    ranges: ScaleRanges,
    columns: Sequence[MapColumn],
    classes: Classes,
    parts: Parts,
    progress: Progress,
) -> tuple[MaskSelection, list[str]]:
    """The images, and sentences about groups that have none."""
    selecting = Selecting(ranges.ends, plan.wanted, plan.settings["k"], plan.settings["reserves"], plan.taken)
    tops = _tops(folder, columns, classes, selecting, plan.settings["measure"], parts, progress)
    words = require_groups(tops, plan.wanted, plan.models, classes.names)
    return selecting.finish(tops), words


def _tops(
    folder: Folder,
    columns: Sequence[MapColumn],
    classes: Classes,
    selecting: Selecting,
    measure: str,
    parts: Parts,
    progress: Progress,
) -> CategoryTops:
    """What all maps come to, chunk by chunk; finished chunks stay finished when the step is killed."""
    size = pool_size(folder)
    known: CategoryTops | None = None
    for number, rows in enumerate(chunks(size, CHUNK)):
        if number in parts:
            found = _tops_in(parts.read(number))
        else:
            found = _scanned(columns, rows, len(classes), selecting, measure, known)
            parts.write(number, _table_of(found))
        known = found if known is None else selecting.merge(known, found)
        progress("select", rows.stop, size)
    assert known is not None, "a pool has items"
    return known


def _scanned(
    columns: Sequence[MapColumn],
    rows: range,
    classes: int,
    selecting: Selecting,
    measure: str,
    known: CategoryTops | None,
) -> CategoryTops:
    def load(some: range) -> list[Maps]:
        return [column.group((rows.start + some.start) // MAP_GROUP) for column in columns]

    tops: CategoryTops | None = None
    for some, maps in read_ahead(load, chunks(len(rows), MAP_GROUP)):
        first = rows.start + some.start
        _require_same_sizes(columns, maps, first)
        found = concordances(maps, classes, measure)
        share: Float[Array, "n M C"] = np.stack([shares(one, classes) for one in maps], axis=1)
        before = known if tops is None else tops
        scanned = selecting.scan(found.value, found.is_comparable, found.differs, share, first, before)
        tops = scanned if tops is None else selecting.merge(tops, scanned)
    assert tops is not None, "a chunk has items"
    return tops


def _require_same_sizes(columns: Sequence[MapColumn], maps: Sequence[Maps], first: int) -> None:
    """Refuse two maps of an item that differ in size: without an image nothing says which of them is right."""
    for at in range(1, len(maps)):
        for one in range(at):
            is_there = (maps[one].heights > 0) & (maps[at].heights > 0)
            same = (maps[one].heights == maps[at].heights) & (maps[one].widths == maps[at].widths)
            if (wrong := np.flatnonzero(is_there & ~same)).size:
                place = int(wrong[0])
                (item,) = open_pool(columns[at].folder).ids([first + place])
                sizes = [f"{maps[n].heights[place]}×{maps[n].widths[place]} ({columns[n].name})" for n in (one, at)]
                raise PredictionError(
                    f"the maps of {item} differ in size, {' and '.join(sizes)}: give the pool its images, in whose "
                    "size all maps are kept, or bring the maps to one size"
                )


def _table_of(tops: CategoryTops) -> pa.Table:
    """Tops as a table of one row, so that they can be kept as a finished part."""
    cells: dict[str, list[bytes]] = {}
    for field in fields(tops):
        buffer = BytesIO()
        value = getattr(tops, field.name)
        quota = np.array([value.k, value.reserves, value.taken]) if isinstance(value, Quota) else value
        np.save(buffer, quota, allow_pickle=False)
        cells[field.name] = [buffer.getvalue()]
    return pa.table(cells)


def _tops_in(table: pa.Table) -> CategoryTops:
    arrays = {name: np.load(BytesIO(table[name][0].as_py()), allow_pickle=False) for name in table.column_names}
    return CategoryTops(Quota(*arrays.pop("quota").tolist()), **arrays)


def _refuse_identical(models: Sequence[str], contents: Sequence[str]) -> None:
    known: dict[str, str] = {}
    for name, content in zip(models, contents, strict=True):
        if content in known:
            raise SelectionError(
                f"{known[content]} and {name} give the same map of every item: they cannot be told apart; "
                f"take one of them out of study.toml ([models.{name}])"
            )
        known[content] = name
