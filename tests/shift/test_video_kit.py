"""The two real clips of the data kit: seven real classifiers, frame by frame."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from data_kit import KIT

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "video"
pytestmark = [
    pytest.mark.kit,
    pytest.mark.slow,
    pytest.mark.skipif(not (KIT / "video").is_dir(), reason="the data kit is not there"),
]


def test_labels_of_seven_networks_along_two_clips(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [*sys.path, str(EXAMPLE)])
    import strips

    study = strips.collect(KIT / "video", tmp_path)
    strips.predict(study, KIT / "classifiers")
    result = study.video_result()
    assert [(one.anchor, one.truth, len(one.frames), len(one.rows)) for one in result.strips] == [
        ("vid_robust_examples/000442.JPEG", ("turtle",), 21, 7),
        ("ytbb_robust_examples/frame-732.jpg", ("domestic cat",), 21, 7),
    ]
    rows = {row.model: row for row in result.strips[0].rows}
    assert rows["mobilenet_v1_0.5"].is_right.count(True) == 1  # 'turtle' for a single frame
    assert rows["mobilenet_v1_0.5"].changes == 9
    assert set(rows["efficientnet_lite0"].labels) == {"dung beetle"}
    assert all(one.original == one.perturbed == 0 for one in result.models)
    page = study.video_report(result=result).read_text()
    assert page.count("data:image/jpeg") == 42
