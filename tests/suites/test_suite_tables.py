"""Tables of accuracies: both layouts, units, gaps, bad input, and the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from commands import run

from dissensus import compare_classifiers
from dissensus.errors import SuiteError
from dissensus.printing.console import out
from dissensus.records.suites import SuiteResult

TABLE: dict[str, list[Any]] = {
    "dataset": ["iris", "wine", "sonar", "glass"],
    "svm": [96.0, 98.0, 80.0, 60.5],
    "forest": [94.0, 97.0, 85.0, 75.0],
    "ntk": [95.0, 98.0, 70.0, 61.0],
}


def test_layouts_units_and_files_are_the_same(tmp_path: Path) -> None:
    first, frame = compare_classifiers(TABLE), pd.DataFrame(TABLE)
    long = frame.melt("dataset", var_name="classifier", value_name="accuracy")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    frame.rename(columns={"dataset": "name"}).to_csv(tmp_path / "first.csv", index=False, sep=";")
    long.to_parquet(tmp_path / "long.parquet")
    signs = frame.assign(**{name: [f"{value} %" for value in frame[name]] for name in ("svm", "forest", "ntk")})
    parts = frame.assign(**{name: frame[name] / 100 for name in ("svm", "forest", "ntk")})
    others = (frame, long, tmp_path / "wide.csv", str(tmp_path / "first.csv"), tmp_path / "long.parquet", signs, parts)
    for other in others:
        assert compare_classifiers(other) == first
    assert [one.classifier for one in first.classifiers] == ["svm", "forest", "ntk"]


def test_gaps_are_an_error_or_their_data_sets_are_left_out() -> None:
    gaps = TABLE | {"ntk": [95.0, None, 70.0, "n/a"]}
    with pytest.raises(SuiteError, match="2 accuracies are missing, such as that of ntk on wine: fill in all"):
        compare_classifiers(gaps)
    found = compare_classifiers(gaps, skip_incomplete=True)
    assert (found.data_sets, found.left_out) == (("iris", "sonar"), ("wine", "glass"))
    assert found.notes == ("2 of 4 data sets are left out, with accuracies missing: wine, glass.",)
    rest = compare_classifiers({name: [column[0], column[2]] for name, column in TABLE.items()})
    assert found.classifiers == rest.classifiers


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"dataset": ["a"], "svm": [1]}, "1 classifier to compare"),
        ({"dataset": ["a", "a"], "svm": [1, 1], "ntk": [1, 1]}, "several rows are about a"),
        ({"dataset": ["a", ""], "svm": [1, 1], "ntk": [1, 1]}, "row 3 has no data set"),
        ({"svm": [0.5, 0.6], "ntk": [0.4, 0.3]}, "the first column, 'svm', has numbers"),
        ({"dataset": ["a"], "svm": ["good"], "ntk": [1]}, "a: 'good' in column svm is not a number"),
        ({"dataset": ["a"], "svm": [101], "ntk": [1]}, "a: 101 in column svm is not an accuracy"),
        ({"dataset": ["a", "b"], "svm": [90, 80], "ntk": [0.9, 0.8]}, "ntk: at most 1, while others are per cent"),
        ({"dataset": ["a"], "svm": [None], "ntk": [""]}, "no accuracies"),
        ({"dataset": [], "svm": [], "ntk": []}, "the table has no rows"),
        ({"classifier": ["a"], "accuracy": [1]}, "no column dataset beside classifier and accuracy"),
        ({"dataset": ["a", "a"], "classifier": ["b", "b"], "accuracy": [1, 1]}, "b on a is listed twice"),
        ({"dataset": ["a"], "classifier": [""], "accuracy": [1]}, "row 2 has no classifier"),
        (7, "expected a path"),
    ],
)
def test_bad_tables_are_refused_in_one_line(table: Any, words: str) -> None:
    with pytest.raises(SuiteError, match=words) as error:
        compare_classifiers(table)
    assert "\n" not in str(error.value)


def test_no_data_set_without_gaps() -> None:
    with pytest.raises(SuiteError, match="no data set has an accuracy of every classifier"):
        compare_classifiers({"dataset": ["a", "b"], "svm": [0.5, ""], "ntk": ["", 0.5]}, skip_incomplete=True)


def test_the_command_prints_words_a_table_or_json_and_writes_figures(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    pd.DataFrame(TABLE).to_csv(path, index=False)
    done = run("suite", path, "--figures", tmp_path / "figures")
    assert done.returncode == 0
    assert done.stdout.startswith("svm has the best mean rank, 1.88, over 4 data sets")
    assert "83.6 ± 17.4" in done.stdout
    assert {one.name for one in (tmp_path / "figures").iterdir()} == {"classifiers.csv", "pairs.csv"} | {
        f"{name}.{ending}" for name in ("profiles", "critical-difference") for ending in ("svg", "pdf", "csv")
    }
    as_json = json.loads(run("suite", path, "--json").stdout)
    assert as_json.pop("figures") == []
    found = compare_classifiers(path)
    assert {*found.words} <= {*as_json["words"]}
    assert SuiteResult.model_validate(as_json | {"words": found.words}) == found


def test_the_command_refuses_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "gaps.csv").write_text("dataset,svm,ntk\niris,0.9,\nwine,0.8,0.7\n")
    (tmp_path / "empty.csv").write_text("")
    for name, words in (("nowhere.csv", "not a file"), ("gaps.csv", "--skip-incomplete"), ("empty.csv", "is empty")):
        done = run("suite", tmp_path / name)
        assert (done.returncode, done.stdout) == (2, "")
        assert words in done.stderr
        assert done.stderr.count("\n") == 1
    assert run("suite", tmp_path / "gaps.csv", "--skip-incomplete").returncode == 0


def test_tables_fit_a_narrow_terminal_and_names_of_usual_length_stay_whole(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(out, "width", 80)
    names = ["random forest", "logistic regression", "nearest neighbours"]
    table = {"dataset": ["iris", "wine"]} | {name: [90.0 - place, 80.0] for place, name in enumerate(names)}
    pd.DataFrame(table).to_csv(tmp_path / "table.csv", index=False)
    lines = run("suite", tmp_path / "table.csv").stdout.splitlines()
    rows = [line for line in lines if line.startswith(("│", "┃"))]
    assert max(map(len, rows)) <= 80
    for name in names:
        assert any(line.startswith(f"│ {name} ") for line in rows)


def test_one_data_set_has_no_tests(tmp_path: Path) -> None:
    pd.DataFrame({"dataset": ["iris"], "svm": [0.9], "ntk": [0.8]}).to_csv(tmp_path / "one.csv", index=False)
    assert "Nemenyi" not in run("suite", tmp_path / "one.csv").stdout
