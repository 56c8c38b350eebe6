"""The MEPIs of machines that have been found so far, as they are kept in the study, and what they depend on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from dissensus.laconic.originals import kept_truth
from dissensus.laconic.truth import Truth
from dissensus.reductions.pictures import Levels
from dissensus.reductions.search import Mepi
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists, fingerprint
from dissensus.store.parts import refuse_changes
from dissensus.store.tables import read_stamps, read_table


class FoundMepi(NamedTuple):
    """Whose MEPI it is, by which reduction, of which item, and the levels of the reduced image."""

    model: str
    reduction: str
    item: str
    levels: Levels


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


def common_inputs(work: Workspace[Any], truth: Truth) -> dict[str, Any]:
    """What the MEPIs of all models depend on; `truth` has the images that are used."""
    settings = work.settings.laconic
    return {
        "pool": pool_stamp(work.folder),
        "images": fingerprint(*truth.ids, *truth.names),
        "classes": fingerprint(*truth.groups.names, truth.groups.of_label.tobytes()),
        "side": settings.side,
        "crop": settings.crop,
        "reductions": list(settings.reductions),
    }


def agreed_inputs(work: Workspace[Any]) -> dict[str, Any]:
    """The inputs that all models have in common; empty if none has been searched.

    Raises:
        StudyError: study.toml has changed since a model was searched, or models were searched in different ways.
    """
    agreed: dict[str, Any] = {}
    for name in searched(work):
        own = inputs_of(work, name)
        agreed = agreed or common_inputs(work, kept_truth(work).first(work.settings.laconic.images)) | {
            key: own[key] for key in ("naive", "encoder", "method")
        }
        refuse_changes(f"laconic find {name}", {key: own.get(key) for key in agreed}, agreed, remedy(work, name))
    return agreed


def inputs_of(work: Workspace[Any], model: str) -> dict[str, Any]:
    """What the MEPIs of a model were found with."""
    return dict(read_stamps(work.folder.mepis(model), "inputs")["inputs"])


def remedy(work: Workspace[Any], model: str) -> str:
    return f"remove {work.folder.mepis(model)} to search again"


def kept_mepis(work: Workspace[Any]) -> list[KeptMepi]:
    """All MEPIs of all models, in the order of the pool, with their paths.

    Raises:
        StudyError: they cannot be shown or compared: see `agreed_inputs`.
    """
    is_naive = bool(agreed_inputs(work).get("naive"))
    return [one for model in searched(work) for one in _mepis_of(work, model, is_naive)]


def found_mepis(work: Workspace[Any]) -> list[FoundMepi]:
    """All MEPIs of all models."""
    return [FoundMepi(one.model, one.reduction, one.item, one.levels) for one in kept_mepis(work)]


def _mepis_of(work: Workspace[Any], model: str, is_naive: bool) -> Iterator[KeptMepi]:
    for row in read_table(work.folder.mepis(model)).to_pylist():
        if row["levels"] is not None:
            steps = tuple(zip(row["path"][::2], row["path"][1::2], strict=True))
            yield KeptMepi(
                model, row["reduction"], row["item"], Mepi(tuple(row["levels"]), steps, row["bytes"], is_naive)
            )
