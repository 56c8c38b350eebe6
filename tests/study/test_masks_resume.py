"""Maps: killed with SIGKILL and run again, nothing finished is redone, and the bytes are the same."""

from __future__ import annotations

import os
import shutil

import numpy as np
import pytest
from forking import started
from masks_made import NAMES, write_photos
from PIL import Image
from test_resume import kill_after_parts

from dissensus.steps.predicting import CHUNK
from dissensus.store.files import file_fingerprint, remove_file
from dissensus.study import Study
from dissensus.tasks.masks.selecting import CategoryReduction

pytestmark = pytest.mark.slow

SLOW_MODEL = '''
import time
from pathlib import Path
import numpy as np

def segment(images):
    """Brightness decides; every image that is looked at leaves a mark."""
    time.sleep(0.05)
    with open(Path(__file__).with_name("seen.txt"), "a") as file:
        file.write("x" * len(images))
    return [(np.asarray(image).mean(axis=2) // 64).astype(np.uint8) for image in images]
'''
ITEMS = 9_000


@pytest.fixture
def slow(tmp_path):
    """A study of photos whose only model takes its time."""
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL)
    (tmp_path / "classes.txt").write_text("\n".join(NAMES))
    photos = write_photos(tmp_path / "photos")
    for number in range(600):  # more than two chunks
        shutil.copy(photos / f"scene-{number % 60:03}.png", photos / f"more-{number:03}.png")
    study = Study.init(tmp_path / "study", task="masks", classes=str(tmp_path / "classes.txt"))
    study.pool([photos])
    return study


def test_predict_survives_sigkill(slow, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(slow.folder.root, undisturbed)
    spec = "slow=python:slow_model:segment"
    assert started("predict", undisturbed, spec, cwd=tmp_path).wait() == 0
    (tmp_path / "seen.txt").unlink()
    rng = np.random.default_rng(int(os.environ.get("DISSENSUS_SEED", "0")))
    parts = slow.folder.parts("predict-slow")
    killed = 0
    for count in range(3):
        process = started("predict", slow.folder.root, spec, cwd=tmp_path)
        killed += kill_after_parts(process, parts, count, float(rng.uniform(0, 0.1)))
    process = started("predict", slow.folder.root, spec, cwd=tmp_path)
    assert process.wait() == 0, process.stderr
    assert killed >= 2
    assert slow.folder.predictions("slow").read_bytes() == Study(undisturbed).folder.predictions("slow").read_bytes()
    assert len((tmp_path / "seen.txt").read_text()) <= 660 + killed * CHUNK
    assert not parts.exists()


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """Nine thousand tiny maps of two models: three chunks for `select`."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "classes.txt").write_text("\n".join(NAMES))
    (folder / "pool.csv").write_text("item\n" + "\n".join(f"i{number:04}" for number in range(ITEMS)))
    study = Study.init(folder / "study", task="masks", classes=str(folder / "classes.txt"))
    study.pool([folder / "pool.csv"])
    rng = np.random.default_rng(3)
    for name in ("a", "b"):
        (folder / name).mkdir()
        for number in range(ITEMS):
            Image.fromarray(rng.integers(0, 4, (4, 6), dtype=np.uint8)).save(folder / name / f"i{number:04}.png")
        study.predict([f"{name}=file:{folder / name}"])
    return study


def test_select_survives_sigkill(many, tmp_path):
    many.select(k=3)
    selection = many.folder.selection(1)
    whole = file_fingerprint(selection)
    killed = 0
    for count in (1, 2):
        remove_file(selection)
        process = started("select", many.folder.root, cwd=tmp_path)
        killed += kill_after_parts(process, many.folder.parts("select-001"), count, 0.0)
    process = started("select", many.folder.root, cwd=tmp_path)
    assert process.wait() == 0, process.stderr
    assert killed >= 1
    assert file_fingerprint(selection) == whole
    assert not many.folder.parts("select-001").exists()


def test_chunks_do_not_matter(many, monkeypatch):
    whole = many.folder.selection(1).read_bytes() if many.folder.selection(1).exists() else None
    if whole is None:
        many.select(k=3)
        whole = many.folder.selection(1).read_bytes()
    remove_file(many.folder.selection(1))
    monkeypatch.setattr(CategoryReduction, "kept", 1)
    many.select(k=3)
    assert many.folder.selection(1).read_bytes() == whole
