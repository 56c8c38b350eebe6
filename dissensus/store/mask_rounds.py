"""Rounds of maps on disk: which image was selected for which attack in which category, and with which settings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.records import FORMAT_VERSION, Classes, MaskSelection
from dissensus.store.folder import Folder
from dissensus.store.tables import model_numbers, read_stamps, read_table, write_table


@dataclass(frozen=True)
class MaskRound:
    """One selection of images; items are numbered as in the pool."""

    number: int
    selection: MaskSelection
    table: pa.Table
    settings: dict[str, Any]
    duels: tuple[tuple[str, str], ...]
    """(attacker, defender) of all attacks, also of those that found no image."""
    inputs: dict[str, Any]
    scales: dict[str, tuple[float, float]]
    """By category, the shares of pixels between which images were looked for."""
    words: tuple[str, ...]
    """Sentences about categories without images."""

    @cached_property
    def item_ids(self) -> dict[int, str]:
        """The id of every item in the round by its number."""
        numbers = self.table["position"].to_numpy().tolist()
        return dict(zip(numbers, self.table["item"].to_pylist(), strict=True))


def write_mask_round(
    folder: Folder,
    number: int,
    selection: MaskSelection,
    models: list[str],
    classes: Classes,
    ids: dict[int, str],
    stamps: dict[str, Any],
) -> None:
    """Write rounds/NNN/selection.parquet; `ids` has the id of every selected item."""
    names = np.array(models, dtype=object)
    table = pa.table(
        {
            "attacker": pa.array(names[selection.attacker], pa.string()),
            "defender": pa.array(names[selection.defender], pa.string()),
            "category": pa.array([classes.names[one] for one in selection.category.tolist()], pa.string()),
            "label": pa.array(selection.category, pa.int32()),
            "rank": pa.array(selection.rank, pa.int32()),
            "reserve": selection.is_reserve,
            "item": pa.array([ids[item] for item in selection.item.tolist()], pa.string()),
            "position": selection.item,
            "concordance": selection.concordance,
            "share": selection.share,
        }
    )
    write_table(folder.selection(number), table, stamps | {"format_version": FORMAT_VERSION})


def read_mask_rounds(folder: Folder) -> tuple[list[str], list[MaskRound]]:
    """The models that compete, in the order in which they came, and all rounds; models are numbered in that order."""
    numbers = folder.rounds()
    stamps = {number: read_stamps(folder.selection(number), "scales", "models") for number in numbers}
    models = list(dict.fromkeys(name for number in numbers for name in stamps[number]["models"]))
    return models, [_read_round(folder, number, stamps[number], models) for number in numbers]


def _read_round(folder: Folder, number: int, stamps: dict[str, Any], models: list[str]) -> MaskRound:
    table = read_table(folder.selection(number))
    selection = MaskSelection(
        attacker=model_numbers(table["attacker"], models),
        defender=model_numbers(table["defender"], models),
        category=table["label"].to_numpy().astype(np.int64),
        rank=table["rank"].to_numpy().astype(np.int64),
        is_reserve=table["reserve"].to_numpy(),
        item=table["position"].to_numpy(),
        concordance=table["concordance"].to_numpy(),
        share=table["share"].to_numpy(),
    )
    return MaskRound(
        number=number,
        selection=selection,
        table=table,
        settings=stamps["settings"],
        duels=tuple((attacker, defender) for attacker, defender in stamps["duels"]),
        inputs=stamps["inputs"],
        scales={name: (low, high) for name, (low, high) in stamps["scales"].items()},
        words=tuple(stamps["words"]),
    )
