"""Several models in one pass over the images: what each predicts, and what is left if one of them fails."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from dissensus.backends import frameworks
from dissensus.backends.frameworks import at_a_time, threads
from dissensus.errors import BackendError
from dissensus.steps import pooled_images, predicting_together
from dissensus.steps.models import Request, predict_models
from dissensus.store.tables import read_table
from dissensus.study import Study
from dissensus.tasks.labels.predictions import LabelSource
from tests.shards import served_folder

ITEMS = 11
PART = 3
MODELS = """
import os, time
import numpy as np

def levels(images): return np.array([np.asarray(image).mean() // 20 for image in images])
def fast(images): return np.eye(11)[(levels(images) % 11).astype(int)]
def slow(images):
    time.sleep(0.02)
    return np.eye(11)[((levels(images) + 1) % 11).astype(int)]
def fails(images):
    if levels(images).max() >= 6 and not os.path.exists(__file__ + ".repaired"):
        raise ValueError("out of luck")
    return fast(images)
"""


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Study:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "pool").mkdir()
    for number in range(ITEMS):
        Image.new("L", (8, 8), 20 * number).save(tmp_path / "pool" / f"{number:02}.png")
    monkeypatch.setattr(LabelSource, "chunk", PART)
    made = Study.init(tmp_path / "study", classes=[f"level {number}" for number in range(11)])
    made.pool([tmp_path / "pool"])
    return made


def predict(study: Study, tmp_path: Path, *names: str) -> None:
    """Run these models in one pass."""
    specs = [f"{name}=python:{tmp_path / 'models.py'}:{name}" for name in names]
    predict_models(study._task, Request(specs, is_together=True))


@pytest.mark.parametrize("cores", [1, 2, 8])
def test_every_image_is_decoded_once_and_the_predictions_are_those_of_each_alone(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    decoded: Counter[str] = Counter()
    read = pooled_images.read_image

    def counted(uri: Any, at_least: int = 0) -> Any:
        decoded[str(uri)] += 1
        return read(uri, at_least)

    monkeypatch.setattr(pooled_images, "read_image", counted)
    monkeypatch.setattr(predicting_together, "cores", lambda: cores)
    predict(study, tmp_path, "fast", "slow")
    assert set(decoded.values()) == {1}
    assert len(decoded) == ITEMS
    for name, shift in (("fast", 0), ("slow", 1)):
        labels = study.labels(name)
        assert labels.tolist() == [(number + shift) % 11 for number in range(ITEMS)]
    together = study.folder.predictions("slow").read_bytes()
    study.predict(again=["slow"])
    assert study.folder.predictions("slow").read_bytes() == together


def test_pictures_on_a_server_are_asked_for_once_for_all_models(tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(MODELS)
    (tmp_path / "pool").mkdir()
    for number in range(ITEMS):
        Image.new("L", (8, 8), 20 * number).save(tmp_path / "pool" / f"{number:02}.png")
    with served_folder(tmp_path / "pool") as (address, asked):
        far = Study.init(tmp_path / "far", classes=[f"level {number}" for number in range(11)])
        far.pool(f"{address}/")
        asked.clear()
        far.predict([f"{name}=python:{tmp_path / 'models.py'}:{name}" for name in ("fast", "slow")])
    assert Counter(path for method, path, _ in asked if method == "GET") == Counter(
        f"/files/{number:02}.png" for number in range(ITEMS)
    )
    assert far.labels("fast").tolist() == [number % 11 for number in range(ITEMS)]


@pytest.mark.parametrize("cores", [1, 2])
def test_if_a_model_fails_only_whole_parts_are_kept(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cores: int
) -> None:
    monkeypatch.setattr(predicting_together, "cores", lambda: cores)
    with pytest.raises(BackendError, match="fails failed on 3 images: ValueError: out of luck"):
        predict(study, tmp_path, "fast", "slow", "fails")
    for name in ("fast", "slow"):
        for path in (study.folder.root / ".unfinished" / f"predict-{name}").glob("*.parquet"):
            assert (read_table(path)["label"].to_numpy() < 11).all()
    (tmp_path / "models.py.repaired").touch()
    predict(study, tmp_path, "fast", "slow", "fails")
    assert study.labels("fails").tolist() == study.labels("fast").tolist() == list(range(ITEMS))
    assert study.labels("slow").tolist() == [*range(1, ITEMS), 0]


def test_networks_that_run_at_the_same_time_share_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frameworks, "cores", lambda: 8)
    assert threads() == 8
    with at_a_time(3):
        assert threads() == 2
        with at_a_time(20):
            assert threads() == 1
    assert threads() == 8
