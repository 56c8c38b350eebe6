"""Predictions of classifiers: the top-1 label and its probability for every item."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import MISSING, Array
from dissensus.backends import Preprocess, Unreadable, open_model, read_predictions
from dissensus.errors import PredictionError
from dissensus.predictions.protocol import Model
from dissensus.steps.pooling import pool_ids
from dissensus.steps.predicting import Batches, Parted, Source
from dissensus.store.files import fingerprint
from dissensus.store.tables import write_table


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
        return pa.table({"label": read.labels, **confidence, "problem": reasons})

    def open(self) -> None:
        """Load the classifier."""
        _ = self.images  # fails early if the pool has no files
        preprocess = Preprocess.read(self.preprocess)
        self.opened = open_model(self.model.backend, self.model.target, preprocess, self.work.classes)

    def part(self, rows: range, batches: Batches | None = None) -> pa.Table:
        """Labels of some items; MISSING with the reason for items that cannot be read."""
        assert self.opened is not None, "open first"
        labels = np.full(len(rows), MISSING, np.uint16)
        confidence = np.zeros(len(rows), np.float32)
        reasons: list[str | None] = [None] * len(rows)
        for batch, images in self.images.batches(rows) if batches is None else batches:
            readable = [row for row, image in zip(batch, images, strict=True) if not isinstance(image, Unreadable)]
            for row, image in zip(batch, images, strict=True):
                if isinstance(image, Unreadable):
                    reasons[row] = image.reason
            if readable:
                seen = [image for image in images if not isinstance(image, Unreadable)]
                labels[readable], confidence[readable] = self.opened.predict(seen)
        return pa.table({"label": labels, "confidence": confidence, "problem": pa.array(reasons, pa.string())})

    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        """Write labels, confidences if the model gives any, and problems, with fingerprints."""
        table = self._whole(pa.concat_tables(parts()))
        write_table(path, table, stamps | label_stamps(table))

    def _whole(self, table: pa.Table) -> pa.Table:
        has_confidence = "confidence" in table.column_names
        confidence = table["confidence"].to_numpy() if has_confidence else None
        if self.model.backend != "file" and confidence is not None and np.isnan(confidence).any():
            confidence = None  # a model without confidences returns NaN
        return label_table(table["label"].to_numpy(), confidence, table["problem"].combine_chunks().cast(pa.string()))


def label_table(labels: Array, confidence: Array | None, reasons: pa.Array) -> pa.Table:
    """The columns of predictions/NAME.parquet.

    Raises:
        PredictionError: there are no predictions at all.
    """
    if (labels == MISSING).all():
        raise PredictionError("no item has a prediction: check the file of predictions, or the paths in the pool")
    columns = {"label": pa.array(labels, pa.uint16())}
    if confidence is not None:
        columns["confidence"] = pa.array(np.where(labels == MISSING, np.float32(0), confidence), pa.float32())
    # a non-nullable column is read twice as fast
    fields = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    return pa.table([*columns.values(), reasons], schema=pa.schema([*fields, pa.field("problem", pa.string())]))


def label_stamps(table: pa.Table) -> dict[str, Any]:
    """Fingerprints of the predictions; models with the same `labels` cannot be told apart."""
    columns = {name: table[name].to_numpy() for name in table.column_names if name != "problem"}
    labels = fingerprint(columns["label"].tobytes())
    return {
        "labels": labels,
        "content": fingerprint(labels, *(column.tobytes() for column in columns.values())),
        "unreadable": int((columns["label"] == MISSING).sum()),
    }
