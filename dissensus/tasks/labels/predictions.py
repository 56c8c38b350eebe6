"""Predictions of classifiers: the top-1 label, its probability and the labels ranked 2 to 5 for every item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import MISSING, Array, UInt16
from dissensus.backends import FURTHER, Preprocess, Unreadable, open_model, read_predictions
from dissensus.errors import PredictionError
from dissensus.predictions.protocol import Model
from dissensus.steps.pooling import pool_ids
from dissensus.steps.predicting import Batches, Parted, Source
from dissensus.store.files import fingerprint
from dissensus.store.tables import write_table

TOGETHER = 512
"""Parts that are joined at a time."""


class LabelSource(Source):
    """Reads the labels of one model from a file, or runs the model."""

    columns = ("label", "confidence")
    absent = MISSING
    shares_images = True
    opened: Model | None = None

    def read(self) -> pa.Table:
        """The labels in a file, in the order of the pool."""
        read = read_predictions(self.model.target, self.work.classes, pool_ids(self.work.folder))
        reasons = pa.nulls(len(read.labels), pa.string()) if read.problems is None else read.problems
        confidence = {} if read.confidence is None else {"confidence": read.confidence}
        further = {} if read.further is None else _columns(read.further)
        return pa.table({"label": read.labels, **confidence, **further, "problem": reasons})

    def open(self) -> None:
        """Load the classifier."""
        _ = self.images  # fails early if the pool has no files
        preprocess = Preprocess.read(self.preprocess)
        self.opened = open_model(self.model.backend, self.model.target, preprocess, self.work.classes)

    def part(self, rows: Sequence[int], batches: Batches | None = None) -> pa.Table:
        """Labels of some items; MISSING with the reason for items that cannot be read."""
        assert self.opened is not None, "open first"
        labels = np.full(len(rows), MISSING, np.uint16)
        confidence = np.zeros(len(rows), np.float32)
        further = np.full((len(rows), len(FURTHER)), MISSING, np.uint16)
        reasons: list[str | None] = [None] * len(rows)
        for batch, images in self.images.batches(rows) if batches is None else batches:
            readable = [row for row, image in zip(batch, images, strict=True) if not isinstance(image, Unreadable)]
            for row, image in zip(batch, images, strict=True):
                if isinstance(image, Unreadable):
                    reasons[row] = image.reason
            if readable:
                seen = [image for image in images if not isinstance(image, Unreadable)]
                labels[readable], confidence[readable], further[readable] = self.opened.predict(seen)
        known = {"label": labels, "confidence": confidence} | _columns(further)
        return pa.table(known | {"problem": pa.array(reasons, pa.string())})

    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        """Write labels, confidences and further labels if the model gives any, and problems, with fingerprints."""
        table, is_compact = self._whole(_joined(parts())), self.work.settings.compact
        table = compact(table) if is_compact else table
        write_table(path, table, stamps | label_stamps(table), FURTHER, coded=["label"] if is_compact else [])

    def _whole(self, table: pa.Table) -> pa.Table:
        has_confidence = "confidence" in table.column_names
        confidence = table["confidence"].to_numpy() if has_confidence else None
        if self.model.backend != "file" and confidence is not None and np.isnan(confidence).any():
            confidence = None  # a model without confidences returns NaN
        further = {name: table[name] for name in FURTHER if name in table.column_names}
        reasons = table["problem"].combine_chunks().cast(pa.string())
        return label_table(table["label"].to_numpy(), confidence, reasons, further)


def _columns(further: UInt16[Array, "n 4"]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(column) for name, column in zip(FURTHER, further.T, strict=True)}


def _joined(parts: Iterable[pa.Table]) -> pa.Table:
    """All parts, with the columns that each of them has: parts of an earlier version have no further labels.

    Joined a few hundred at a time: a table takes several times as much memory as the rows of a part.
    """
    left, found = iter(parts), list[pa.Table]()
    while some := list(islice(left, TOGETHER)):
        found.append(_with_shared_columns(some).combine_chunks())
    return _with_shared_columns(found)


def _with_shared_columns(tables: Sequence[pa.Table]) -> pa.Table:
    shared = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
    return pa.concat_tables([table.select(shared) for table in tables])


def label_table(
    labels: Array, confidence: Array | None, reasons: pa.Array, further: Mapping[str, Any] = MappingProxyType({})
) -> pa.Table:
    """The columns of predictions/NAME.parquet; without those of further labels that are MISSING everywhere.

    Raises:
        PredictionError: there are no predictions at all.
    """
    if (labels == MISSING).all():
        raise PredictionError("no item has a prediction: check the file of predictions, or the paths in the pool")
    columns = {"label": pa.array(labels, pa.uint16())}
    if confidence is not None:
        columns["confidence"] = pa.array(np.where(labels == MISSING, np.float32(0), confidence), pa.float32())
    for name, column in further.items():
        kept = np.where(labels == MISSING, MISSING, np.asarray(column)).astype(np.uint16, copy=False)
        if (kept != MISSING).any():
            columns[name] = pa.array(kept, pa.uint16())
    # a non-nullable column is read twice as fast
    fields = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    return pa.table([*columns.values(), reasons], schema=pa.schema([*fields, pa.field("problem", pa.string())]))


def compact(table: pa.Table) -> pa.Table:
    """The same predictions with confidences in half precision."""
    if "confidence" not in table.column_names:
        return table
    place, field = table.column_names.index("confidence"), pa.field("confidence", pa.float16(), nullable=False)
    return table.set_column(place, field, pa.array(table["confidence"].to_numpy().astype(np.float16)))


def label_stamps(table: pa.Table) -> dict[str, Any]:
    """Fingerprints of the predictions; models with the same `labels` cannot be told apart.

    `content` is what selections are made from: labels and confidences. So a model of an earlier version can be run
    again to add further labels, even if it takes part in rounds.
    """
    columns = {name: table[name].to_numpy() for name in LabelSource.columns if name in table.column_names}
    labels = fingerprint(columns["label"].tobytes())
    return {
        "labels": labels,
        "content": fingerprint(labels, *(column.tobytes() for column in columns.values())),
        "unreadable": int((columns["label"] == MISSING).sum()),
    }
