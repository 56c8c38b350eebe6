"""Tables on a terminal of 80 columns: no name and no heading is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

import dissensus
from dissensus import printing
from dissensus.printing import finding, human, people, video
from dissensus.records import Classes, Ranking, Standing
from dissensus.records.base import Provenance
from dissensus.records.human_steps import HumanStatus, LabellerStatus
from dissensus.report.data import Benchmark
from dissensus.report.scores.data import Screenings, Subject

NAMES = ("mask_rcnn_r50", "faster_rcnn_x101")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Console:
    console = Console(width=80, record=True)
    monkeypatch.setattr(printing.console, "out", console)
    return console


def test_detectors(narrow: Console, tmp_path: Path) -> None:
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 9, 9]}
    truth = {
        "images": [{"id": 1, "file_name": "a/1.png"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [box | {"id": 1, "area": 81, "iscrowd": 0}],
    }
    found = dissensus.detection_robustness(truth, {name: [box | {"score": 1.0}] for name in NAMES}, k=10, resamples=5)
    video.show_detection(found, tmp_path / "page.html", as_json=False)
    printed = narrow.export_text()
    assert all(name in printed for name in NAMES)
    assert "…" not in printed


def test_people(narrow: Console) -> None:
    everything = LabellerStatus(
        name="ada", trained=15, right=12, labelled=2000, skipped=3, again=40, reviewed=2000, median_seconds=26.1,
        instant=4,
    )  # fmt: skip
    status = HumanStatus(
        images=2000, training=150, labels=2000, wanted=2000, reviews=2000, review_answers=2000, wanted_reviews=2000,
        unreviewed=0, decided=2000, problematic=9, models=("net",), people=(everything,),
    )  # fmt: skip
    human.show_human_status(Path("study"), status, as_json=False)
    printed = narrow.export_text()
    assert all(word in printed for word in ("ada", "12/15", "skipped", "reviewed", "26.1"))
    assert "…" not in printed


def test_annotators(narrow: Console) -> None:
    one: dict[str, object] = {
        "name": "annotator-with-a-long-name@example.org", "answers": 12_345, "seconds": 12.5, "agreement": 0.97,
        "compared": 12_000, "controls": {"right": 118, "of": 120}, "repeats": {"same": 98, "of": 100}, "skill": 0.93,
        "is_trusted": True, "exclusion": {"reason": "slow", "by": "owner"}, "is_revoked": True, "has_link": False,
        "suggestion": None,
    }  # fmt: skip
    people.show_screening({"annotators": [one], "alpha": 0.5, "words": ["Agreement is good."]}, [], as_json=False)
    lines = narrow.export_text().splitlines()
    assert all(len(line) <= 80 for line in lines if line.startswith(("│", "┃")))
    row = next(line for line in lines if "12,345" in line)
    assert all(cell in row for cell in ("12.5", "97 %", "12,000", "118 of 120", "98 of 100", "93 %"))
    assert any("trusted, excluded, link revoked, no link" in line for line in lines)


def test_screenings_of_scores(narrow: Console) -> None:
    why = "28 of 75 answers are outliers, in both directions about as often (BT.500)"
    subject = Subject("annotator-with-a-long-name@example.org", 12_345, 1_028, why, -12.5, 30.1, "")
    people.show_screenings(Screenings("p910", (subject,), ("BT.500 rejects 1.",), 0.98), as_json=False)
    lines = narrow.export_text().splitlines()
    row = next(line for line in lines if "12,345" in line)
    assert all(cell in row for cell in ("1,028", "rejects", "-12.5", "30.1"))
    assert len(row) <= 80
    assert any(line.startswith("BT.500 rejects annotator-with-a-long-name@example.org: 28 of 75") for line in lines)


def test_ranks(narrow: Console) -> None:
    standings = tuple(
        Standing(
            model=f"convnext_large_mlp.clip_laion2b_augreg_ft_in1k_{number}", strength=0.1234, low=0.0123, high=0.9876,
            rank_low=1, rank_high=12, may_be_first=True,
        )
        for number in range(2)
    )  # fmt: skip
    provenance = Provenance(method="perron", parameters={"level": 0.95}, inputs={}, package="0")
    ranking = Ranking(
        standings=standings, words=("One is first.",), cyclic_share=None, degenerate_resamples=0, fragility=None,
        provenance=provenance,
    )  # fmt: skip
    accuracy = {one.model: 0.81 for one in standings}
    benchmark = Benchmark(name="ImageNet accuracy", scores=accuracy, rank={}, difference={}, srcc=None)
    finding.show_ranking(ranking, Classes(("cat",)), accuracy, benchmark, (), as_json=False)
    lines = narrow.export_text().splitlines()
    assert all(len(line) <= 80 for line in lines if line.startswith(("│", "┃")))
    row = next(line for line in lines if "0.123" in line)
    assert all(cell in row for cell in ("1–12", "0.012…0.988", "81.0 %", "0.81"))
