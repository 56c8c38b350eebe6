"""Whether predictions still belong to the pool, and to the rounds that were selected from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from dissensus.errors import StudyError
from dissensus.steps.growing import rounds_behind
from dissensus.steps.pooling import earlier_pools, pool_size, pool_stamp
from dissensus.store.folder import Folder
from dissensus.store.rounds import Round
from dissensus.store.tables import open_table, read_stamps

STAMPED = ("inputs", "content", "unreadable")
"""Metadata of every file of predictions."""


def rounds_with(folder: Folder, name: str) -> dict[int, str]:
    """The rounds that were selected from a model's predictions, and the fingerprint of these predictions.

    Without those that `select` replaces because items have been added.
    """
    behind = set(rounds_behind(folder))
    numbers = [number for number in folder.rounds() if number not in behind]
    abouts = {number: read_stamps(folder.selection(number), "inputs") for number in numbers}
    contents = {number: about["inputs"]["predictions"].get(name) for number, about in abouts.items()}
    return {number: content for number, content in contents.items() if content is not None}


def taking_part(folder: Folder, name: str, number: int) -> str:
    """Why a model cannot change, and what to do instead."""
    return (
        f"{name} takes part in round {number}, which was selected from its predictions: add the changed model under a "
        f"new name (dissensus join), or, if nobody has answered yet, remove it first (dissensus remove {folder.root} "
        f"{name})"
    )


def check_same_pool(folder: Folder, names: list[str]) -> dict[str, dict[str, Any]]:
    """Stamps of the predictions, after checking that all were made on this pool.

    Raises:
        StudyError: predictions were made on another pool, or do not have one row per item.
    """
    stamp, earlier, rows = pool_stamp(folder), earlier_pools(folder), pool_size(folder)
    stamps = {name: read_stamps(folder.predictions(name), *STAMPED) for name in names}
    for name, found in stamps.items():
        path = folder.predictions(name)
        if found.get("model", name) != name:
            raise StudyError(f"{path} holds the predictions of {found['model']}: restore both files from a backup")
        if found["inputs"]["pool"] in earlier:
            raise StudyError(f"{name} has not predicted the items that were added: run dissensus predict {folder.root}")
        if found["inputs"]["pool"] != stamp or open_table(path).metadata.num_rows != rows:
            raise StudyError(f"{path} belongs to another pool: delete it and run dissensus predict {folder.root} again")
    return stamps


def refuse_other_predictions(rounds: Iterable[Round[Any]], stamps: Mapping[str, Mapping[str, Any]]) -> None:
    """Check that predictions have not changed since the rounds were selected.

    Raises:
        StudyError: the predictions of a model have changed; names the model.
    """
    for found in rounds:
        for name, content in found.predictions.items():
            if stamps[name]["content"] != content:
                raise StudyError(
                    f"the predictions of {name} have changed since round {found.number} was selected: "
                    "restore them, or add the changed model under a new name (dissensus join)"
                )
