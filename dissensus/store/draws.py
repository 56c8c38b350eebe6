"""Draws on disk: which questions were drawn together, how likely each was, and what was expected then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Float, Int
from dissensus.records import FORMAT_VERSION
from dissensus.store.files import remove_file
from dissensus.store.folder import Folder
from dissensus.store.tables import read_stamps, read_table, write_table


@dataclass(frozen=True)
class StoredBatch:
    """A batch of draws, one row per question: `draw` counts from 0, and is −1 for what was asked before.

    `about` has the models, their expected totals, the covariance forecast for one draw, and how it was drawn.
    """

    number: int
    draw: Int[Array, " k"]
    item: Int[Array, " k"]
    label: Int[Array, " k"]
    predicted: Float[Array, " k"]
    probability: Float[Array, " k"]
    ids: tuple[str, ...]
    about: dict[str, Any]

    @property
    def predictions(self) -> dict[str, str]:
        """Fingerprints of the predictions it was drawn from, by model."""
        return dict(self.about["inputs"]["predictions"])


def write_batch(folder: Folder, number: int, columns: Mapping[str, Any], about: dict[str, Any]) -> None:
    """Write draws/NNN.parquet; the columns are those of `StoredBatch`, with `ids` as `item`."""
    table = pa.table(
        {
            "draw": pa.array(columns["draw"], pa.int32()),
            "item": pa.array(list(columns["ids"]), pa.string()),
            "position": pa.array(columns["item"], pa.int64()),
            "label": pa.array(columns["label"], pa.int32()),
            "predicted": pa.array(columns["predicted"], pa.float64()),
            "probability": pa.array(columns["probability"], pa.float64()),
        }
    )
    write_table(folder.batch(number), table, about | {"format_version": FORMAT_VERSION})


def remove_batches(folder: Folder) -> None:
    """Remove all batches, about which nobody has been asked: the last one first, so that no number is ever missing."""
    for number in reversed(folder.batches()):
        remove_file(folder.batch(number))


def read_batches(folder: Folder) -> list[StoredBatch]:
    """All batches in the order in which they were drawn."""
    return [_read_batch(folder, number) for number in folder.batches()]


def _read_batch(folder: Folder, number: int) -> StoredBatch:
    about = read_stamps(folder.batch(number), "models", "expected", "forecast", "inputs")
    table = read_table(folder.batch(number))
    draw, item, label = (table[name].to_numpy().astype(np.int64) for name in ("draw", "position", "label"))
    predicted, probability = (table[name].to_numpy() for name in ("predicted", "probability"))
    ids = tuple(table["item"].to_pylist())
    return StoredBatch(number, draw, item, label, predicted, probability, ids, about)
