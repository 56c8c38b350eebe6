"""Predictions of classifiers: the top-1 label, its probability and the labels ranked 2 to 5 for every item."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
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
from dissensus.store.tables import write_pieces


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
        write_labels(path, parts, stamps, self.work.settings.compact)


def _columns(further: UInt16[Array, "n 4"]) -> dict[str, Array]:
    return {name: np.ascontiguousarray(column) for name, column in zip(FURTHER, further.T, strict=True)}


def write_labels(path: Path, parts: Parted, stamps: dict[str, Any], is_compact: bool = False) -> None:
    """Write predictions/NAME.parquet; if it `is_compact`, with labels as codes and confidences in half precision.

    Raises:
        PredictionError: no item has a prediction.
    """
    summary = _Summary(pa.float16() if is_compact else pa.float32())
    for part in parts():
        summary.add(part)
    schema, coded = summary.schema(), ["label"] if is_compact else []
    pieces = (_stored(part, schema) for part in parts())
    write_pieces(path, schema, pieces, stamps | summary.stamps(), packed=FURTHER, coded=coded)


class _Summary:
    """Summary of all predictions, gathered part by part; only labels and confidences are kept."""

    def __init__(self, confidence: pa.DataType) -> None:
        """`confidence` is the type of confidences in the file."""
        self.kinds = {"label": pa.uint16(), "confidence": confidence} | dict.fromkeys(FURTHER, pa.uint16())
        self.shared = {*self.kinds}
        """Columns that every part has: parts of an earlier version have no further labels."""
        self.given = {"label", "confidence"}
        """Columns that say something: a further label is not MISSING everywhere."""
        self.kept: dict[str, list[Array]] = {"label": [], "confidence": []}

    def add(self, part: pa.Table) -> None:
        """Add a part."""
        self.shared &= {*part.column_names}
        labels = part["label"].to_numpy()
        for name in self.shared:
            values = _beside(labels, part[name].to_numpy(), self.kinds[name])
            if name in self.kept:
                self.kept[name].append(values)
            elif (values != MISSING).any():
                self.given.add(name)
            if name == "confidence" and np.isnan(values).any():
                self.given.discard(name)  # a model without confidences returns NaN; in a file, NaN has been refused

    def schema(self) -> pa.Schema:
        """The columns to write.

        Raises:
            PredictionError: no item has a prediction.
        """
        if all((labels == MISSING).all() for labels in self.kept["label"]):
            raise PredictionError("no item has a prediction: check the file of predictions, or the paths in the pool")
        # a non-nullable column is read twice as fast
        fields = [pa.field(name, kind, nullable=False) for name, kind in self.kinds.items() if self._has(name)]
        return pa.schema([*fields, pa.field("problem", pa.string())])

    def stamps(self) -> dict[str, Any]:
        """Fingerprints of the predictions; models with the same `labels` cannot be told apart.

        `content` is what selections are made from: labels and confidences. So a model of an earlier version can be run
        again to add further labels, even if it takes part in rounds.
        """
        kept = {name: np.concatenate(values) for name, values in self.kept.items() if self._has(name)}
        columns = [column.view(np.uint8).data for column in kept.values()]
        labels = fingerprint(columns[0])
        return {
            "labels": labels,
            "content": fingerprint(labels, *columns),
            "unreadable": int((kept["label"] == MISSING).sum()),
        }

    def _has(self, name: str) -> bool:
        return name in self.shared & self.given


def _stored(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """A part as it is stored."""
    labels = part["label"].to_numpy()
    columns = [pa.array(_beside(labels, part[one.name].to_numpy(), one.type)) for one in schema if not one.nullable]
    return pa.table([*columns, part["problem"].cast(pa.string())], schema=schema)


def _beside(labels: Array, values: Array, kind: pa.DataType) -> Array:
    """The values of a column as they are stored; without a label, another label is MISSING and a confidence is 0."""
    absent = MISSING if pa.types.is_integer(kind) else 0
    return np.where(labels == MISSING, absent, values).astype(kind.to_pandas_dtype(), copy=False)
