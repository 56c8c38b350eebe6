"""The examples on the data kit: real classifiers, real photos, real answers."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from data_kit import some_photos

from benchmarks import all_answers

ROOT = Path(__file__).resolve().parents[2]


def run(script: str, *arguments: object) -> str:
    line = [sys.executable, str(ROOT / "examples" / script), *map(str, arguments)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_eleven_classifiers_judged_by_eighty_five_raters(kit, tmp_path):
    study = tmp_path / "study"
    options = ("--join", "se_resnext101_32x4d", "--only-selected")
    printed = run("imagenet_raters/compete.py", kit / "imagenet", study, *options)
    figures = json.loads(printed[: printed.rindex("}") + 1])
    assert figures["Spearman correlation with ReaL accuracy"] >= 0.9
    assert figures["questions"] <= 3300
    assert figures["open questions"] == 0
    assert figures["images in the pool"] == 50_000
    newcomer = figures["newcomer"]
    assert 0 < newcomer["new questions"] <= 2 * 11 * 30
    assert newcomer["given up"] == 0
    assert (study / "results" / "report.html").stat().st_size > 100_000


def test_seven_networks_disagree_on_real_photos(kit, tmp_path):
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    pytest.importorskip("ai_edge_litert.interpreter", reason="LiteRT is not installed")
    study = tmp_path / "study"
    some = some_photos(kit / "photos" / "pets" / "images", tmp_path / "pets")
    printed = run("photos/compete.py", kit / "classifiers", some, kit / "photos" / "coral", "--study", study)
    assert "82 photos, 21 duels" in printed
    assert "saint_bernard_150.jpg: mobilenet_v1_0.25 says dogsled" in printed
    assert (study / "sheet.html").read_text().count("data:image/jpeg") > 20


def test_the_same_answers_tell_more_of_the_true_order_if_all_of_them_count(kit):
    """A small part of benchmarks/all_answers.py, with a collection where the gain is 0.14 ± 0.015 in 100 studies."""
    drifting = dict(all_answers.collections(kit))["domain_drift"]
    rows = np.array([all_answers.study(np.random.default_rng([seed, 10]), drifting, 9, 10) for seed in range(20)])
    _, own, every, before, after = rows.mean(axis=0)
    assert every > 2 * own
    assert after > before + 0.05
