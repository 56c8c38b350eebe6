"""No report tells where somebody keeps their files."""

from __future__ import annotations

from dataclasses import replace

import pytest
from report_studies import study

from dissensus.report.labels.page import labels_page
from dissensus.report.page import render
from dissensus.report.paths import without_folders


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("onnx:/home/ada/nets/resnet.onnx", "onnx:resnet.onnx"),
        ("python:/tmp/x/nets.py:Net, lower is better", "python:nets.py:Net, lower is better"),
        ("cannot read '/home/ada/a b/1.png': truncated", "cannot read '1.png': truncated"),
        ("read from file:///home/ada/table.csv.", "read from table.csv."),
        (r"sklearn:C:\Users\ada\svm.joblib", "sklearn:svm.joblib"),
        ("C:/Users/ada/svm.joblib", "svm.joblib"),
        ("/srv/pool/", "…"),
        ("birds/crow/1.png and cats/2.png", "birds/crow/1.png and cats/2.png"),
        ("https://example.org/a/b.html, 1/2, and/or, −1/x", "https://example.org/a/b.html, 1/2, and/or, −1/x"),
        ("data:image/jpeg;base64,/9j/4AAQ/SkZ", "data:image/jpeg;base64,/9j/4AAQ/SkZ"),
    ],
)
def test_only_the_last_part_of_an_absolute_path_is_shown(text: str, shown: str) -> None:
    assert without_folders(text) == shown


def test_a_page_has_no_absolute_paths_whatever_tells_of_them() -> None:
    data = study(("a", "b", "c"), 4)
    told = replace(
        data,
        title="/home/ada/birds",
        notes=("The answers come from /home/ada/answers.csv.",),
        settings={"model a": "onnx:/tmp/nets/a.onnx", "round 1: notes": "2 × cannot read /home/ada/photos/1.png"},
    )
    html = render(labels_page(told))
    assert "/home" not in html
    assert "/tmp" not in html
    assert "onnx:a.onnx" in html
    assert "answers.csv" in html
