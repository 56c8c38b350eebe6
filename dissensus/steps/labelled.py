"""Tables that give items of the pool a class: true labels, or what a person said."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dissensus.backends.file import read_columns
from dissensus.errors import PredictionError, StudyError
from dissensus.steps.pooling import pool_ids
from dissensus.store.folder import Folder


def labelled_rows(path: Path, folder: Folder, optional: Sequence[str] = ()) -> list[dict[str, Any]]:
    """The rows of a table with the columns item and label, and those of the optional columns that it has.

    Raises:
        StudyError: the table cannot be read or has no rows, or names an item twice or one that is not in the pool.
    """
    try:
        rows = read_columns(path, ["item", "label"], optional).to_pylist()
    except PredictionError as error:
        raise StudyError(f"{path}: {error}") from None
    if not rows:
        raise StudyError(f"{path} has no rows: give the class of every image in the columns item and label")
    pool, seen = frozenset(pool_ids(folder).to_pylist()), set[str]()
    for row in rows:
        item = row["item"] = str(row["item"])
        if item not in pool:
            raise StudyError(f"{path}: '{item}' is not in the pool of {folder.root}: leave it out, or add it")
        if item in seen:
            raise StudyError(f"{path} lists '{item}' twice: give every image one class")
        seen.add(item)
    return rows
