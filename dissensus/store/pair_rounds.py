"""Rounds of pairs on disk: which two items were selected for which attack, and with which settings and scales."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.records import FORMAT_VERSION, PairSelection
from dissensus.store.folder import Folder
from dissensus.store.tables import model_numbers, read_stamps, read_table, write_table

SCORES = ("attacker_low", "attacker_high", "defender_low", "defender_high")


@dataclass(frozen=True)
class PairRound:
    """One selection of pairs; items are numbered as in the pool."""

    number: int
    selection: PairSelection
    table: pa.Table
    settings: dict[str, Any]
    duels: tuple[tuple[str, str], ...]
    """(attacker, defender) of all attacks, also of those that found no pair."""
    inputs: dict[str, Any]
    scales: dict[str, Any]
    """By model, how its scores came on the common scale."""
    levels: tuple[tuple[float, float], ...]
    """Ends of the levels on the common scale; of each defender's quantiles, in per cent, with that spacing."""
    skipped: tuple[str, ...]
    """Sentences about levels with too few items."""

    @cached_property
    def item_ids(self) -> dict[int, str]:
        """The id of every item in the round by its number."""
        found: dict[int, str] = {}
        for side in ("low", "high"):
            numbers = self.table[f"{side}_position"].to_numpy().tolist()
            found |= dict(zip(numbers, self.table[side].to_pylist(), strict=True))
        return found


def write_pair_round(
    folder: Folder,
    number: int,
    selection: PairSelection,
    models: list[str],
    ids: dict[int, str],
    stamps: dict[str, Any],
) -> None:
    """Write rounds/NNN/selection.parquet; `ids` has the id of every selected item."""
    names = np.array(models, dtype=object)
    table = pa.table(
        {
            "attacker": pa.array(names[selection.attacker], pa.string()),
            "defender": pa.array(names[selection.defender], pa.string()),
            "level": pa.array(selection.level, pa.int32()),
            "rank": pa.array(selection.rank, pa.int32()),
            "reserve": selection.is_reserve,
            "low": pa.array([ids[item] for item in selection.low.tolist()], pa.string()),
            "high": pa.array([ids[item] for item in selection.high.tolist()], pa.string()),
            "low_position": selection.low,
            "high_position": selection.high,
            "weight": selection.weight,
        }
        | {name: getattr(selection, name) for name in SCORES}
    )
    write_table(folder.selection(number), table, stamps | {"format_version": FORMAT_VERSION})


def read_pair_rounds(folder: Folder) -> tuple[list[str], list[PairRound]]:
    """The models that compete, in the order in which they came, and all rounds; models are numbered in that order."""
    numbers = folder.rounds()
    stamps = {number: read_stamps(folder.selection(number), "scales", "models") for number in numbers}
    models = list(dict.fromkeys(name for number in numbers for name in stamps[number]["models"]))
    return models, [_read_round(folder, number, stamps[number], models) for number in numbers]


def _read_round(folder: Folder, number: int, stamps: dict[str, Any], models: list[str]) -> PairRound:
    table = read_table(folder.selection(number))
    selection = PairSelection(
        attacker=model_numbers(table["attacker"], models),
        defender=model_numbers(table["defender"], models),
        level=table["level"].to_numpy().astype(np.int64),
        rank=table["rank"].to_numpy().astype(np.int64),
        is_reserve=table["reserve"].to_numpy(),
        low=table["low_position"].to_numpy(),
        high=table["high_position"].to_numpy(),
        weight=table["weight"].to_numpy(),
        **{name: table[name].to_numpy() for name in SCORES},
    )
    return PairRound(
        number=number,
        selection=selection,
        table=table,
        settings=stamps["settings"],
        duels=tuple((attacker, defender) for attacker, defender in stamps["duels"]),
        inputs=stamps["inputs"],
        scales=stamps["scales"],
        levels=tuple((low, high) for low, high in stamps["levels"]),
        skipped=tuple(stamps["skipped"]),
    )
