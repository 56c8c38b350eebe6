"""Killed with SIGKILL at random points and run again: nothing finished is redone, and the bytes are the same."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forking import started

from dissensus.errors import StudyError
from dissensus.steps import pooling, predicting
from dissensus.store.files import content_fingerprint, remove_file
from dissensus.study import Study

pytestmark = pytest.mark.slow

SLOW_MODEL = '''
import time
from pathlib import Path
import numpy as np

def classify(images):
    """Brightness decides; every image that is looked at leaves a mark."""
    time.sleep(0.03)
    with open(Path(__file__).with_name("seen.txt"), "a") as file:
        file.write("x" * len(images))
    means = np.array([np.asarray(image).mean() for image in images])
    scores = -np.abs(means[:, None] - np.linspace(20, 140, 10))
    return np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
'''


def kill_after_parts(process, parts: Path, count: int, pause: float) -> bool:
    """Kill the process a moment after it has kept `count` parts; False where it ended before."""
    while process.poll() is None:
        if len(list(parts.glob("0*.parquet"))) >= count:
            time.sleep(pause)
            return process.kill() == -signal.SIGKILL
        time.sleep(0.002)
    assert process.returncode == 0, process.stderr
    return False


@pytest.fixture
def slow(demo, tmp_path):
    """A study whose only model takes its time, in a module of its own."""
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL)
    study = Study.init(tmp_path / "study", classes=str(demo[0] / "digits.txt"))
    study.pool([demo[0] / "pool"])
    return study


def test_predict_survives_sigkill(slow, tmp_path):
    undisturbed = tmp_path / "undisturbed"
    shutil.copytree(slow.folder.root, undisturbed)
    spec = "slow=python:slow_model:classify"
    done = started("predict", undisturbed, spec, cwd=tmp_path)
    assert done.wait() == 0, done.stderr
    (tmp_path / "seen.txt").unlink()

    rng = np.random.default_rng(int(os.environ.get("DISSENSUS_SEED", "0")))
    parts = slow.folder.parts("predict-slow")
    killed = 0
    for count in range(4):
        process = started("predict", slow.folder.root, spec, cwd=tmp_path)
        killed += kill_after_parts(process, parts, count, float(rng.uniform(0, 0.1)))
    process = started("predict", slow.folder.root, spec, cwd=tmp_path)
    assert process.wait() == 0, process.stderr
    assert killed >= 2
    assert slow.folder.predictions("slow").read_bytes() == Study(undisturbed).folder.predictions("slow").read_bytes()
    seen = len((tmp_path / "seen.txt").read_text())
    assert seen <= 899 + killed * predicting.CHUNK  # at most the chunk under way is lost at each kill
    assert not parts.exists()


def test_a_changed_model_under_a_resumed_step_is_refused(slow, tmp_path):
    process = started("predict", slow.folder.root, "slow=python:slow_model:classify", cwd=tmp_path)
    assert kill_after_parts(process, slow.folder.parts("predict-slow"), 1, 0.0)
    (interrupted,) = slow.status().models
    assert not interrupted.predicted
    assert interrupted.items in (256, 512, 768)
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL.replace("140", "120"))
    process = started("predict", slow.folder.root, "--trust", cwd=tmp_path)
    assert process.wait() == 2
    line = process.stderr
    assert "started with different inputs (model " in line
    assert len(line.strip().splitlines()) == 1
    (tmp_path / "slow_model.py").write_text(SLOW_MODEL)
    assert started("predict", slow.folder.root, "--trust", cwd=tmp_path).wait() == 0


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """2.5 million items, three models, a hundred classes, all differently far apart: five chunks for `select`."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(5)
    count = 2_500_000
    items = pa.array(np.char.add("i", np.arange(count).astype("U7")))
    (folder / "classes.txt").write_text("".join(f"class {number}\n" for number in range(100)))
    pq.write_table(pa.table({"item": items}), folder / "pool.parquet")
    # a chain with one class at every depth: few ties, so that the selection is not settled before the last chunk
    chain = [f"depth {number + 1},depth {number}" for number in range(99)]
    leaves = [f"class {number},depth {number}" for number in range(100)]
    (folder / "edges.csv").write_text("\n".join(["child,parent", *chain, *leaves]))
    study = Study.init(folder / "study", classes=str(folder / "classes.txt"), taxonomy=folder / "edges.csv")
    study.pool([folder / "pool.parquet"])
    truth = rng.integers(0, 100, count, dtype=np.uint16)
    for name, wrong in (("a", 0.01), ("b", 0.02), ("c", 0.05)):
        labels = np.where(rng.random(count) < wrong, rng.integers(0, 100, count, dtype=np.uint16), truth)
        confidence = rng.random(count, dtype=np.float32)
        table = pa.table({"item": items, "label": labels, "confidence": confidence})
        pq.write_table(table, folder / f"{name}.parquet")
        study.predict([f"{name}=file:{folder / name}.parquet"])
        (folder / f"{name}.parquet").unlink()
    return study


DEADLY = """
import os, signal, sys
from dissensus.store.parts import Parts

write, left = Parts.write, int(sys.argv.pop(1))

def deadly(self, *given):
    global left
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    write(self, *given)

Parts.write = deadly
from dissensus.__main__ import main
main()
"""
"""The command, killed when it has kept so many parts: a selection is too fast to wait for that moment."""


def killed_after(parts: int, *arguments: object) -> bool:
    command = [sys.executable, "-c", DEADLY, str(parts), *map(str, arguments)]
    return subprocess.run(command, check=False, capture_output=True).returncode == -signal.SIGKILL


def test_select_survives_sigkill(large, tmp_path):
    selection = large.folder.selection(1)
    if not selection.exists():
        large.select(k=30, distance="weighted-exactly")
    whole = selection.read_bytes()
    remove_file(selection)
    kept = large.folder.parts("select-001")
    for count in (0, 1, 2):
        before = len(list(kept.glob("0*.parquet")))
        assert killed_after(count, "select", large.folder.root)
        assert len(list(kept.glob("0*.parquet"))) == before + count
    done = started("select", large.folder.root, cwd=tmp_path)
    assert done.wait() == 0, done.stderr
    assert selection.read_bytes() == whole
    assert not kept.exists()


def test_other_settings_under_a_resumed_selection_are_refused(large):
    remove_file(large.folder.selection(1))
    settings = {"k": 30, "distance": "weighted-exactly"}
    assert killed_after(1, "select", large.folder.root, "--k", 30, "--distance", settings["distance"])
    with pytest.raises(StudyError, match=r"settings\.k 30 → 10"):
        large.select(k=10)
    large.select(**settings)


def test_import_killed_at_any_time_stores_all_or_nothing(finished, tmp_path):
    rows = [
        {"item": item, "label": label, "annotator": f"ann-{who}", "answer": "yes", "time": "2026-01-01T00:00:00+00:00"}
        for item, label in finished.asked()
        for who in range(200)
    ]
    path = tmp_path / "many.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    before = finished.status().judgements
    for pause in (0.05, 0.2, 0.4, 0.8, 1.6):
        process = started("judgements", "import", finished.folder.root, path, cwd=tmp_path)
        time.sleep(pause)
        process.kill()
        assert finished.status().judgements in (before, before + len(rows))
    finished.judgements_import(path)
    assert finished.status().judgements == before + len(rows)
    finished.judgements_import(path)
    assert finished.status().judgements == before + len(rows)


def test_pool_goes_on_where_it_stopped(demo, tmp_path, monkeypatch):
    study = Study.init(tmp_path / "study", classes=str(demo[0] / "digits.txt"))
    read = []

    def fingerprint(path: str) -> tuple[int, str]:
        if len(read) >= 250:
            raise KeyboardInterrupt
        read.append(path)
        return content_fingerprint(path)

    monkeypatch.setattr(pooling, "CHUNK", 100)
    monkeypatch.setattr(pooling, "content_fingerprint", fingerprint)
    with pytest.raises(KeyboardInterrupt):
        study.pool([demo[0] / "pool"])
    read.clear()
    monkeypatch.setattr(pooling, "content_fingerprint", lambda uri: read.append(uri) or content_fingerprint(uri))
    study.pool([demo[0] / "pool"])
    assert len(read) == 899 - 200
    whole = Study.init(tmp_path / "whole", classes=str(demo[0] / "digits.txt"))
    whole.pool([demo[0] / "pool"])
    assert study.folder.pool.read_bytes() == whole.folder.pool.read_bytes()
