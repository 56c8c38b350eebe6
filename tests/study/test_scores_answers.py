"""Answers to a study of scores, through the command: sheets, sliders and choices, and whose answers count."""

from __future__ import annotations

import csv
import json

from scores_made import QUALITY, answer_all, answers, asked, done, sheet, waiting, write_csv

from dissensus.study import Study


def test_sheets_of_both_kinds_say_the_same(fresh, tmp_path):
    done("select", fresh)
    done("questions", fresh, tmp_path / "sheet.csv")
    done("questions", fresh, tmp_path / "sheet.jsonl")
    with open(tmp_path / "sheet.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows == [json.loads(line) for line in (tmp_path / "sheet.jsonl").read_text().splitlines()]
    assert "0 new answers" in done("judgements", "import", fresh, tmp_path / "sheet.csv")  # nobody has answered yet
    for row in rows:
        row |= {"annotator": "ann", "answer": 40}
    (tmp_path / "filled.jsonl").write_text("\n".join(json.dumps(row) for row in rows))
    assert f"{len(rows)} new answers" in done("judgements", "import", fresh, tmp_path / "filled.jsonl")
    assert "0 new answers" in done("judgements", "import", fresh, tmp_path / "filled.jsonl")


def test_an_unfit_pair_gives_its_place_to_a_reserve(fresh, tmp_path):
    done("select", fresh)
    pairs = waiting(fresh)
    rows = answers(pairs, people=("ann", "ben", "cem"))
    unfit = pairs[0]["first"], pairs[0]["second"]
    for row in rows[:2]:
        row[4] = "unfit"  # two of three
    done("judgements", "import", fresh, sheet(tmp_path / "answers.csv", rows))
    status = json.loads(done("status", fresh, "--json"))
    assert status["discarded_items"] == 1
    assert 1 <= status["open_questions"] <= 4  # a reserve for every level that had the pair
    assert unfit in asked(fresh)
    assert unfit not in {(pair["first"], pair["second"]) for pair in waiting(fresh)}
    answer_all(fresh, tmp_path / "rest.csv")
    assert json.loads(done("status", fresh, "--json"))["open_questions"] == 0
    assert not any("Preliminary" in word for word in Study(fresh).rank().aggressiveness.words)


def test_the_last_word_of_a_person_counts(fresh, tmp_path):
    done("select", fresh)
    rows = [[*row, "2026-05-01T10:00:00+00:00"] for row in answers(waiting(fresh), people=("ann",), noise=0)]
    turned = [[*row[:4], -row[4], "2026-05-02T10:00:00+00:00"] for row in rows]
    header = ("kind", "first", "second", "annotator", "answer", "time")
    done("judgements", "import", fresh, write_csv(tmp_path / "turned.csv", header, turned))
    assert json.loads(done("rank", fresh, "--json"))["aggressiveness"][0]["model"] != "good"
    done("judgements", "import", fresh, write_csv(tmp_path / "rows.csv", header, rows))  # stored last, with older times
    assert json.loads(done("rank", fresh, "--json"))["aggressiveness"][0]["model"] == "good"


def test_an_excluded_person_says_nothing(judged, tmp_path):
    before = json.loads(done("rank", judged, "--json"))
    rows = [[*row[:3], "mallory", -row[4]] for row in answers(all_pairs(judged), people=("x",), noise=0)]
    done("judgements", "import", judged, sheet(tmp_path / "mallory.csv", rows))
    assert json.loads(done("rank", judged, "--json")) != before
    done("annotators", "exclude", judged, "mallory", "--reason", "answers everything the wrong way round")
    assert json.loads(done("rank", judged, "--json")) == before
    done("report", judged)
    assert "wrong way round" in (judged / "results" / "report.html").read_text()


def all_pairs(study):
    return [{"first": first, "second": second} for first, second in sorted(asked(study))]


def test_answers_go_round_and_rank_the_same(judged, fresh, tmp_path):
    ranked = json.loads(done("rank", judged, "--json"))
    for ending in ("csv", "jsonl", "parquet"):
        done("judgements", "export", judged, tmp_path / f"out.{ending}")
    done("select", fresh)
    assert done("judgements", "import", fresh, tmp_path / "out.csv").startswith("90 new answers")
    assert json.loads(done("rank", fresh, "--json")) == ranked
    for ending in ("jsonl", "parquet"):
        assert done("judgements", "import", fresh, tmp_path / f"out.{ending}").startswith("0 new answers")


def test_other_screenings_of_the_same_answers(judged):
    for method in ("p910", "mean"):
        Study(judged).change("judge", {"method": method})
        rankings = Study(judged).rank()
        assert rankings.aggressiveness.provenance.parameters["screening"] == method
        assert rankings.aggressiveness.standings[0].model == "good"
    Study(judged).change("judge", {"method": "p910"})
    screened = json.loads(done("screen", judged, "--json"))
    assert screened["used"] == "p910"
    assert [one["name"] for one in screened["subjects"]] == ["ann", "ben", "cem"]
    assert screened["correlation"] > 0.9
    assert "P.910 rejects nobody" in done("screen", judged)


def test_while_somebody_has_given_one_answer_p910_lets_the_work_go_on(fresh, tmp_path):
    done("select", fresh)
    Study(fresh).change("judge", {"method": "p910"})
    pairs = waiting(fresh)
    rows = [*answers(pairs[:4], people=("ann", "ben")), *answers(pairs[:1], people=("dora",))]
    assert "9 new answers" in done("judgements", "import", fresh, sheet(tmp_path / "some.csv", rows))
    assert len(waiting(fresh)) == len(pairs) - 4
    assert "dora" in done("screen", fresh)
    done("status", fresh)


def test_choices_in_the_place_of_sliders(fresh, tmp_path):
    Study(fresh).change("judge", {"question": "choice"})
    done("select", fresh)
    pairs = waiting(fresh)
    assert {pair["kind"] for pair in pairs} == {"choice"}
    words = {True: "second", False: "first"}
    rows, differences = [], [QUALITY[pair["second"]] - QUALITY[pair["first"]] for pair in pairs]
    for pair, apart in zip(pairs, differences, strict=True):
        body = json.dumps({"first": pair["first"], "second": pair["second"], "same": True})
        said = "same" if abs(apart) <= max(10, min(map(abs, differences))) else words[apart > 0]
        rows += [["choice", body, who, said] for who in ("ann", "ben")]
    path = write_csv(tmp_path / "choices.csv", ("kind", "question", "annotator", "answer"), rows)
    done("judgements", "import", fresh, path)
    assert waiting(fresh) == []
    ranked = json.loads(done("rank", fresh, "--json"))
    assert ranked["aggressiveness"][-1]["model"] == "poor"
    assert {len(one) for one in asked(fresh)} == {2}
    assert "good" in (done("report", fresh), (fresh / "results" / "report.html").read_text())[1]


def test_a_choice_sheet_can_be_filled_in_and_read(fresh, tmp_path):
    Study(fresh).change("judge", {"question": "choice"})
    done("select", fresh)
    done("questions", fresh, tmp_path / "sheet.csv")
    with open(tmp_path / "sheet.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row |= {"annotator": "ann", "answer": "same" if row is rows[0] else "second"}
    write_csv(tmp_path / "filled.csv", list(rows[0]), [list(row.values()) for row in rows])
    done("judgements", "import", fresh, tmp_path / "filled.csv")
    assert waiting(fresh) == []


def test_a_pair_the_other_way_round_is_the_same_pair(judged, fresh, tmp_path):
    done("select", fresh)
    rows = answers(waiting(fresh))
    turned = [[kind, second, first, who, -said] for kind, first, second, who, said in rows]
    done("judgements", "import", fresh, sheet(tmp_path / "turned.csv", turned))
    assert waiting(fresh) == []
    assert json.loads(done("rank", fresh, "--json")) == json.loads(done("rank", judged, "--json"))


def test_a_choice_without_a_third_answer_counts_too(fresh, tmp_path):
    Study(fresh).change("judge", {"question": "choice"})
    done("select", fresh)
    words = {True: "first", False: "second"}
    rows = [
        ("choice", two["second"], two["first"], "ann", words[QUALITY[two["second"]] > QUALITY[two["first"]]])
        for two in waiting(fresh)
    ]
    done("judgements", "import", fresh, sheet(tmp_path / "forced.csv", rows))
    assert waiting(fresh) == []
    assert json.loads(done("rank", fresh, "--json"))["aggressiveness"][0]["model"] == "good"
