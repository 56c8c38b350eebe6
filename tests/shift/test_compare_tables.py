"""Comparing models on two test sets from a table: units, names, missing models, bad input, the command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import run
from data_kit import KIT

from dissensus import compare_test_sets
from dissensus.errors import TransferError
from dissensus.records import ShiftResult

FEW = 500
"""Resamples, where their number does not matter."""
TABLE = {
    "model": ["resnet18", "resnet50", "vgg16", "vit_b"],
    "original": [69.8, 76.1, 71.6, 81.0],
    "new": [57.3, 63.2, 58.0, 69.5],
}


def compare(table: Any, **options: Any) -> ShiftResult:
    return compare_test_sets(table, **({"resamples": FEW} | options))


def test_fractions_and_per_cent_are_the_same() -> None:
    fractions = TABLE | {side: [value / 100 for value in TABLE[side]] for side in ("original", "new")}
    signs = TABLE | {side: [f"{value} %" for value in TABLE[side]] for side in ("original", "new")}
    first = compare(TABLE)
    assert compare(signs) == first
    for one, other in zip(compare(fractions).models, first.models, strict=True):
        assert (one.original, one.new) == pytest.approx((other.original, other.new))


def test_frames_dicts_rows_and_files_are_the_same(tmp_path: Path) -> None:
    import pandas as pd
    import polars as pl

    first, frame = compare(TABLE), pd.DataFrame(TABLE)
    frame.to_csv(tmp_path / "table.csv", index=False)
    frame.to_csv(tmp_path / "points.csv", index=False, sep=";")
    frame.to_csv(tmp_path / "table.csv.gz", index=False)
    frame.to_parquet(tmp_path / "table.parquet")
    for other in (
        frame, pl.DataFrame(TABLE), frame.to_dict("records"), tmp_path / "table.csv", str(tmp_path / "points.csv"),
        tmp_path / "table.csv.gz", tmp_path / "table.parquet",
    ):  # fmt: skip
        assert compare(other) == first


def test_models_are_sorted_and_everything_is_there() -> None:
    result = compare(TABLE | {"n_original": [50_000] * 4, "n_new": [10_000] * 4, "year": [2015, 2015, 2014, 2020]})
    assert [one.model for one in result.models] == ["vit_b", "resnet50", "vgg16", "resnet18"]
    best = result.models[0]
    assert (best.family, best.extra, best.n_new) == ("vit", {"year": "2020"}, 10_000)
    assert (best.drop, best.rank_change) == (pytest.approx(0.115), 0)
    assert best.drop_low is not None
    assert best.drop_low < best.drop
    assert result.is_family_guessed
    assert {fit.scale for fit in result.fits} == {"linear", "probit"}
    for what in ("models", "fits", "bands", "families", "gaps", "pairs", "strata", "stratified", "duplicates"):
        result.to_frame(what)  # type: ignore[arg-type]
    assert "drop (given)" in compare(TABLE | {"drop": [1, 2, 3, 4]}).to_frame().columns
    assert list(result.to_frame().year) == ["2020", "2015", "2014", "2015"]
    assert "<svg" in result._repr_html_()
    assert "vit_b" in repr(result)
    assert ShiftResult.model_validate_json(result.model_dump_json()) == result


def test_no_value_is_nan() -> None:
    for table in (TABLE, TABLE | {"n_original": [10, 10, 10, 10]}, {k: v[:1] for k, v in TABLE.items()}):
        assert "NaN" not in compare(table).model_dump_json()
        assert json.loads(compare(table).model_dump_json())


def test_intervals_in_the_table_are_used_without_counts() -> None:
    given = TABLE | {
        "original_low": [69.4, 75.7, 71.2, 80.6], "original_high": [70.2, 76.5, 72.0, 81.4],
        "new_low": [56.3, 62.2, 57.0, 68.6], "new_high": [58.3, 64.2, 59.0, 70.4],
    }  # fmt: skip
    best = compare(given).models[0]
    assert (best.new_low, best.new_high) == (0.686, 0.704)
    half = (0.004**2 + 0.009**2) ** 0.5
    assert (best.drop_low, best.drop_high) == (pytest.approx(0.115 - half), pytest.approx(0.115 + half))


def test_missing_models_are_reported() -> None:
    result = compare(TABLE | {"new": [57.3, None, 58.0, 69.5], "original": [69.8, 76.1, "", 81.0]})
    assert [(one.model, one.missing) for one in result.missing] == [("resnet50", "new"), ("vgg16", "original")]
    assert "2 models are not compared: vgg16 (not on the original set); resnet50 (not on the new set)." in result.words
    assert len(result.models) == 2


def test_two_models_have_drops_and_ranks_but_no_line() -> None:
    result = compare({name: column[:2] for name, column in TABLE.items()})
    assert result.fits == ()
    assert "a line needs at least 3 models, here are 2" in result.no_fit
    assert [one.rank_new for one in result.models] == [1, 2]


def test_0_and_1_have_a_probit_only_with_counts() -> None:
    edge = TABLE | {"new": [0, 63.2, 58.0, 100]}
    without = compare(edge)
    assert [fit.scale for fit in without.fits] == ["linear"]
    assert "there is no probit fit: an accuracy of 0 or 1 has no place on a probit axis" in without.no_fit
    known = compare(edge | {"n_original": [1000] * 4, "n_new": [999] * 4})
    assert [fit.scale for fit in known.fits] == ["linear", "probit"]
    assert known.fits[0].slope == pytest.approx(without.fits[0].slope)
    assert any("(right + ½) / (items + 1)" in note for note in known.notes)


def test_the_same_name_again_is_another_model_unless_the_row_is_the_same() -> None:
    result = compare(TABLE | {"model": ["a", "a", "b", "c"]})
    assert {one.model for one in result.models} == {"a", "a (2)", "b", "c"}
    assert "a: listed more than once" in result.notes[0]
    with pytest.raises(TransferError, match="a is listed twice with the same values"):
        compare({"model": ["a", "a"], "original": [50, 50], "new": [40, 40]})


def test_small_accuracies_beside_per_cent_are_noted() -> None:
    assert "read as per cent, even vit_b 0.81" in compare(TABLE | {"original": [69.8, 76.1, 71.6, 0.81]}).notes[0]


def test_per_cent_signs_mean_per_cent_even_if_all_are_at_most_1() -> None:
    tiny = {"model": ["a", "b", "c"], "original": ["0.5 %", "0.7%", 0.9], "new": ["0.2 %", 0.3, "1%"]}
    assert [one.original for one in compare(tiny).models] == pytest.approx([0.009, 0.007, 0.005])


def test_a_set_in_fractions_and_one_in_per_cent_are_refused() -> None:
    mixed = TABLE | {"original": [0.698, 0.761, 0.716, 0.81]}
    with pytest.raises(TransferError, match=r"original has at most 1, and new at least 57\.3: give both in per cent"):
        compare(mixed)
    signs = mixed | {"original": [f"{value}%" for value in mixed["original"]]}
    assert compare(signs).models[0].original == pytest.approx(0.0081)


def test_line_breaks_of_all_kinds_in_a_name_stay_in_it(tmp_path: Path) -> None:
    path, name = tmp_path / "table.csv", "a\u2028b\x0b\x85c\nd"
    path.write_text(f'model,original,new\n"{name}",.9,.8\nb,.8,.7\n', encoding="utf-8", newline="")
    assert [one.model for one in compare(path).models] == [name, "b"]


def test_a_page_never_replaces_the_table(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("model,original,new\na,.9,.8\nb,.8,.7\n")
    before = path.read_bytes()
    done = run("shift", "compare", path, "--output", tmp_path / "." / "table.csv")
    assert (done.returncode, path.read_bytes()) == (2, before)
    assert "is the table itself: choose another file for the page" in done.stderr


def test_a_planted_family_is_named_and_a_given_one_is_kept() -> None:
    rng = np.random.default_rng(0)
    original = rng.uniform(60, 90, 40)
    above = np.arange(40) < 8
    new = 1.1 * original - 20 + rng.normal(0, 0.3, 40) + np.where(above, 3, 0)
    result = compare(
        {"model": [f"m{n}" for n in range(40)], "original": original, "new": new,
         "family": ["web data" if one else f"other {n % 4}" for n, one in enumerate(above)]}
    )  # fmt: skip
    assert max(result.families, key=lambda one: abs(one.robustness)).family == "web data"
    assert "web data (+" in " ".join(result.words)
    assert not result.is_family_guessed


def test_assumed_near_duplicates() -> None:
    result = compare(TABLE, near_duplicates=(0.08, 1.0))
    one = result.duplicates[0]
    assert one.without == pytest.approx((0.698 - 0.08) / 0.92)
    assert one.drop_left == pytest.approx(one.without - 0.573)
    assert not one.is_direct


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"model": ["a"], "original": [50]}, "no column new"),
        ({"model": [], "original": [], "new": []}, "has no rows"),
        ({"model": ["a", "b"], "original": ["x", 50], "new": [40, 40]}, "a: 'x' in column original is not a number"),
        ({"model": ["a"], "original": [""], "new": ["-"]}, "have no numbers"),
        ({"model": ["a", "b"], "original": [50, ""], "new": ["", 40]}, "no model has an accuracy on both"),
        ({"model": ["a"], "original": [150], "new": [40]}, "150 in column original is not an accuracy"),
        ({"model": ["a"], "original": [-1], "new": [40]}, "not an accuracy"),
        ({"model": ["a"], "original": ["inf"], "new": [40]}, "not an accuracy"),
        ({"model": ["", "b"], "original": [1, 2], "new": [3, 4]}, "row 2 has no model name"),
        ({"model": ["a"], "original": [50], "new": [40], "n_new": [2.5]}, "'2.5' in column n_new is not a number of"),
        ({"model": ["a"], "original": [50], "new": [40], "n_new": [0]}, "not a number of items"),
        ({"model": ["a"], "original": [50], "new": [40], "new_low": [45], "new_high": [50]}, "outside new_low"),
        ({"model": ["a", "b"], "original": [50, 60], "new": [40, 45], "fresh": [50, ""]}, "fresh has gaps"),
        ({"model": ["a"], "original": [50, 60], "new": [40]}, "different lengths"),
        (3, "expected a path, a frame"),
        ("nowhere.csv", "nowhere.csv is not a file"),
    ],
)
def test_bad_tables_are_errors_in_words(table: Any, words: str) -> None:
    with pytest.raises(TransferError, match=words):
        compare(table)


@pytest.mark.parametrize(
    "options",
    [
        {"resamples": 0}, {"resamples": 10**9}, {"seed": -1}, {"seed": 2**64}, {"level": 1.0},
        {"near_duplicates": (1.0, 1.0)}, {"original": {"a": [1]}},
    ],
)  # fmt: skip
def test_bad_options_are_errors(options: dict[str, Any]) -> None:
    with pytest.raises(TransferError):
        compare(TABLE, **options)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"model,original,new\na,50\n", "row 2: 2 cells under 3"),
        (b"model,model,original,new\na,a,50,40\n", "several columns are called model"),
        (b"\xff\xfe\x00", "cannot be read as CSV"),
        (b'model,original,new\n"a,50,40\n', "cannot be read as CSV"),
    ],
)
def test_bad_files_end_with_code_2_and_write_nothing(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    done = run("shift", "compare", path, "--output", tmp_path / "page.html")
    assert done.returncode == 2
    assert words in done.stderr
    assert sorted(tmp_path.iterdir()) == [path]


def test_command_prints_the_main_answer_first_and_writes_the_page(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    rows = zip(*TABLE.values(), strict=True)
    path.write_text("model,original,new\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows))
    page, figures = tmp_path / "page.html", tmp_path / "figures"
    done = run("shift", "compare", path, "--resamples", FEW, "--output", page, "--figures", figures)
    assert done.returncode == 0
    assert done.stdout.startswith("Accuracy is 12.6 points lower on the new set")
    assert "What cannot" in done.stdout
    assert "<html" in page.read_text()
    assert str(tmp_path) not in page.read_text()
    written = {one.name for one in figures.iterdir()}
    assert {"accuracies-linear.svg", "accuracies-linear.csv", "fits-the-fit-on-each-scale.csv"} <= written
    found = json.loads(run("shift", "compare", path, "--resamples", FEW, "--json").stdout)
    slope, offset = np.polyfit(TABLE["original"], TABLE["new"], 1)
    assert (found["slope"], found["offset"]) == pytest.approx((slope, offset))
    assert found["slope_low"] <= found["slope"] <= found["slope_high"]
    assert found["offset_low"] <= found["offset"] <= found["offset_high"]
    assert {"probit_slope", "probit_offset", "r2", "probit_r2", "probit_slope_low"} <= found.keys()
    bad = run("shift", "compare", path, "--near-duplicates", "many")
    assert (bad.returncode, "such as 0.08,1" in bad.stderr) == (2, True)


@pytest.mark.kit
@pytest.mark.skipif(not (KIT / "thesis-tables").is_dir(), reason="the data kit is not there")
def test_table_of_the_thesis() -> None:
    result = compare_test_sets(KIT / "thesis-tables" / "cifar10.csv")
    line = result.fits[0]
    assert line.slope == pytest.approx(1.70, abs=0.01)
    assert 100 * line.offset == pytest.approx(-73, abs=0.5)
    assert line.slope_low < 1.76
    assert line.slope_high > 1.63
    assert result.gaps.returns == "growing"
    assert result.gaps.beyond_chance == len(result.models) == 32
