"""Tables that give items of the pool a class: true labels, or what a person said."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from dissensus.backends.file import read_columns
from dissensus.errors import DissensusError, PredictionError, StudyError
from dissensus.steps.pooling import pool_ids
from dissensus.store.folder import Folder


def labelled_rows(path: Path, folder: Folder, optional: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a table with the columns item and label, and those of the optional columns that it has.

    Raises:
        StudyError: the table cannot be read or has no rows, or names an item twice or one that is not in the pool.
    """
    pool = frozenset(pool_ids(folder).to_pylist())
    return rows_of_items(path, pool, f"the pool of {folder.root}", StudyError, optional)


def rows_of_items(
    path: Path, items: Collection[str], where: str, kind: type[DissensusError], optional: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The rows of a table with the columns item and label, about these items; `where` says what they are.

    Raises:
        DissensusError, of this kind: the table cannot be read or has no rows, or names an item twice or an unknown one.
    """
    try:
        rows = read_columns(path, ["item", "label"], optional).to_pylist()
    except PredictionError as error:
        raise kind(f"{path}: {error}") from None
    if not rows:
        raise kind(f"{path} has no rows: give the class of every image in the columns item and label")
    seen = set[str]()
    for row in rows:
        item = row["item"] = str(row["item"])
        if item not in items:
            raise kind(f"{path}: '{item}' is not in {where}: leave it out, or add it")
        if item in seen:
            raise kind(f"{path} lists '{item}' twice: give every image one class")
        seen.add(item)
    return rows
