"""Rounds on disk: what was selected for which duels, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float
from dissensus.records import FORMAT_VERSION, Selection
from dissensus.store.folder import Folder
from dissensus.store.tables import model_numbers, open_table, read_stamps, read_table, write_table


@dataclass(frozen=True)
class Round:
    """One selection; items are numbered as in the pool. `table` has what only some steps look at."""

    number: int
    selection: Selection
    table: pa.Table
    settings: dict[str, Any]
    duels: tuple[tuple[str, str], ...]
    inputs: dict[str, Any]

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The id of each row's item."""
        return tuple(self.table["item"].to_pylist())

    @cached_property
    def confidences(self) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Those of the first and the second model, None where a model gives none."""
        return tuple(self.table["first_confidence"].to_pylist()), tuple(self.table["second_confidence"].to_pylist())


def write_round(
    folder: Folder,
    number: int,
    selection: Selection,
    models: list[str],
    confidences: tuple[Float[Array, " Q"], Float[Array, " Q"]],
    stamps: dict[str, Any],
) -> None:
    """Write rounds/NNN/selection.parquet; a confidence that a model does not give is NaN here and null there."""
    names = np.array(models, dtype=object)
    table = pa.table(
        {
            "first": pa.array(names[selection.first], pa.string()),
            "second": pa.array(names[selection.second], pa.string()),
            "item": items_at(folder, selection.item),
            "position": selection.item,
            "rank": pa.array(selection.rank, pa.int32()),
            "discrepancy": selection.discrepancy,
            "reserve": selection.is_reserve,
            "inclusion_probability": np.ones(len(selection)),  # the largest are taken for sure
            "first_label": pa.array(selection.first_label, pa.uint16()),
            "second_label": pa.array(selection.second_label, pa.uint16()),
            "first_confidence": pa.array(confidences[0], pa.float32(), from_pandas=True),
            "second_confidence": pa.array(confidences[1], pa.float32(), from_pandas=True),
        }
    )
    write_table(folder.selection(number), table, stamps | {"format_version": FORMAT_VERSION})


def read_rounds(folder: Folder) -> tuple[list[str], list[Round]]:
    """The models that compete, in the order in which they came, and all rounds; models are numbered in that order."""
    numbers = folder.rounds()
    stamps = {number: read_stamps(folder.selection(number)) for number in numbers}
    models = list(dict.fromkeys(name for number in numbers for duel in stamps[number]["duels"] for name in duel))
    return models, [_read_round(folder, number, stamps[number], models) for number in numbers]


def _read_round(folder: Folder, number: int, stamps: dict[str, Any], models: list[str]) -> Round:
    table = read_table(folder.selection(number))
    selection = Selection(
        first=model_numbers(table["first"], models),
        second=model_numbers(table["second"], models),
        item=table["position"].to_numpy(),
        rank=table["rank"].to_numpy().astype(np.int64),
        is_reserve=table["reserve"].to_numpy(),
        discrepancy=table["discrepancy"].to_numpy(),
        first_label=table["first_label"].to_numpy().astype(np.int64),
        second_label=table["second_label"].to_numpy().astype(np.int64),
    )
    return Round(
        number,
        selection,
        table,
        stamps["settings"],
        tuple((first, second) for first, second in stamps["duels"]),
        stamps["inputs"],
    )


def items_at(folder: Folder, positions: Array, column: str = "id") -> pa.Array:
    """Ids (or another column) of the items at some positions of the pool, without reading all of it."""
    file = open_table(folder.pool)
    starts = np.cumsum([0, *(file.metadata.row_group(group).num_rows for group in range(file.num_row_groups))])
    groups = np.searchsorted(starts, positions, side="right") - 1
    found = np.empty(len(positions), dtype=object)
    for group in np.unique(groups):
        here = groups == group
        values = file.read_row_group(int(group), columns=[column])[column]
        found[here] = values.take(pa.array(positions[here] - starts[group])).to_pylist()
    return pa.array(found, pa.string())
