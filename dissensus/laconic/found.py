"""The MEPIs of machines that have been found so far, as they are kept in the study."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from dissensus.reductions.pictures import Levels
from dissensus.reductions.search import Mepi
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_stamps, read_table

FoundMepi = tuple[str, str, str, Levels]
"""Model, reduction, id of the item, and the levels of the reduced image."""


@dataclass(frozen=True)
class KeptMepi:
    """An image that a model still recognises."""

    model: str
    reduction: str
    item: str
    mepi: Mepi

    @property
    def levels(self) -> Levels:
        return self.mepi.levels


def searched(work: Workspace[Any]) -> list[str]:
    """Models whose MEPIs have been found, in the order of study.toml."""
    return [name for name in work.settings.models if exists(work.folder.mepis(name))]


def kept_mepis(work: Workspace[Any]) -> list[KeptMepi]:
    """All MEPIs of all models, in the order of the pool, with their paths."""
    return [one for model in searched(work) for one in _mepis_of(work, model)]


def found_mepis(work: Workspace[Any]) -> list[FoundMepi]:
    """All MEPIs of all models."""
    return [(one.model, one.reduction, one.item, one.levels) for one in kept_mepis(work)]


def _mepis_of(work: Workspace[Any], model: str) -> Iterator[KeptMepi]:
    path = work.folder.mepis(model)
    is_naive = bool(read_stamps(path, "inputs")["inputs"]["naive"])
    for row in read_table(path).to_pylist():
        if row["levels"] is not None:
            steps = tuple(zip(row["path"][::2], row["path"][1::2], strict=True))
            yield KeptMepi(
                model, row["reduction"], row["item"], Mepi(tuple(row["levels"]), steps, row["bytes"], is_naive)
            )
