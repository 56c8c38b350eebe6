"""The tasks for people as they are kept in the study: once composed, a grid never changes, so answers stay valid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from dissensus.discrepancy.labels import class_distances, default_discrepancy
from dissensus.records import Question
from dissensus.replicas.chance import shuffled
from dissensus.replicas.grids import FEWEST_ORIGINALS, Grid, Layout, compose
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_table, write_table

EXAMPLES = 3
"""Originals that are shown as examples of a class; they are in no grid, since people would know them."""
ROLES = ("candidate", "same", "nearby", "example")
SCHEMA = pa.schema({"grid": pa.int32(), "label": pa.int32(), "item": pa.string(), "role": pa.string()})


@dataclass(frozen=True)
class Task:
    """A grid with the examples that are shown above it."""

    grid: Grid
    examples: tuple[str, ...] = ()

    def question(self, work: Workspace[Any]) -> Question:
        classes, label = work.classes, self.grid.label
        body: dict[str, Any] = {"name": classes.names[label], "items": list(self.grid.items)}
        if definition := classes.gloss(label):
            body["definition"] = definition
        if self.examples:
            body["examples"] = list(self.examples)
        return Question(kind="grid", body=body)


def kept_grids(work: Workspace[Any]) -> list[Task]:
    """All tasks, in the order in which they were composed."""
    if not exists(work.folder.replica_grids):
        return []
    rows: dict[int, list[dict[str, Any]]] = {}
    for row in read_table(work.folder.replica_grids).to_pylist():
        rows.setdefault(row["grid"], []).append(row)
    return [_task(rows[number]) for number in sorted(rows)]


def _task(rows: list[dict[str, Any]]) -> Task:
    of_role = {role: tuple(row["item"] for row in rows if row["role"] == role) for role in ROLES}
    items = tuple(row["item"] for row in rows if row["role"] != "example")
    grid = Grid(rows[0]["label"], items, frozenset(of_role["same"]), frozenset(of_role["nearby"]))
    return Task(grid, of_role["example"])


def compose_grids(work: Workspace[Any], originals: Mapping[str, int], candidates: Mapping[str, int]) -> None:
    """Compose tasks for the candidates that are in none yet, and keep them."""
    known, settings = kept_grids(work), work.settings.replica
    asked = {item for task in known for item in task.grid.candidates}
    fresh = {item: label for item, label in candidates.items() if item not in asked}
    if not fresh:
        return
    examples = _examples(known, originals, settings.seed)
    shown = {item for items in examples.values() for item in items}
    hidden = {item: label for item, label in originals.items() if item not in shown}
    distances = class_distances(work.classes, default_discrepancy(work.classes))
    layout = Layout(settings.grid, settings.same_class, settings.nearby)
    grids = compose(fresh, hidden, distances, layout, settings.seed)
    tasks = [*known, *(Task(grid, examples.get(grid.label, ())) for grid in grids)]
    rows = [
        {"grid": number, "label": task.grid.label, "item": item, "role": _role(task.grid, item)}
        for number, task in enumerate(tasks)
        for item in task.grid.items
    ]
    rows += [
        {"grid": number, "label": task.grid.label, "item": item, "role": "example"}
        for number, task in enumerate(tasks)
        for item in task.examples
    ]
    stamps = {"settings": settings.model_dump(), "grids": len(tasks)}
    write_table(work.folder.replica_grids, pa.Table.from_pylist(rows, SCHEMA), stamps)


def _examples(known: list[Task], originals: Mapping[str, int], seed: int) -> dict[int, tuple[str, ...]]:
    """Originals of classes that have more than have to be annotated."""
    found = {task.grid.label: task.examples for task in known}
    of_class: dict[int, list[str]] = {}
    for item, label in originals.items():
        of_class.setdefault(label, []).append(item)
    for label, items in of_class.items():
        spare = min(EXAMPLES, max(len(items) - FEWEST_ORIGINALS, 0))
        found.setdefault(label, tuple(shuffled(items, seed, "example", label)[:spare]))
    return found


def _role(grid: Grid, item: str) -> str:
    return "same" if item in grid.same else "nearby" if item in grid.nearby else "candidate"
