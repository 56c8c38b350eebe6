"""What classifiers predict, for the owner to look through: labels, confidences and further labels."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16
from dissensus.backends import FURTHER
from dissensus.competition.browsing import Catalogue
from dissensus.predictions.browsing import Facts, Filter, label_counts, label_distance
from dissensus.store.tables import ROW_GROUP, StudyTable, open_table, read_numbers, read_rows

Loaded = tuple[UInt16[Array, "M n"], Float[Array, "M n"]]


class LabelCatalogue(Catalogue):
    """The labels of all models; a prediction's level is its confidence."""

    level = "confidence"
    chunk, kept = ROW_GROUP, 4

    @cached_property
    def files(self) -> list[StudyTable]:
        return [open_table(self.work.folder.predictions(name)) for name in self.models]

    def load(self, rows: range) -> Loaded:
        labels = np.empty((len(self.files), len(rows)), np.uint16)
        confidence = np.full(labels.shape, np.nan, np.float32)
        for model, file in enumerate(self.files):
            labels[model] = read_numbers(file, rows, "label")
            if "confidence" in file.schema_arrow.names:
                confidence[model] = read_numbers(file, rows, "confidence")
        return labels, confidence

    def facts(self, loaded: Loaded, wanted: Filter) -> Facts:
        labels, confidence = loaded
        is_there = labels != MISSING
        has_label = is_there if wanted.label is None else labels == wanted.label
        return Facts(label_distance(labels, wanted), confidence, is_there, has_label)

    def labels(self, loaded: Loaded, counted: Bool[Array, "M n"]) -> Int[Array, " C"]:
        return label_counts(loaded[0], counted, len(self.work.classes))

    def shown(self, items: Int[Array, " n"]) -> list[list[dict[str, Any]]]:
        found = [_predictions(self.work.folder.predictions(name), items) for name in self.models]
        return [list(predictions) for predictions in zip(*found, strict=True)]


def _predictions(path: Path, items: Int[Array, " n"]) -> list[dict[str, Any]]:
    """A model's predictions of some items; where it has none, the reason."""
    file = open_table(path)
    columns = read_rows(file, items, ["label", "confidence", *FURTHER])
    found = [_prediction(columns, row) for row in range(len(items))]
    absent = np.flatnonzero(columns["label"] == MISSING)
    if len(absent):  # words take longer to read than all numbers together
        reasons = read_rows(file, items[absent], ["problem"])["problem"]
        for row, reason in zip(absent.tolist(), reasons, strict=True):
            found[row] = {"problem": reason or "no prediction"}
    return found


def _prediction(column: dict[str, Array], row: int) -> dict[str, Any]:
    further = [int(column[name][row]) for name in FURTHER if name in column]
    found = {"label": int(column["label"][row]), "further": [one for one in further if one != MISSING]}
    if "confidence" in column and not np.isnan(column["confidence"][row]):
        return found | {"level": float(column["confidence"][row])}
    return found
