"""Laconic results beside a competition: the file, the column of the labels page, and what is printed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from made_laconic import PAPER, made, without
from report_studies import study
from rich.console import Console

from dissensus import printing
from dissensus.errors import StudyError
from dissensus.printing import console as printed
from dissensus.records import LaconicResult
from dissensus.reductions.findings import result_of
from dissensus.report.labels.page import labels_page, orders
from dissensus.report.page import render
from dissensus.store.files import write_text
from dissensus.store.folder import Folder
from dissensus.store.laconic_results import read_laconic, write_laconic


@pytest.fixture(scope="module")
def result() -> LaconicResult:
    return result_of(made(per_class=4), resamples=300)


def test_the_column_of_the_labels_page():
    data = study()
    means = {name: (0.2, 0.5, 0.2, 0.04 * 1.5**place) for place, name in enumerate(data.order[1:])} | PAPER
    laconic = result_of(made(means, dict.fromkeys(means, 0.9), per_class=8), resamples=300)
    column = orders(replace(data, laconic=laconic))[4]
    assert "laconic" in column.head
    assert tuple(column.cells) == data.order
    assert column.cells[data.order[0]].text == "–"  # it was not tested
    assert [column.cells[name].text for name in data.order[1:]] == [str(place) for place in range(1, 7)]
    assert column.foot == "1.00"
    assert len(orders(data)) == len(orders(replace(data, laconic=laconic))) - 1
    html = render(labels_page(replace(data, laconic=laconic)))
    assert "how little of an image is enough" in html
    assert "how little of an image" not in render(labels_page(data))


def test_the_file_comes_back(result, tmp_path):
    folder = Folder(tmp_path)
    assert read_laconic(folder) is None
    folder.results.mkdir()
    write_laconic(folder, result)
    assert read_laconic(folder).model_dump() == result.model_dump()
    text = folder.laconic_results.read_text()
    assert json.loads(text)["means"][0]["classifier"] == "SqueezeNet"
    write_text(folder.laconic_results, text.replace('"level":', '"levels":'))
    with pytest.raises(StudyError, match=r"level: .* run dissensus laconic report"):
        read_laconic(folder)


@pytest.fixture
def lines(monkeypatch, capsys):
    """What is printed, on a wide terminal."""
    monkeypatch.setattr(printed, "out", Console(width=250, highlight=False))
    return lambda: capsys.readouterr().out


def test_what_find_prints(result, lines):
    printing.show_laconic(Path("animals"), result, as_json=False)
    text = lines()
    assert text.startswith(result.words[0][:40])
    assert "SE-ResNet50" in text
    assert "% of an image's bytes that are left, with 95 % intervals" in text
    assert "not used, because not recognised unreduced: SqueezeNet " in text
    assert text.strip().endswith("Next: dissensus laconic report animals")
    alone = result_of(without(made(per_class=1), *PAPER), resamples=100).model_copy(
        update={"people": (), "is_naive": True, "observations": ()}
    )
    printing.show_laconic(Path("animals"), alone, as_json=False)
    text = lines()
    assert "naive MEPIs" in text
    assert "observation of the paper" not in text
    assert text.strip().endswith("Next: dissensus laconic serve animals")


def test_json_is_nothing_but_json(result, lines):
    printing.show_laconic(Path("animals"), result, as_json=True)
    assert json.loads(lines())["means"][0]["reduction"] == "colour"
    printing.show_laconic_report(Path("laconic.html"), result, as_json=True)
    found = json.loads(lines())
    assert found["report"] == "laconic.html"
    read = LaconicResult.model_validate({k: v for k, v in found.items() if k != "report"})
    assert {*result.words} <= {*read.words}
    printing.show_laconic_report(Path("laconic.html"), result, as_json=False)
    assert lines().splitlines()[-1] == "report: laconic.html"
