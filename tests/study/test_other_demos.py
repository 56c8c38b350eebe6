"""The demos of the laconic test, of two test sets and of people as a baseline, from start to finish."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dissensus.demo import run_human_demo, run_laconic_demo, run_shift_demo, run_video_demo
from dissensus.demo.shift import COPIES, PER_CLASS, WORKERS
from dissensus.errors import StudyError
from dissensus.progress import silent
from dissensus.study import Study

pytestmark = pytest.mark.slow


def test_a_laconic_test_of_digits(tmp_path: Path) -> None:
    made = run_laconic_demo(tmp_path / "demo", silent)
    assert made.report.exists()
    results = made.results
    assert results.classifiers == ("svm", "knn", "lda", "tree")
    for name in results.classifiers:
        values = {one: results.mean(name, one).value or 1.0 for one in results.reductions}
        assert min(values, key=values.__getitem__) == "combined"
    with pytest.raises(StudyError, match="already holds a demo"):
        run_laconic_demo(tmp_path / "demo", silent)


def test_digits_collected_again(tmp_path: Path) -> None:
    made = run_shift_demo(tmp_path / "demo", silent)
    status = Study(made.study).shift_status()
    assert status.confirmed == COPIES  # every planted near-duplicate is found
    assert [one.name for one in status.workers if one.reason] == ["hasty"]
    assert len(status.workers) == WORKERS + 1
    with (made.test_set / "items.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10 * PER_CLASS
    assert not [row for row in rows if row["item"].endswith("-again.png")]
    drops = {name: one.gaps.drop for name, one in made.results.items()}
    assert drops["matched"] > max(drops["threshold"], drops["top"])  # as in the thesis, Table 2.2
    assert (made.frequency["top"] or 0) >= (made.frequency["threshold"] or 0) > (made.frequency["matched"] or 0)
    assert "Does the score survive a new test set?" in made.report.read_text()
    with pytest.raises(StudyError, match="already holds a demo"):
        run_shift_demo(tmp_path / "demo", silent)


def test_the_human_demo_finds_who_is_robust_and_who_is_careless(tmp_path: Path) -> None:
    made = run_human_demo(tmp_path / "demo", silent)
    found = made.result
    assert found.metric == "multi-label"
    assert [one.person for one in found.people if one.is_careless] == ["hasty"]
    gaps = {one.participant: one for one in found.gaps if one.metric == found.metric}
    assert gaps["people − models"].high < 0  # people lose less on tilted digits than models
    special = {(one.subset, one.participant): one for one in found.subset_tests if one.test_set == found.main_set}
    assert special["not round", "ben"].change > 0.05  # he mixes up round digits …
    assert special["not round", "ben"].p < 0.05
    assert special["not round", "ben"].p_adjusted > 0.05  # … but ten classes are too few to allow for everybody else
    assert "simulated" in made.report.read_text()
    assert Study(made.study).check().is_whole
    with pytest.raises(StudyError, match="already holds a demo"):
        run_human_demo(tmp_path / "demo", silent)


def test_digits_before_a_moving_camera(tmp_path: Path) -> None:
    made = run_video_demo(tmp_path / "demo", silent)
    result = made.result
    assert len(result.models) == 8
    for model in result.models:
        assert model.perturbed <= model.original
    assert result.mean[-1].drop < made.unreviewed.mean[-1].drop  # review leaves out frames that show something else
    status = Study(made.study).video_status()
    assert set(status.reasons) == {"motion"}
    assert status.joint == 0
    assert "data:image/" in made.report.read_text()
    with pytest.raises(StudyError, match="already holds a demo"):
        run_video_demo(tmp_path / "demo", silent)
