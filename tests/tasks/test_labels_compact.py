"""Files of predictions in less space: what they hold, and what is selected from them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from dissensus.arrays import MISSING
from dissensus.store.tables import ROW_GROUP, decimal, open_table
from dissensus.study import Study

ITEMS = ROW_GROUP + 500


@pytest.fixture(scope="module")
def studies(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Study]:
    """The same predictions in both forms; confidences are those of forests and neighbours: hundredths."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 50, ITEMS)
    given = {}
    for name in "abc":
        labels = np.where(rng.random(ITEMS) < 0.8, truth, rng.integers(0, 50, ITEMS))
        given[name] = (labels, rng.integers(50, 101, ITEMS) / 100)
    made = {}
    for form in ("usual", "compact"):
        root = tmp_path_factory.mktemp(form) / "study"
        study = Study.init(root, classes=[f"class {number}" for number in range(50)])
        if form == "compact":
            text = study.folder.settings.read_text()
            study.folder.settings.write_text(text.replace("# compact = true ", "compact = true "))
        study.pool(items=[f"{number:07}" for number in range(ITEMS)])
        study.predict(**given)
        study.select(k=20, confidence=0.8)
        made[form] = study
    return made


def test_less_than_half_the_space(studies: dict[str, Study]) -> None:
    sizes = {form: study.folder.predictions("a").stat().st_size for form, study in studies.items()}
    assert sizes["compact"] < sizes["usual"] / 2
    file = pq.ParquetFile(studies["compact"].folder.predictions("a"))
    assert file.schema_arrow.field("confidence").type == "halffloat"
    assert "RLE_DICTIONARY" in file.metadata.row_group(0).column(0).encodings


def test_the_same_predictions_and_the_same_selection(studies: dict[str, Study]) -> None:
    usual, compact = studies["usual"], studies["compact"]
    np.testing.assert_array_equal(usual.labels("b"), compact.labels("b"))
    assert (usual.labels("b") != MISSING).all()
    assert compact.selection() == usual.selection()
    assert open_table(compact.folder.predictions("a")).numbers(0, "confidence").dtype == np.float32


def test_confidences_are_rounded_to_half_precision(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=["x", "y"])
    study.folder.settings.write_text("compact = true\n" + study.folder.settings.read_text())
    study.pool(items=["1", "2"])
    study.predict(a=([0, 1], [0.8001, 1 / 3]), b=([1, 0], [0.5, 0.5]))
    found = open_table(study.folder.predictions("a")).numbers(0, "confidence")
    np.testing.assert_allclose(found, [0.8001, 1 / 3], atol=0.00025)


def test_confidences_that_reach_a_threshold_still_do() -> None:
    def stored(values: np.ndarray) -> np.ndarray:
        return decimal(values.astype(np.float32).astype(np.float16))

    thresholds = np.linspace(0, 1, 1001).round(3).astype(np.float32)
    np.testing.assert_array_equal(stored(thresholds), thresholds)
    values = np.linspace(0, 1, 1_000_001).astype(np.float32)
    assert (np.diff(stored(values)) >= 0).all()  # so what is above a threshold is not below it once it is stored
    assert np.abs(stored(values) - values).max() < 0.0005
    counts = values[stored(values) >= np.float32(0.8)]
    assert 0.79956 < counts.min() < 0.79957


def test_a_pool_grows_and_the_round_is_that_of_a_whole_pool(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    given = {name: (rng.integers(0, 3, 400), rng.random(400)) for name in "abc"}
    made = {}
    for name, stops in (("whole", [400]), ("grown", [150, 400])):
        study = made[name] = Study.init(tmp_path / name, classes=["x", "y", "z"])
        study.folder.settings.write_text("compact = true\n" + study.folder.settings.read_text())
        for start, stop in zip([0, *stops], stops, strict=False):
            items = [f"{number:03}" for number in range(start, stop)]
            study.pool(items=items, add=start > 0)
            order = [int(item) for item in study.items()]
            predicted = {one: (labels[order], sure[order]) for one, (labels, sure) in given.items()}
            study.predict(**predicted)
            study.select(k=5, confidence=0.2)
    for one in (study.folder.predictions("b") for study in made.values()):
        assert pq.ParquetFile(one).schema_arrow.field("confidence").type == "halffloat"
    rounds = [study.folder.selection(1).read_bytes() for study in made.values()]
    assert rounds[0] == rounds[1]
    assert made["grown"].engine.passes[-1].items == 250
