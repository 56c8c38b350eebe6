"""Whole studies with `--engine ray`, on a real cluster of two nodes: the files are those of the local engine."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from dissensus.arrays import MISSING
from dissensus.steps.predicting import Source
from dissensus.study import Study

sys.path.append(str(Path(__file__).parents[1] / "engines"))
from clusters import cluster

pytest.importorskip("ray", reason="Ray is not installed")
ITEMS = 700

MODEL = """
import os, time
import numpy as np

class Net:
    def __init__(self, shift, folder):
        self.shift, self.folder = shift, folder
    def __call__(self, images):
        time.sleep(0.1)
        (self.folder / f"{os.getpid()}-{time.monotonic_ns()}").touch()
        values = np.array([np.asarray(image)[0, 0, 0] for image in images]) // self.shift
        return np.eye(5, dtype=np.float32)[values % 5] * 0.9 + 0.02

from pathlib import Path
SEEN = Path(__file__).parent / "seen"
SEEN.mkdir(exist_ok=True)
a, b, c = Net(3, SEEN), Net(4, SEEN), Net(7, SEEN)
"""


@pytest.fixture(scope="module")
def two_nodes() -> Iterator[Any]:
    with cluster(2) as made:
        yield made


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    values = np.random.default_rng(0).integers(0, 256, ITEMS)
    for number, value in enumerate(values):
        Image.new("RGB", (8, 8), (int(value), 0, 0)).save(folder / f"{number:03}.png")
    (folder / "broken.png").write_bytes(b"no picture")
    (tmp_path / "nets.py").write_text(MODEL)
    (tmp_path / "classes.txt").write_text("a\nb\nc\nd\ne\n")
    return folder


def study(tmp_path: Path, name: str, engine: str) -> Study:
    Study.init(tmp_path / name, classes=tmp_path / "classes.txt").pool([tmp_path / "pictures"])
    return Study(tmp_path / name, engine=engine)


def specs(tmp_path: Path) -> list[str]:
    return [f"{name}=python:{tmp_path / 'nets.py'}:{name}" for name in "abc"]


def files(root: Path) -> dict[str, bytes]:
    kept = [*root.glob("predictions/*.parquet"), *root.glob("rounds/*/selection.parquet")]
    return {str(path.relative_to(root)): path.read_bytes() for path in kept}


def test_predictions_and_selections_are_byte_for_byte_those_of_this_machine(
    two_nodes: Any, pictures: Path, tmp_path: Path
) -> None:
    local, ray = study(tmp_path, "local", "local"), study(tmp_path, "ray", f"ray:{two_nodes.address}")
    for one in (local, ray):
        one.predict(specs(tmp_path))
        one.select(k=5)
    assert files(tmp_path / "ray") == files(tmp_path / "local")
    assert len(files(tmp_path / "ray")) == 4
    assert (ray.labels("a") == MISSING).sum() == 1  # the broken picture
    assert not (tmp_path / "ray" / ".unfinished").exists()
    seen = {path.name.split("-")[0] for path in (tmp_path / "seen").iterdir()}
    assert 2 <= len(seen) <= 3  # two workers, if the second starts in time, and this process
    assert str(os.getpid()) in seen
    again = Study(tmp_path / "ray", engine=f"ray:{two_nodes.address}")
    assert not any(again.predict().values())  # nothing is left


def test_a_killed_worker_costs_only_its_chunks(
    two_nodes: Any, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Source, "chunk", 64)
    local, ray = study(tmp_path, "local", "local"), study(tmp_path, "ray", f"ray:{two_nodes.address}")
    seen, parts = tmp_path / "seen", tmp_path / "ray/.unfinished"

    def kill() -> None:
        while not list(parts.glob("predict-*/*.parquet")):
            time.sleep(0.01)
        os.kill(int(max(path.name for path in seen.iterdir()).split("-")[0]), signal.SIGKILL)

    killing = threading.Thread(target=kill, daemon=True)
    killing.start()
    ray.predict(specs(tmp_path))
    killing.join(10)
    assert not killing.is_alive()
    batches = [path.name for path in seen.iterdir()]
    assert len({name.split("-")[0] for name in batches}) >= 2
    once = 3 * -(-(ITEMS + 1) // 32)  # three models, a note for every batch
    assert once <= len(batches) <= once + 3 * 2  # the chunk that was under way, of two batches
    local.predict(specs(tmp_path))
    assert files(tmp_path / "ray") == files(tmp_path / "local")


def test_near_duplicates_are_the_same(
    two_nodes: Any, pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(5):
        Image.open(pictures / f"{number:03}.png").resize((16, 16)).save(pictures / f"copy-{number}.png")
    local, ray = study(tmp_path, "local", "local"), study(tmp_path, "ray", f"ray:{two_nodes.address}")
    monkeypatch.chdir(tmp_path)  # workers are in another folder
    ray = Study("ray", engine=f"ray:{two_nodes.address}")
    one = local.duplicates()
    for what in ("dissensus.steps.describing._seen", "dissensus.steps.duplicates.Grouping.scan"):
        monkeypatch.setattr(what, lambda *_: pytest.fail("this is the workers' work"))
    assert ray.duplicates() == one
    assert one.groups
    shutil.rmtree(tmp_path / "ray")
