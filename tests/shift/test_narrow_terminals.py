"""Tables on a terminal of 80 columns: no name and no heading is cut."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

import dissensus
from dissensus.printing import human, video
from dissensus.records.human_steps import HumanStatus, LabellerStatus

NAMES = ("mask_rcnn_r50", "faster_rcnn_x101")


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> Console:
    console = Console(width=80, record=True)
    for module in (human, video):
        monkeypatch.setattr(module, "out", console)
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
