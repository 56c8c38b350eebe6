"""The original labels of images, and the test set that each image is from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import ClassesError, StudyError
from dissensus.records.human import EVERYTHING
from dissensus.steps.labelled import labelled_rows
from dissensus.steps.pooling import pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.tables import read_stamps, read_table, write_table

SCHEMA = pa.schema({"item": pa.string(), "label": pa.int32(), "set": pa.string()})


@dataclass(frozen=True)
class Known:
    """An image with its original label and its test set."""

    item: str
    label: int
    set: str = EVERYTHING


def read_truth(path: Path, work: Workspace[Any]) -> list[Known]:
    """A table with the columns item and label, and optionally set, in the order of the file.

    Raises:
        StudyError: the table cannot be read, names an item twice or one that is not in the pool, or an unknown class.
    """
    found = []
    for row in labelled_rows(path, work.folder, ["set"]):
        item, given = row["item"], row.get("set", EVERYTHING)
        name = "" if given is None else str(given).strip()
        if not name:
            raise StudyError(f"{path}: '{item}' has no set: name the test set of every image, or leave out the column")
        try:
            found.append(Known(item, work.classes.index_of(row["label"]), name))
        except ClassesError as error:
            raise StudyError(f"{path}: {item}: {error}") from None
    return found


def kept_truth(work: Workspace[Any]) -> list[Known]:
    """The original labels that were given before.

    Raises:
        StudyError: none were, or they belong to another pool.
    """
    path = work.folder.human_truth
    if not exists(path):
        raise StudyError(f"no images are sampled yet: dissensus shift human sample {work.folder.root} --truth FILE")
    if read_stamps(path, "pool")["pool"] != pool_stamp(work.folder):
        raise StudyError(f"{path} belongs to another pool: give the labels again with --truth")
    return [Known(**row) for row in read_table(path).to_pylist()]


def keep_truth(work: Workspace[Any], known: list[Known]) -> None:
    """Keep the original labels in the study."""
    table = pa.Table.from_pylist([vars(one) for one in known], SCHEMA)
    write_table(work.folder.human_truth, table, {"pool": pool_stamp(work.folder)})
