"""select: the items on which models disagree most, found in one pass over all predictions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.arrays import Array, Float, Int, UInt16
from dissensus.competitions.labels import Selecting, duels_of
from dissensus.discrepancy.labels import class_distances, default_discrepancy
from dissensus.engines.local import Progress, chunks, read_ahead
from dissensus.errors import SelectionError
from dissensus.records import Classes, Selection
from dissensus.selection import Levels, Partial, Rule, usable_labels
from dissensus.steps.labels.eligible import Eligible, read_eligible
from dissensus.steps.planning import competing, refuse_changed
from dissensus.steps.pooling import pool_size, pool_stamp
from dissensus.steps.predicting import check_same_pool
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts
from dissensus.store.rounds import Round, read_rounds, write_round
from dissensus.store.settings import LabelSettings, SelectSettings
from dissensus.store.tables import ROW_GROUP, open_table, read_groups

CHUNK = 4 * ROW_GROUP  # rows that are scanned before what they gave is kept


@dataclass(frozen=True)
class Plan:
    """A round to be selected: its models (newcomers last), duels, settings and the items taken before."""

    number: int
    models: list[str]
    duels: Int[Array, "D 2"]
    settings: dict[str, Any]
    taken: tuple[Int[Array, " n"], ...]


def select(folder: Folder, settings: LabelSettings, classes: Classes, again: bool, progress: Progress) -> int:
    """Number of the round that holds the selection: a new one, or the last where nothing is left to select.

    All duels at first; later only those of models that came since (Algorithm 2), or with `again` further items for
    all duels. Earlier rounds are never touched.

    Raises:
        SelectionError: fewer than two models, or no item on which two of them may differ.
        StudyError: other settings than those of the rounds there are, or predictions that changed.
    """
    plan = _plan(folder, settings, classes, again)
    if plan is None:
        return folder.rounds()[-1]
    stamps = check_same_pool(folder, plan.models)
    inputs = {
        "pool": pool_stamp(folder),
        "predictions": {name: stamps[name]["content"] for name in plan.models},
        "settings": plan.settings,
        "duels": len(plan.duels),
    }
    _refuse_identical(plan.models, [stamps[name]["labels"] for name in plan.models])
    parts = Parts(folder.parts(f"select-{plan.number:03}"), f"select (round {plan.number})", inputs)
    selection = _selected(folder, plan, classes, parts, progress)
    if len(selection) == 0:
        parts.clear()
        raise SelectionError(
            "no two models disagree on any item that may be selected: lower --confidence, or widen --eligible"
        )
    names = [[plan.models[one], plan.models[other]] for one, other in plan.duels]
    confidences = _confidences(folder, plan.models, selection)
    about = {"settings": plan.settings, "duels": names, "inputs": inputs}
    write_round(folder, plan.number, selection, plan.models, confidences, about)
    parts.clear()
    return plan.number


def rule_of(settings: dict[str, Any], taken: int = 0) -> Rule:
    """The rule of a round from its recorded settings."""
    return Rule(settings["k"], settings["reserves"], settings["cap"], taken)


def _plan(folder: Folder, settings: LabelSettings, classes: Classes, again: bool) -> Plan | None:
    met, rounds = read_rounds(folder)
    models = competing(folder, settings, met)
    wanted = _recorded(settings.select, classes)
    if not rounds:
        return Plan(1, models, duels_of(len(models)), wanted, ())
    number = rounds[-1].number + 1
    if again:
        duels = duels_of(len(models))
        return Plan(number, models, duels, wanted, _taken(rounds, duels))
    if len(models) > len(met):
        return Plan(number, models, duels_of(len(models), len(models) - len(met)), wanted, ())
    refuse_changed(rounds[-1].number, rounds[-1].settings, wanted, "items")
    return None


def _recorded(settings: SelectSettings, classes: Classes) -> dict[str, Any]:
    return {
        "k": settings.k,
        "reserves": settings.k if settings.reserves is None else settings.reserves,
        "cap": settings.cap,
        "confidence": settings.confidence,
        "distance": settings.distance or default_discrepancy(classes),
        "eligible": settings.eligible,
    }


def _taken(rounds: list[Round], duels: Int[Array, "D 2"]) -> tuple[Int[Array, " n"], ...]:
    """Items of each duel that earlier rounds took or hold in reserve."""
    found = [round_.selection for round_ in rounds]
    return tuple(
        np.concatenate([part.item[(part.first == one) & (part.second == other)] for part in found])
        for one, other in duels.tolist()
    )


def _refuse_identical(models: list[str], labels: list[str]) -> None:
    if len(set(labels)) == 1:
        raise SelectionError(
            f"{', '.join(models)} gave the same label on every item: they cannot be told apart; add a different model"
        )


def _selected(folder: Folder, plan: Plan, classes: Classes, parts: Parts, progress: Progress) -> Selection:
    levels = Levels.of(class_distances(classes, plan.settings["distance"]))
    rule = rule_of(plan.settings, max(map(len, plan.taken), default=0))
    selecting = Selecting(plan.duels, levels, rule, plan.taken)
    eligible = plan.settings["eligible"]
    allowed = None if eligible is None else read_eligible(folder, folder.root / eligible, classes)
    reader = Reader(folder, plan.models, plan.settings["confidence"], allowed)
    size = pool_size(folder)
    todo = chunks(size, CHUNK)
    known = Partial.empty(len(plan.duels))
    for number in range(len(todo)):
        if number in parts:
            known = selecting.merge(known, _partial(parts.read(number), len(plan.duels)))
    waiting = [rows for number, rows in enumerate(todo) if number not in parts]
    waiting = [rows for rows in waiting if not selecting.is_settled(known, rows.start)]
    for rows, labels in read_ahead(reader.labels, waiting):
        found = selecting.scan(labels, rows.start, known)
        parts.write(rows.start // CHUNK, _table(found))
        known = selecting.merge(known, found)
        progress("select", rows.stop, size)
        if selecting.is_settled(known, rows.stop):
            break
    progress("select", size, size)
    return selecting.finish(known)


class Reader:
    """Usable labels of a range of items, from the prediction files of all models."""

    def __init__(self, folder: Folder, models: list[str], confidence: float, allowed: Eligible | None) -> None:
        """Open the files."""
        self.files = [open_table(folder.predictions(name)) for name in models]
        self.confidence = confidence
        self.allowed = allowed

    def labels(self, rows: range) -> UInt16[Array, "M N"]:
        """Labels of the items, MISSING where a model may not be asked. `rows` begins at a row group."""
        groups = range(rows.start // ROW_GROUP, -(-rows.stop // ROW_GROUP))
        read = np.empty((len(self.files), len(rows)), np.uint16)
        for group in groups:
            at = slice((group * ROW_GROUP - rows.start), min((group + 1) * ROW_GROUP, rows.stop) - rows.start)
            labels, confidences = zip(*(_columns(file, group) for file in self.files), strict=True)
            allowed = None if self.allowed is None else self.allowed.mask(labels, rows.start + at.start)
            usable_labels(labels, confidences, self.confidence, allowed, out=read[:, at])
        return read


def _columns(file: pq.ParquetFile, group: int) -> tuple[UInt16[Array, " N"], Float[Array, " N"] | None]:
    names = [name for name in ("label", "confidence") if name in file.schema_arrow.names]
    table = read_groups(file, [group], names)
    return table["label"].to_numpy(), table["confidence"].to_numpy() if len(names) > 1 else None


def _confidences(folder: Folder, models: list[str], selection: Selection) -> tuple[Array, Array]:
    """Confidences of both models on each selected item; NaN for a model that gives none."""
    wanted, place = np.unique(selection.item, return_inverse=True)
    known = np.full((len(models), len(wanted)), np.nan, np.float32)
    for row, name in enumerate(models):
        file = open_table(folder.predictions(name))
        if "confidence" in file.schema_arrow.names:
            for group in np.unique(wanted // ROW_GROUP):
                here = wanted // ROW_GROUP == group
                values = read_groups(file, [int(group)], ["confidence"])["confidence"].to_numpy()
                known[row, here] = values[wanted[here] - group * ROW_GROUP]
    return known[selection.first, place], known[selection.second, place]


def _table(partial: Partial) -> pa.Table:
    duel = np.repeat(np.arange(len(partial.candidates)), [len(rows) for rows in partial.candidates])
    rows = np.concatenate(partial.candidates)
    return pa.table({"duel": duel} | {name: rows[:, i] for i, name in enumerate(("item", "first", "second", "level"))})


def _partial(table: pa.Table, duels: int) -> Partial:
    rows = np.stack([table[name].to_numpy() for name in ("item", "first", "second", "level")], axis=1)
    cuts = np.searchsorted(table["duel"].to_numpy(), np.arange(1, duels))
    return Partial(tuple(np.split(rows, cuts)), Partial.empty(duels).floors)
