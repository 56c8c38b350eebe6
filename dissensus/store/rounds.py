"""Rounds on disk: what was selected for which duels, and how. Each kind of selection declares its own columns."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array
from dissensus.errors import StudyError
from dissensus.records import FORMAT_VERSION, Selected, Step
from dissensus.store.files import remove_file
from dissensus.store.folder import Folder
from dissensus.store.parts import clear_parts
from dissensus.store.tables import model_numbers, open_table, read_groups, read_stamps, read_table, write_table

S = TypeVar("S", bound=Selected)

STORED_AS = {"is_reserve": "reserve", "item": "position", "low": "low_position", "high": "high_position"}
"""Columns stored under another name; the column under their own name holds item ids, for people who open the file."""
NUMBERED_AS = {"category": "label"}
"""Classes stored by name, with their number in a second column."""
TYPES = {"rank": pa.int32(), "level": pa.int32(), "label": pa.int32()} | {
    "first_label": pa.uint16(),
    "second_label": pa.uint16(),
}


@dataclass(frozen=True)
class Round(Generic[S]):
    """One selection; items are numbered as in the pool. `about` is the metadata stored with it."""

    number: int
    selection: S
    table: pa.Table
    about: dict[str, Any]

    @property
    def settings(self) -> dict[str, Any]:
        """The settings it was selected with."""
        return dict(self.about["settings"])

    @property
    def asked(self) -> dict[str, Any] | None:
        """The settings as they were given, before the selection chose what was left open; None in older studies."""
        asked = self.about.get("asked")
        return None if asked is None else dict(asked)

    @property
    def duels(self) -> list[tuple[str, str]]:
        """The two models of every duel, including duels with no selected items."""
        return [(first, second) for first, second in self.about["duels"]]

    @property
    def predictions(self) -> dict[str, str]:
        """Fingerprints of the predictions it was selected from, by model."""
        return dict(self.about["inputs"]["predictions"])

    @property
    def words(self) -> tuple[str, ...]:
        """Sentences about what could not be selected."""
        return tuple(self.about.get("words", self.about.get("skipped", ())))

    @property
    def funnel(self) -> tuple[Step, ...]:
        """What each rule left; empty for rounds of older versions."""
        return tuple(Step(**step) for step in self.about.get("funnel", ()))

    @cached_property
    def item_ids(self) -> dict[int, str]:
        """The id of every item in the round, by its number."""
        sides = self.selection.items
        return {
            number: name
            for side in sides
            for number, name in zip(getattr(self.selection, side).tolist(), self.table[side].to_pylist(), strict=True)
        }


def write_round(
    folder: Folder,
    number: int,
    selection: Selected,
    models: list[str],
    ids: Mapping[int, str],
    about: dict[str, Any],
    more: Mapping[str, Any],
) -> None:
    """Write rounds/NNN/selection.parquet; `more` are extra columns that only the table holds."""
    names, columns = np.array(models, dtype=object), dict(more)
    for field in fields(selection):  # type: ignore[arg-type]
        values = getattr(selection, field.name)
        if field.name in selection.sides:
            columns[field.name] = pa.array(names[values], pa.string())
        elif field.name in selection.items:
            columns[field.name] = pa.array([ids[item] for item in values.tolist()], pa.string())
            columns[_stored_as(field.name)] = values
        else:
            columns[_stored_as(field.name)] = pa.array(values, TYPES.get(_stored_as(field.name)))
    table = pa.table({name: columns[name] for name in selection.stored if name in columns})
    write_table(folder.selection(number), table, about | {"format_version": FORMAT_VERSION})


def remove_round(folder: Folder, number: int) -> None:
    """Remove a round, and what is left of selecting it."""
    path = folder.selection(number)
    remove_file(path)
    shutil.rmtree(path.parent, ignore_errors=True)
    clear_parts(folder.parts(f"select-{number:03}"))


def read_rounds(folder: Folder, kind: type[S]) -> tuple[list[str], list[Round[S]]]:
    """The competing models, in the order they joined, and all rounds; models are numbered in that order."""
    needed = ("settings", "duels", "inputs", *kind.stamps)
    abouts = {number: read_stamps(folder.selection(number), *needed) for number in folder.rounds()}
    models = list(dict.fromkeys(name for about in abouts.values() for duel in about["duels"] for name in duel))
    return models, [_read_round(folder, number, kind, about, models) for number, about in abouts.items()]


def _read_round(folder: Folder, number: int, kind: type[S], about: dict[str, Any], models: list[str]) -> Round[S]:
    table = read_table(folder.selection(number))
    names = [_stored_as(field.name) for field in fields(kind)]  # type: ignore[arg-type]
    absent = [name for name in names if name not in table.column_names]
    if absent:
        raise StudyError(
            f"{folder.selection(number)} has no column '{absent[0]}': it belongs to a study of another task"
        )
    columns: dict[str, Array] = {}
    for field in fields(kind):  # type: ignore[arg-type]
        if field.name in kind.sides:
            columns[field.name] = model_numbers(table[field.name], models)
        else:
            values = table[_stored_as(field.name)].to_numpy()
            columns[field.name] = values.astype(np.int64) if values.dtype.kind in "iu" else values
    return Round(number, kind(**columns), table, about)


def _stored_as(name: str) -> str:
    return STORED_AS.get(name) or NUMBERED_AS.get(name, name)


def items_at(folder: Folder, positions: Array, column: str = "id") -> pa.Array:
    """Ids (or another column) of the items at these positions of the pool, without reading the whole file."""
    file = open_table(folder.pool)
    starts = np.cumsum([0, *(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))])
    groups = np.searchsorted(starts, positions, side="right") - 1
    found = np.empty(len(positions), dtype=object)
    for group in np.unique(groups):
        here = groups == group
        values = read_groups(file, [int(group)], [column])[column]
        found[here] = values.take(pa.array(positions[here] - starts[group])).to_pylist()
    return pa.array(found, pa.string())
