"""The commands of a study of people: what they print, for people and as JSON."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted_labellers import CLASSES, PEOPLE, Planted, let_label, let_review, planted_study

from dissensus.study import Study


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Planted]:
    """A study that people have labelled and reviewed."""
    root = tmp_path_factory.mktemp("made")
    study, known = planted_study(root, 80)
    study.human_sample(root / "truth.csv", images=20)
    let_label(study, known)
    let_review(study, known)
    return root, known


@pytest.fixture
def root(made: tuple[Path, Planted], tmp_path: Path) -> Path:
    shutil.copytree(made[0] / "study", tmp_path / "study")
    shutil.copyfile(made[0] / "truth.csv", tmp_path / "truth.csv")
    return tmp_path


@pytest.fixture
def run(command: Callable[..., Any], root: Path) -> Callable[..., str]:
    def ran(*words: str) -> str:
        done = command("shift", "human", *words, cwd=root)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    return ran


def test_sample(run: Callable[..., str], root: Path) -> None:
    printed = run("sample", "study", "--images", "25")
    assert "50 images to label, and 0 for training (10 new)" in printed
    assert "original: 25 images of 20 classes" in printed
    assert "Next: dissensus shift human serve study --page label" in printed
    found = json.loads(run("sample", "study", "--training", "500", "--json"))
    assert found["training"] < found["wanted_training"] == 500
    assert "seed" not in (root / "study" / "study.toml").read_text().split("[human]")[-1].split("[")[0]


def test_status(run: Callable[..., str]) -> None:
    printed = run("status", "study")
    assert "160 of 200 labels of 40 images" in printed
    assert "hasty" in printed
    assert "not put to reviewers" not in printed
    found = json.loads(run("status", "study", "--json"))
    assert {one["name"] for one in found["people"]} == {*PEOPLE}
    assert found["unreviewed"] == 0


def test_report(run: Callable[..., str], root: Path) -> None:
    printed = run("report", "study", "--subsets", "dog,not dog", "--output", "page.html", "--figures", "figures")
    assert "hasty is fast and careless" in printed
    assert "annotators exclude STUDY hasty --reason WHY" in printed
    assert "page: page.html" in printed
    page = (root / "page.html").read_text()
    assert "Are people better than models?" in page
    assert str(root) not in page
    assert (root / "figures" / "participants-everybody-s-accuracy-best-first.csv").exists()
    assert {*(one.suffix for one in (root / "figures").iterdir())} == {".svg", ".pdf", ".csv"}
    found = json.loads(run("report", "study", "--json"))
    assert found["metric"] == "multi-label"
    assert found["page"] == "study/results/people.html"


def test_export_and_report_from_its_files(run: Callable[..., str], root: Path) -> None:
    assert "labels of 4 people on 40 images: out" in run("export", "study", "out")
    Study(root / "study").exclude("hasty", "careless")
    printed = run("report", "study", "--right", "out/labels.csv", "--person", "guest=out/people/hasty.csv")
    assert "guest" in printed
    assert "hasty" not in printed.replace("people/hasty", "")


def test_join(run: Callable[..., str], root: Path) -> None:
    printed = run("join", "study", "ann")
    assert "ann joined with labels of 40 images" in printed
    assert "Next: dissensus select study" in printed
    assert Study(root / "study").predictions("ann")["label"].isin(CLASSES).sum() == 40


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("report", "study", "--person", "ann=ann.csv"), "ann has labelled images in the study"),
        (("report", "study", "--person", "=x.csv"), "write NAME=FILE"),
        (("report", "study", "--right", "nowhere.csv"), "no such file"),
        (("export", "study", "study"), "already exists"),
        (("sample", "study", "--images", "0"), "images"),
        (("serve", "study", "--page", "train", "--family", "unicorn"), "'unicorn' is not a class"),
    ],
)
def test_refused(command: Callable[..., Any], root: Path, words: tuple[str, ...], problem: str) -> None:
    done = command("shift", "human", *words, cwd=root)
    assert done.returncode == 2
    assert problem in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
