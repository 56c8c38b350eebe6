"""The competition on TID2013: real scores of fourteen quality models, opinions of people on three thousand images."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "tid2013" / "compete.py"


@pytest.fixture(scope="module")
def competed(kit, tmp_path_factory):
    """What the example prints, and the folder of its study."""
    folder = tmp_path_factory.mktemp("tid2013")
    line = [sys.executable, str(EXAMPLE), str(kit / "iqa"), str(folder)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout, folder / "study"


def test_the_best_correlated_model_is_first_as_defender_and_near_it_as_attacker(competed):
    printed, _ = competed
    places = {row[0]: tuple(map(int, row[1:])) for row in re.findall(r"^(\w+) +(\d+) +(\d+) +0\.\d{3}$", printed, re.M)}
    assert len(places) == 14
    assert places["FSIMc"][1] == 1
    assert places["FSIMc"][0] <= 3  # nine models may be first: grey-scale models tie on many images


def test_both_orders_follow_the_correlation_with_all_opinions(competed):
    printed, _ = competed
    found = dict(re.findall(r"Spearman correlation of (\w+) with \|SROCC\|: (-?\d\.\d+)", printed))
    assert float(found["aggressiveness"]) >= 0.7
    assert float(found["resistance"]) >= 0.5


def test_it_takes_few_pairs_and_the_levels_agree_more_the_more_there_are(competed):
    printed, study = competed
    pairs = int(re.match(r"(\d+) pairs of 3000 images for 14 models", printed)[1])
    assert pairs <= 14 * 13 * 6
    curve = [tuple(map(float, row)) for row in re.findall(r"^ +(\d) +(-?\d\.\d{3}) +(-?\d\.\d{3})$", printed, re.M)]
    assert [row[0] for row in curve] == [1, 2, 3, 4, 5, 6]
    assert curve[-1][1:] == (1, 1)
    assert curve[3][1] > 0.7
    page = (study / "results" / "report.html").read_text(encoding="utf-8")
    assert "No person was asked" in page
    assert "NaN" not in page
