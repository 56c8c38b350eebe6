"""Ratings of single items in a study of scores: asked once, compared without anybody's leniency, and ranked."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from scores_made import QUALITY, begun, done, refused, run, waiting, write_csv

from dissensus import Study
from dissensus.errors import JudgementError

LENIENT = {"ann": 0.0, "ben": 12.0, "cem": -9.0}


@pytest.fixture(scope="module")
def selected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    study = begun(tmp_path_factory.mktemp("ratings"))
    Study(study).change("judge", {"question": "rating"})
    done("select", study)
    return study


@pytest.fixture
def study(selected: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(selected, tmp_path / "study"))


def rated(items: list[str], people=tuple(LENIENT), noise: float = 5.0) -> list[tuple[str, float, str]]:
    rng = np.random.default_rng(0)
    said = [
        (item, 15 + 0.7 * QUALITY[item] + LENIENT[who] + noise * rng.standard_normal(), who)
        for item in items
        for who in people
    ]
    return [(item, round(float(np.clip(value, 0, 100)), 2), who) for item, value, who in said]


def told(study: Path, rows, header=("item", "rating", "annotator")) -> str:
    return done("judgements", "import", study, write_csv(study.parent / "ratings.csv", header, rows))


def test_every_item_is_asked_once_however_many_pairs_need_it(study: Path) -> None:
    open_items = [one["item"] for one in waiting(study)]
    pairs = Study(study).selection()
    needed = {row[side] for row in pairs if not row["reserve"] for side in ("low", "high")}
    assert open_items == [item for item in Study(study)._items() if item in needed]  # in the order of the pool
    assert {one["kind"] for one in waiting(study)} == {"rating"}
    assert len(open_items) < 2 * len({(row["low"], row["high"]) for row in pairs if not row["reserve"]})
    assert "open questions" in done("questions", study)


def test_from_ratings_to_report(study: Path, tmp_path: Path) -> None:
    items = [one["item"] for one in waiting(study)]
    told(study, rated(items))
    assert waiting(study) == []
    assert json.loads(done("rank", study, "--json"))["aggressiveness"][0]["model"] == "good"
    assert "dissensus report" in done("status", study)
    screened = json.loads(done("screen", study, "--json"))
    assert {one["name"]: one["bias"] > 3 for one in screened["subjects"]} == {"ann": False, "ben": True, "cem": False}
    assert "People with a positive bias" in done("screen", study)
    done("report", study)
    page = (study / "results" / "report.html").read_text()
    assert "rated the items one by one" in page
    assert str(study.parent) not in page
    assert "bias towards the second item" not in page
    for ending in ("csv", "jsonl", "parquet"):
        done("judgements", "export", study, tmp_path / f"out.{ending}")
        assert done("judgements", "import", study, tmp_path / f"out.{ending}").startswith("0 new answers")
    assert (
        "have no counterpart"
        in run("judgements", "export", study, tmp_path / "out.json", "--format", "label-studio").stderr
    )


def test_leniency_changes_nothing(study: Path) -> None:
    rows = rated([one["item"] for one in waiting(study)], noise=0.0)
    told(study, [(item, value - LENIENT[who], who) for item, value, who in rows])
    plain = json.loads(done("rank", study, "--json"))
    told(study, rows)
    shifted = json.loads(done("rank", study, "--json"))
    for measure in ("aggressiveness", "resistance"):
        for one, other in zip(plain[measure], shifted[measure], strict=True):
            assert one["model"] == other["model"]
            assert one["strength"] == pytest.approx(other["strength"], abs=1e-3)


def test_a_sheet_can_be_filled_in_and_read(study: Path, tmp_path: Path) -> None:
    done("questions", study, tmp_path / "sheet.csv")
    with open(tmp_path / "sheet.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["kind", "item", "annotator", "answer", "time"]
    for row in rows:
        row |= {"annotator": "ann", "answer": "70"}
    write_csv(tmp_path / "filled.csv", list(rows[0]), [list(row.values()) for row in rows])
    done("judgements", "import", study, tmp_path / "filled.csv")
    assert waiting(study) == []


def test_what_is_no_rating_is_refused(study: Path, tmp_path: Path) -> None:
    item = waiting(study)[0]["item"]
    for value in ("-3", "100.5", "good", "nan"):
        refused(
            run(
                "judgements",
                "import",
                study,
                write_csv(tmp_path / "a.csv", ("item", "rating", "annotator"), [(item, value, "ann")]),
            ),
            "from 0 to 100",
            "row 2",
        )
    assert told(study, [(item, 40, "ann")], ("item", "answer", "annotator")).startswith("1 new answer")
    refused(
        run("judgements", "import", study, write_csv(tmp_path / "b.csv", ("item", "rating"), [(item, 4)])), "annotator"
    )


def test_people_without_a_common_item_cannot_be_compared(study: Path) -> None:
    """Everybody rates other items: for a pair with items of two people, leniency might be all there is."""
    items = [one["item"] for one in waiting(study)]
    told(study, [(item, 50, f"person {place}") for place, item in enumerate(items)])
    refused(run("rank", study), "no judged pair counts", "let somebody rate both")
    assert "dissensus report" in done("status", study)
    told(study, rated(items[1:], ("ann",)))
    needing = {frozenset((row["low"], row["high"])) for row in Study(study).selection() if not row["reserve"]}
    unlinked = sum(items[0] in pair for pair in needing)
    words = " ".join(Study(study).rank().aggressiveness.words)
    assert f"{unlinked} judged pair" in words
    assert "let somebody rate both" in words
    told(study, rated(items[:1], ("ann",)))
    assert "let somebody rate both" not in " ".join(Study(study).rank().aggressiveness.words)


def test_an_unfit_item_takes_its_pairs_with_it_and_reserves_follow(study: Path) -> None:
    before = [one["item"] for one in waiting(study)]
    told(study, [(before[0], "unfit", who) for who in LENIENT])
    after = [one["item"] for one in waiting(study)]
    assert before[0] not in after
    assert set(after) - set(before), "items of reserves are asked"


def test_choices_still_refuse_screening_and_ratings_do_not(study: Path) -> None:
    assert "Nobody has given any answers to screen" in done("screen", study)
    Study(study).change("judge", {"question": "choice"})
    refused(run("screen", study), "asks for choices")


def test_a_row_with_a_rating_and_an_answer_is_refused(tmp_path):
    path = tmp_path / "both.csv"
    path.write_text("item,rating,answer,annotator\np01,50,60,ann\n")
    study = Study.init(tmp_path / "study", task="scores")
    with pytest.raises(JudgementError, match="row 2: it has a rating and an answer"):
        study.judgements_import(path)
