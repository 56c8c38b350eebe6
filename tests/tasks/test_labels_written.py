"""Predictions of classifiers, written part by part: the file does not depend on the parts."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.arrays import MISSING
from dissensus.errors import PredictionError
from dissensus.store.files import fingerprint
from dissensus.store.tables import read_stamps, read_table
from dissensus.tasks.labels.predictions import write_labels


def predictions(rng: np.random.Generator, items: int) -> pa.Table:
    """As a network leaves them: a fifth of the pictures cannot be read."""
    labels = rng.integers(0, 9, items).astype(np.uint16)
    reasons = pa.array(["broken" if one else None for one in rng.random(items) < 0.2], pa.string())
    labels[reasons.is_valid().to_numpy(zero_copy_only=False)] = MISSING
    further = {"label2": rng.integers(0, 9, items).astype(np.uint16), "label3": np.full(items, MISSING, np.uint16)}
    return pa.table({"label": labels, "confidence": rng.random(items, np.float32), **further, "problem": reasons})


def cut(rng: np.random.Generator, table: pa.Table) -> list[pa.Table]:
    """A table in some parts."""
    ends = [0, *np.sort(rng.integers(0, len(table) + 1, 3)).tolist(), len(table)]
    return [table.slice(start, stop - start) for start, stop in pairwise(ends)]


@given(st.integers(0, 10_000), st.booleans())
def test_the_file_does_not_depend_on_the_parts(
    tmp_path_factory: pytest.TempPathFactory, seed: int, is_compact: bool
) -> None:
    rng, folder = np.random.default_rng(seed), tmp_path_factory.mktemp("labels")
    table = predictions(rng, 40)
    pieces = cut(rng, table)
    write_labels(folder / "whole.parquet", lambda: [table], {"of": "it"}, is_compact)
    write_labels(folder / "parts.parquet", lambda: pieces, {"of": "it"}, is_compact)
    assert (folder / "whole.parquet").read_bytes() == (folder / "parts.parquet").read_bytes()

    found, stamps = read_table(folder / "whole.parquet"), read_stamps(folder / "whole.parquet")
    assert found.column_names == ["label", "confidence", "label2", "problem"]  # nothing has a third label
    labels = table["label"].to_numpy()
    assert found["label"].to_pylist() == labels.tolist()
    assert found["problem"].equals(table["problem"])
    sure = np.where(labels == MISSING, np.float32(0), table["confidence"].to_numpy())
    sure = sure.astype(np.float16) if is_compact else sure
    np.testing.assert_array_equal(found["confidence"].to_numpy(), sure)
    assert (found["label2"].to_numpy()[labels == MISSING] == MISSING).all()
    first = fingerprint(labels.tobytes())
    assert stamps["labels"] == first
    assert stamps["content"] == fingerprint(first, labels.tobytes(), sure.tobytes())
    assert stamps["unreadable"] == (labels == MISSING).sum()


def test_a_model_without_confidences_has_none_in_any_part(tmp_path: Path) -> None:
    parts = [predictions(np.random.default_rng(seed), 20) for seed in range(3)]
    nan = np.full(20, np.nan, np.float32)
    parts[1] = parts[1].set_column(1, "confidence", pa.array(nan))
    write_labels(tmp_path / "a.parquet", lambda: parts, {})
    assert read_table(tmp_path / "a.parquet").column_names == ["label", "label2", "problem"]
    labels = np.concatenate([part["label"].to_numpy() for part in parts])
    stamps = read_stamps(tmp_path / "a.parquet")
    assert stamps["content"] == fingerprint(stamps["labels"], labels.tobytes())


def test_parts_of_an_earlier_version_have_no_further_labels(tmp_path: Path) -> None:
    parts = [predictions(np.random.default_rng(seed), 20) for seed in range(2)]
    parts[1] = parts[1].select(["label", "confidence", "problem"])
    write_labels(tmp_path / "a.parquet", lambda: parts, {})
    assert read_table(tmp_path / "a.parquet").column_names == ["label", "confidence", "problem"]


def test_no_prediction_at_all_is_refused(tmp_path: Path) -> None:
    part = predictions(np.random.default_rng(0), 5)
    part = part.set_column(0, "label", pa.array(np.full(5, MISSING, np.uint16)))
    with pytest.raises(PredictionError, match="no item has a prediction"):
        write_labels(tmp_path / "a.parquet", lambda: [part, part], {})
    assert not (tmp_path / "a.parquet").exists()
