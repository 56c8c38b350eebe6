"""The verbs of a study of models that give a number, through the command."""

from __future__ import annotations

import csv
import json
import shutil

import pyarrow.parquet as pq
import pytest
from scores_made import QUALITY, answers, begun, done, lower, made_files, sheet, write_csv

from dissensus.records import Rankings
from dissensus.study import Study

MODELS = ("good", "fair", "poor")


def asked(study) -> set[tuple[str, str]]:
    return set(Study(study).asked())


def waiting(study) -> list[dict]:
    return json.loads(done("questions", study, "--json"))


def answer_all(study, path, **how) -> int:
    pairs = waiting(study)
    done("judgements", "import", study, sheet(path, answers(pairs, **how)))
    return len(pairs)


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Three models on a scale by ratings, nothing selected; copy what you change."""
    return begun(tmp_path_factory.mktemp("ready"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory, ready):
    """All pairs compared by three people."""
    folder = tmp_path_factory.mktemp("judged")
    shutil.copytree(ready, folder / "study")
    done("select", folder / "study")
    answer_all(folder / "study", folder / "answers.csv")
    return folder / "study"


@pytest.fixture
def fresh(ready, tmp_path):
    shutil.copytree(ready, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def finished(judged, tmp_path):
    shutil.copytree(judged, tmp_path / "study")
    return tmp_path / "study"


def test_a_whole_study_by_commands(command, tmp_path):
    files, study = made_files(tmp_path / "files"), tmp_path / "study"

    def ran(*arguments):
        found = command(*arguments)
        assert found.returncode == 0, found.stderr
        assert found.stderr == ""
        return found.stdout

    assert "new study (task scores)" in done("init", study, "--task", "scores")
    assert "240 items" in done("pool", study, files / "pool.csv")
    specs = [f"{name}=file:{files / name}.csv" for name in MODELS]
    assert [row["predicted"] for row in json.loads(ran("predict", study, *specs, *lower(MODELS), "--json"))] == [
        True
    ] * 3
    by_ranks = json.loads(done("scale", study, "--json"))
    assert [(fit["model"], fit["better"], fit["method"]) for fit in by_ranks] == [
        ("good", "higher", "ranks"),
        ("fair", "lower", "ranks"),
        ("poor", "higher", "ranks"),
    ]
    fits = json.loads(ran("scale", study, files / "ratings.csv", "--worst", 1, "--best", 5, "--json"))
    assert [fit["method"] for fit in fits] == ["logistic"] * 3
    assert [fit["items"] for fit in fits] == [80] * 3
    assert fits[0]["srcc"] > fits[1]["srcc"] > fits[2]["srcc"] > 0.5
    selected = json.loads(ran("select", study, "--json"))
    assert (selected["round"], selected["duels"]) == (1, 6)
    assert selected["places"] <= 6 * 6
    assert 0 < selected["open_questions"] == selected["selected"] <= selected["places"]
    assert "open questions" in done("questions", study)
    assert "pairs for 6 duels" in done("status", study)
    ran("questions", study, tmp_path / "sheet.csv")
    with open(tmp_path / "sheet.csv", newline="") as file:
        pairs = list(csv.DictReader(file))
    assert len(pairs) == selected["open_questions"]
    assert {row["kind"] for row in pairs} == {"slider"}
    place = {item: number for number, item in enumerate(Study(study)._items())}
    assert all(place[row["first"]] < place[row["second"]] for row in pairs)  # it tells nothing of what models say
    imported = ran("judgements", "import", study, sheet(tmp_path / "answers.csv", answers(pairs)), "--json")
    assert json.loads(imported) == {
        "new": 3 * len(pairs),
        "answers": 3 * len(pairs),
        "judgements": 3 * len(pairs),
        "annotators": 3,
        "open_questions": 0,
    }
    ranked = json.loads(ran("rank", study, "--json"))
    for measure in ("aggressiveness", "resistance"):
        assert [row["model"] for row in ranked[measure]] == ["good", "fair", "poor"]
    assert "report:" in ran("report", study)
    page = (study / "results" / "report.html").read_text()
    assert "good" in page
    assert "NaN" not in page
    assert "bt500" in done("screen", study)


def test_both_rankings_are_kept_and_hold_no_nan(judged):
    printed = done("rank", judged)
    assert "aggressiveness" in printed
    assert "resistance" in printed
    kept = (judged / "results" / "ranking.json").read_text()
    assert "NaN" not in kept
    assert "Infinity" not in kept
    rankings = Rankings.model_validate_json(kept)
    assert rankings.aggressiveness.provenance.parameters["screening"] == "bt500"
    assert set(rankings.aggressiveness.provenance.inputs) == {"round 1", "judgements"}
    for ranking in rankings.measures.values():
        for standing in ranking.standings:
            assert standing.low <= standing.strength <= standing.high
    matrices = json.loads(Study(judged).folder.matrices.read_text())
    for name in ("aggressiveness", "resistance"):
        assert [row[at] for at, row in enumerate(matrices[name])] == [None] * 3  # no model meets itself
    other = json.loads(done("rank", judged, "--method", "bradley-terry", "--json"))
    assert [row["model"] for row in other["aggressiveness"]] == ["good", "fair", "poor"]


def test_selected_pairs_are_what_they_say(judged):
    study = Study(judged)
    rows = study.selection()
    scores = {}
    for name in MODELS:
        sign = -1 if name == "fair" else 1
        column = pq.read_table(study.folder.predictions(name))["score"].to_pylist()
        scores[name] = dict(zip(study._items(), [sign * score for score in column], strict=True))
    for row in rows:
        assert scores[row["attacker"]][row["low"]] < scores[row["attacker"]][row["high"]]
        assert row["attacker_low"] < row["attacker_high"]
        assert abs(row["defender_low"] - row["defender_high"]) <= 35  # a level is one standard deviation wide
        assert 2 <= row["weight"] <= 240
    # the better model finds pairs whose order people confirm
    right = [QUALITY[row["high"]] > QUALITY[row["low"]] for row in rows if row["attacker"] == "good"]
    assert sum(right) > 0.9 * len(right)


@pytest.mark.parametrize(
    ("options", "most"),
    [
        (("--levels", 3), 3),
        (("--case", "most"), 1),
        (("--spacing", "quantile", "--levels", 4), 4),
        (("--jnd", 2), 6),
        (("--width", 5, "--reserves", 0), 6),
    ],
)
def test_ways_to_select(fresh, options, most):
    selected = json.loads(done("select", fresh, *options, "--json"))
    assert 6 <= selected["places"] <= 6 * most
    rows = Study(fresh).selection()
    for attacker, defender in {(row["attacker"], row["defender"]) for row in rows}:
        own = [row for row in rows if (row["attacker"], row["defender"], row["rank"]) == (attacker, defender, 1)]
        assert len({row["level"] for row in own}) == len(own) <= most
    if "--jnd" in options:
        assert all(abs(row["defender_low"] - row["defender_high"]) < 2 for row in rows)
    if "quantile" in options:
        assert {row["weight"] for row in rows} == {60}
    if "--reserves" in options:
        assert selected["reserves"] == 0
    assert done("select", fresh) == done("select", fresh)  # nothing is left to select


def test_one_pair_a_duel_is_enough_for_rank_sets(fresh, tmp_path):
    done("select", fresh, "--case", "most")
    answer_all(fresh, tmp_path / "answers.csv")
    rows = json.loads(done("rank", fresh, "--json"))["aggressiveness"]
    assert all(row["low"] < row["strength"] < row["high"] for row in rows)


def test_by_ranks_where_nobody_rated_anything(tmp_path):
    study = begun(tmp_path, ratings=False)
    selected = json.loads(done("select", study, "--json"))
    assert selected["settings"]["width"] == pytest.approx(100 / 6)
    assert {row["weight"] for row in Study(study).selection()} == {40}
    answer_all(study, tmp_path / "answers.csv")
    assert json.loads(done("rank", study, "--json"))["aggressiveness"][0]["model"] == "good"


def test_a_further_round_has_other_pairs_for_every_duel(finished, tmp_path):
    before = Study(finished).selection()
    again = json.loads(done("select", finished, "--again", "--json"))
    assert again["round"] == 2
    rows = Study(finished).selection()
    assert rows[: len(before)] == before
    for row in rows[len(before) :]:
        duel = row["attacker"], row["defender"]
        taken = {
            item for old in before if (old["attacker"], old["defender"]) == duel for item in (old["low"], old["high"])
        }
        assert not taken & {row["low"], row["high"]}
    assert answer_all(finished, tmp_path / "more.csv") == again["open_questions"]
    assert json.loads(done("rank", finished, "--json"))["aggressiveness"][0]["model"] == "good"


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


def test_an_excluded_person_says_nothing(finished, tmp_path):
    before = json.loads(done("rank", finished, "--json"))
    rows = [[*row[:3], "mallory", -row[4]] for row in answers(all_pairs(finished), people=("x",), noise=0)]
    done("judgements", "import", finished, sheet(tmp_path / "mallory.csv", rows))
    assert json.loads(done("rank", finished, "--json")) != before
    done("annotators", "exclude", finished, "mallory", "--reason", "answers everything the wrong way round")
    assert json.loads(done("rank", finished, "--json")) == before
    done("report", finished)
    assert "wrong way round" in (finished / "results" / "report.html").read_text()


def all_pairs(study):
    return [{"first": first, "second": second} for first, second in sorted(asked(study))]


def test_a_model_that_joins_costs_its_own_pairs_and_asks_nothing_again(finished, ready, tmp_path):
    files = ready.parent / "files"
    before, rounds = asked(finished), Study(finished).selection()
    ranked = json.loads(done("rank", finished, "--json"))
    joined = json.loads(done("join", finished, f"new=file:{files / 'new'}.csv", "--json"))
    assert (joined["round"], joined["duels"]) == (2, 6)
    assert joined["places"] <= 2 * 3 * 6
    after = asked(finished)
    assert before <= after
    assert len(after - before) <= 2 * 3 * 6
    open_now = {(pair["first"], pair["second"]) for pair in waiting(finished)}
    assert open_now == after - before  # nothing that was answered is asked again
    rows = Study(finished).selection()
    assert rows[: len(rounds)] == rounds
    assert all("new" in (row["attacker"], row["defender"]) for row in rows[len(rounds) :])
    # the same level of the same defender has the same weight in both rounds
    weight = {(row["defender"], row["level"]): row["weight"] for row in rounds}
    later = {(row["defender"], row["level"]): row["weight"] for row in rows[len(rounds) :] if row["defender"] != "new"}
    assert {key: weight[key] for key in later} == later
    old = [row["model"] for row in json.loads(done("rank", finished, "--json"))["resistance"]]
    assert [name for name in old if name != "new"] == [row["model"] for row in ranked["resistance"]]
    assert answer_all(finished, tmp_path / "more.csv") == len(after - before)
    now = json.loads(done("rank", finished, "--json"))
    assert [row["model"] for row in now["aggressiveness"]] == ["good", "new", "fair", "poor"]


def test_answers_go_round_and_rank_the_same(judged, fresh, tmp_path):
    ranked = json.loads(done("rank", judged, "--json"))
    for ending in ("csv", "jsonl", "parquet"):
        done("judgements", "export", judged, tmp_path / f"out.{ending}")
    done("select", fresh)
    assert done("judgements", "import", fresh, tmp_path / "out.csv").startswith("90 new answers")
    assert json.loads(done("rank", fresh, "--json")) == ranked
    for ending in ("jsonl", "parquet"):
        assert done("judgements", "import", fresh, tmp_path / f"out.{ending}").startswith("0 new answers")


def test_other_screenings_of_the_same_answers(finished):
    for method in ("p910", "mean"):
        Study(finished).change("judge", {"method": method})
        rankings = Study(finished).rank()
        assert rankings.aggressiveness.provenance.parameters["screening"] == method
        assert rankings.aggressiveness.standings[0].model == "good"
    Study(finished).change("judge", {"method": "p910"})
    screened = json.loads(done("screen", finished, "--json"))
    assert screened["used"] == "p910"
    assert [one["name"] for one in screened["subjects"]] == ["ann", "ben", "cem"]
    assert screened["correlation"] > 0.9
    assert "P.910 rejects nobody" in done("screen", finished)


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


def test_other_ratings_mean_other_scales_for_all_models_of_the_next_round(finished, ready, tmp_path):
    files = ready.parent / "files"
    before = Study(finished).selection()
    bent = [(item, 1 + 4 * (quality / 100) ** 2) for item, quality in list(QUALITY.items())[::2]]
    done("scale", finished, write_csv(tmp_path / "bent.csv", ("item", "rating"), bent))
    done("join", finished, f"new=file:{files / 'new'}.csv")
    later = Study(finished).selection()[len(before) :]
    scored = {(row["attacker"], row["low"]): row["attacker_low"] for row in later}
    scored |= {(row["defender"], row["low"]): row["defender_low"] for row in later}
    middle = {
        model: [value for (name, item), value in scored.items() if name == model and 40 < QUALITY[item] < 60]
        for model in ("good", "new")
    }
    for model, values in middle.items():  # quality 50 is 25 on the bent scale, and 50 on the one before
        assert not values or max(values) < 50, (model, values)
