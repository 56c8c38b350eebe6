"""Failures and their causes: a sheet for people, tags that are only added, and groups in the report."""

from __future__ import annotations

import csv
import json

import pytest
from small import answered, selected

from dissensus.errors import StudyError
from dissensus.store.causes import read_sheet
from dissensus.study import Study


def filled(path, cause_of):
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(row | {"cause": cause_of(row)} for row in rows)
    return rows


def test_tags_come_back_and_none_is_lost(tmp_path):
    study, sheet = answered(tmp_path / "study"), tmp_path / "failures.csv"
    number = study.causes_export(sheet)
    rows = filled(sheet, lambda row: "too small" if row["model"] == "one" else "")
    assert number == len(rows) == len(study.failures().failures) > 0
    assert all(row["what"].startswith("predicts ") for row in rows)
    tagged = sum(row["model"] == "one" for row in rows)
    assert study.causes_import(sheet, "ann") == tagged
    assert study.causes_import(sheet, "ann") == 0
    before = study.folder.causes.read_text()
    first = next(row for row in rows if row["model"] == "one")
    filled(sheet, lambda row: "" if row == first | {"cause": "too small"} else row["cause"])
    assert study.causes_import(sheet, "ben") == 1
    assert study.folder.causes.read_text().startswith(before)
    assert len(study.causes()) == tagged - 1
    assert {one.by for one in study.causes().values()} <= {"ann"}
    assert study.check().problems == ()
    again = tmp_path / "again.csv"
    study.causes_export(again)
    with again.open(newline="") as file:
        assert sum(bool(row["cause"]) for row in csv.DictReader(file)) == tagged - 1


def test_spaces_around_an_items_name_are_kept(tmp_path):
    study, sheet = answered(tmp_path / "study"), tmp_path / "failures.csv"
    (failure, *_) = study.failures().failures
    spaced = failure.model_copy(update={"item": f" {failure.item} "})
    sheet.write_text(f"item,model,cause\n{failure.item},{failure.model},blur\n")
    (cause,) = read_sheet(sheet, [spaced], "ann", "now")
    assert (cause.item, cause.cause) == (spaced.item, "blur")


def test_the_report_counts_causes_by_model(tmp_path):
    study, sheet = answered(tmp_path / "study"), tmp_path / "failures.csv"
    assert "Why do they fail?" not in study.report().read_text()
    study.causes_export(sheet)
    rows = filled(sheet, lambda _: "too <small>")
    study.causes_import(sheet)
    page = study.report(figures=tmp_path / "figures").read_text()
    assert f"{len(rows)} of {len(rows)} failures have a cause." in page
    assert "too &lt;small&gt;" in page
    with (tmp_path / "figures" / "causes.csv").open(newline="") as file:
        (row,) = csv.DictReader(file)
    assert row["cause"] == "too <small>"
    assert int(row["failures"]) == len(rows)
    assert {name: int(row[name]) for name in ("one", "two", "three")} == {
        name: sum(one["model"] == name for one in rows) for name in ("one", "two", "three")
    }


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ("item,model,cause\nnowhere,one,blur\n", "has no failure on 'nowhere'"),
        ("item,model\nitem-00,one\n", "needs the columns item and model and cause"),
        ("item,model,cause\n{item},{model},a\n{item},{model},b\n", "has two causes in this file"),
        ("item,model,cause\n{item},{model}," + "x" * 99 + "\n", "at most 80 fit"),
        ("item,model,cause,by\n{item},{model},a," + "x" * 99 + "\n", "at most 80 fit"),
        ("item,model,cause\n{item},{model},a\x1b[31m\n", "use printable text"),
        ('item,model,cause\n{item},{model},"a\n{item},{model},b\n', "unexpected end of data"),
    ],
)
def test_a_wrong_sheet_is_refused_and_changes_nothing(tmp_path, lines, says):
    study, sheet = answered(tmp_path / "study"), tmp_path / "sheet.csv"
    failure = study.failures().failures[0]
    sheet.write_text(lines.format(item=failure.item, model=failure.model))
    with pytest.raises(StudyError, match=says):
        study.causes_import(sheet)
    assert not study.folder.causes.exists()


def test_a_cause_that_looks_like_a_formula_is_none_in_the_sheet(tmp_path):
    study, sheet, again = answered(tmp_path / "study"), tmp_path / "failures.csv", tmp_path / "again.csv"
    study.causes_export(sheet)
    rows = filled(sheet, lambda _: "=1+1")
    assert study.causes_import(sheet) == len(rows)
    study.causes_export(again)
    with again.open(newline="") as file:
        assert {row["cause"] for row in csv.DictReader(file)} == {"'=1+1"}
    assert study.causes_import(again) == 0


def test_damaged_tags_are_noticed_and_not_written_over(tmp_path):
    study, sheet = answered(tmp_path / "study"), tmp_path / "failures.csv"
    study.causes_export(sheet)
    filled(sheet, lambda _: "blur")
    for damage in (b"", b"\0", b"item,model,cause,by,time\na,b\n", b"item,model,cause,by,time\n\xff\n"):
        study.folder.causes.write_bytes(damage)
        refuse_damage(study, sheet)
        assert study.folder.causes.read_bytes() == damage
    study.folder.causes.unlink()
    study.causes_import(sheet)
    study.folder.causes.write_bytes(study.folder.causes.read_bytes().replace(b"blur", b"glare"))
    refuse_damage(study, sheet)
    assert len(study.check().problems) == 1


def refuse_damage(study, sheet):
    for step in (study.causes, lambda: study.causes_import(sheet)):
        with pytest.raises(StudyError, match=r"causes.csv is damaged: .*restore it from a backup"):
            step()


def test_commands(tmp_path, command):
    root, sheet = answered(tmp_path / "study").folder.root, tmp_path / "failures.csv"
    assert "fill in the causes" in command("causes", "export", root, sheet).stdout
    refused = command("causes", "export", root, sheet)
    assert refused.returncode == 2
    assert "already exists" in refused.stderr
    filled(sheet, lambda _: "blur")
    assert "new or changed" in command("causes", "import", root, sheet, "--by", "ann").stdout
    assert "blur" in command("causes", "list", root).stdout
    found = json.loads(command("causes", "list", root, "--json").stdout)["failures"]
    assert {one["cause"] for one in found} == {"blur"}
    assert {one.by for one in Study(root).causes().values()} == {"ann"}


def test_nothing_is_a_failure_before_people_answer(tmp_path):
    assert selected(tmp_path / "study").failures().failures == ()
