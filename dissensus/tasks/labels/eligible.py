"""Restricts a selection to the listed items, labels, or labels on items: `select --eligible FILE`."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from dissensus.arrays import Array, Bool, Int, UInt16
from dissensus.errors import ClassesError, SelectionError, counted, first_line, refuse_pipe
from dissensus.records import Classes
from dissensus.separated import arrow_table
from dissensus.steps.pooling import pool_ids
from dissensus.store.files import file_fingerprint, read_bytes, write_whole
from dissensus.store.folder import Folder

LABELS = 1 << 16


@dataclass(frozen=True)
class Eligible:
    """What may be selected, as sorted keys position·65,536 + label; a column that the file does not have counts as 0.

    A model's prediction counts if it is listed. An item is a candidate for a duel if the predictions of both its models
    count, so both labels have to be listed if any are.
    """

    keys: Int[Array, " n"]
    has_items: bool = True
    has_labels: bool = True
    name: str = ""
    """The name of the file: in a study, a fingerprint of its content."""

    def mask(self, labels: Sequence[UInt16[Array, " N"]], first_item: int) -> Bool[Array, "M N"]:
        """True where a model's label on an item may be selected; the first item is number `first_item`."""
        items = self.has_items * (first_item + np.arange(len(labels[0]), dtype=np.int64)) * LABELS
        if not self.has_labels:
            return np.tile(self._listed(items), (len(labels), 1))
        return np.stack([self._listed(items + column) for column in labels])

    def lists(self, keys: Int[Array, " N"]) -> Bool[Array, " N"]:
        """True for labels on items, as keys position·65,536 + label, that may be selected."""
        return self._listed(self.has_items * (keys // LABELS) * LABELS + self.has_labels * (keys % LABELS))

    def _listed(self, keys: Int[Array, " N"]) -> Bool[Array, " N"]:
        place = np.searchsorted(self.keys, keys)
        return self.keys[np.minimum(place, len(self.keys) - 1)] == keys


def keep_eligible(folder: Folder, path: Path, classes: Classes) -> str:
    """Copy the file into the study, named after its content, and return its path; joining models need it later.

    Raises:
        SelectionError: the file does not exist, or `read_eligible` refuses it.
    """
    refuse_pipe(path, SelectionError)
    if not path.is_file():
        raise SelectionError(
            f"there is no file {path}: expected a CSV or Parquet file with a column 'item', 'label' or both"
        )
    read_eligible(folder, path, classes)  # so that an error names the file that was given
    kept = folder.root / "eligible" / f"{file_fingerprint(path)}{path.suffix}"
    if not kept.exists():
        write_whole(kept, lambda unfinished: _copy(path, unfinished))
    return kept.relative_to(folder.root).as_posix()


def read_eligible(folder: Folder, path: Path, classes: Classes) -> Eligible:
    """Read a CSV or Parquet file with a column item, label or both.

    Raises:
        SelectionError: the file cannot be read, is empty, or names items or labels that the study does not have.
    """
    table = _read(path)
    has_items, has_labels = "item" in table.column_names, "label" in table.column_names
    items = _positions(path, table["item"], folder) if has_items else np.int64(0)
    labels = _numbers(path, table["label"], classes) if has_labels else np.int64(0)
    keys = np.unique(items * LABELS + labels)
    if len(keys) == 1 and not has_items:
        raise SelectionError(
            f"{path} lists only one class: both labels of an item have to be listed, so list at least two classes"
        )
    return Eligible(keys, has_items, has_labels, path.name)


def _positions(path: Path, items: pa.ChunkedArray, folder: Folder) -> Int[Array, " n"]:
    """The items' places in the pool."""
    positions = pc.index_in(items.cast(pa.string()), value_set=pool_ids(folder))
    if positions.null_count:
        first = items[pc.index(positions.is_null(), True).as_py()].as_py()
        raise SelectionError(
            f"{path}: item '{first}' is not in the pool ({positions.null_count:,} such rows): correct or remove it"
        )
    return positions.to_numpy().astype(np.int64)


def _numbers(path: Path, labels: pa.ChunkedArray, classes: Classes) -> Int[Array, " n"]:
    """The labels' class numbers."""
    if labels.null_count:
        raise SelectionError(
            f"{path}: {counted(labels.null_count, 'row has', 'rows have')} no label: fill or remove them"
        )
    codes = labels.combine_chunks().dictionary_encode()
    codes = codes.combine_chunks() if isinstance(codes, pa.ChunkedArray) else codes
    try:
        numbers = np.array([classes.index_of(label) for label in codes.dictionary.to_pylist()])
    except ClassesError as error:
        raise SelectionError(f"{path}: {error}") from None
    return numbers[codes.indices.to_numpy()]


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _read(path: Path) -> pa.Table:
    try:
        if path.suffix == ".parquet":
            table = pq.read_table(BytesIO(read_bytes(path)))
        else:
            table = arrow_table(path, read_bytes(path), ("item", "label"))
        names = table.column_names  # decoded only now
    except (pa.ArrowException, OSError, UnicodeError) as error:
        raise SelectionError(f"{path} cannot be read: {first_line(error)}") from None
    if names.count("item") > 1 or names.count("label") > 1:
        raise SelectionError(f"{path} has a duplicate column: keep one 'item' and one 'label'")
    if not {"item", "label"} & {*names} or len(table) == 0:
        raise SelectionError(
            f"{path} has no column 'item' or 'label', or no rows: list the items, the labels, or the labels on items "
            "that may be selected"
        )
    return table
