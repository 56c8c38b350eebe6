"""The verbs of a study of models that give a number, through the command."""

from __future__ import annotations

import csv
import json

import pyarrow.parquet as pq
import pytest
from scores_made import QUALITY, answer_all, answers, asked, begun, done, lower, made_files, sheet, waiting, write_csv

from dissensus.records import Rankings
from dissensus.study import Study

MODELS = ("good", "fair", "poor")


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
    assert [
        row["predicted"] for row in json.loads(ran("predict", study, *specs, *lower(MODELS), "--json"))["models"]
    ] == [True] * 3
    by_ranks = json.loads(done("scale", study, "--json"))["fits"]
    assert [(fit["model"], fit["better"], fit["method"]) for fit in by_ranks] == [
        ("good", "higher", "ranks"),
        ("fair", "lower", "ranks"),
        ("poor", "higher", "ranks"),
    ]
    fits = json.loads(ran("scale", study, files / "ratings.csv", "--worst", 1, "--best", 5, "--json"))["fits"]
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
    assert json.loads(imported) | {"words": [], "next": ""} == {
        "words": [],
        "next": "",
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
    assert "Aggressiveness" in printed
    assert "Resistance" in printed
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


def test_a_further_round_has_other_pairs_for_every_duel(judged, tmp_path):
    before = Study(judged).selection()
    again = json.loads(done("select", judged, "--again", "--json"))
    assert again["round"] == 2
    rows = Study(judged).selection()
    assert rows[: len(before)] == before
    for row in rows[len(before) :]:
        duel = row["attacker"], row["defender"]
        taken = {
            item for old in before if (old["attacker"], old["defender"]) == duel for item in (old["low"], old["high"])
        }
        assert not taken & {row["low"], row["high"]}
    assert answer_all(judged, tmp_path / "more.csv") == again["open_questions"]
    assert json.loads(done("rank", judged, "--json"))["aggressiveness"][0]["model"] == "good"


def test_a_model_that_joins_costs_its_own_pairs_and_asks_nothing_again(judged, scores_folder, tmp_path):
    files = scores_folder / "files"
    before, rounds = asked(judged), Study(judged).selection()
    ranked = json.loads(done("rank", judged, "--json"))
    joined = json.loads(done("join", judged, f"new=file:{files / 'new'}.csv", "--json"))
    assert (joined["round"], joined["duels"]) == (2, 6)
    assert joined["places"] <= 2 * 3 * 6
    after = asked(judged)
    assert before <= after
    assert len(after - before) <= 2 * 3 * 6
    open_now = {(pair["first"], pair["second"]) for pair in waiting(judged)}
    assert open_now == after - before  # nothing that was answered is asked again
    rows = Study(judged).selection()
    assert rows[: len(rounds)] == rounds
    assert all("new" in (row["attacker"], row["defender"]) for row in rows[len(rounds) :])
    # the same level of the same defender has the same weight in both rounds
    weight = {(row["defender"], row["level"]): row["weight"] for row in rounds}
    later = {(row["defender"], row["level"]): row["weight"] for row in rows[len(rounds) :] if row["defender"] != "new"}
    assert {key: weight[key] for key in later} == later
    old = [row["model"] for row in json.loads(done("rank", judged, "--json"))["resistance"]]
    assert [name for name in old if name != "new"] == [row["model"] for row in ranked["resistance"]]
    assert answer_all(judged, tmp_path / "more.csv") == len(after - before)
    now = json.loads(done("rank", judged, "--json"))
    assert [row["model"] for row in now["aggressiveness"]] == ["good", "new", "fair", "poor"]


def test_other_ratings_mean_other_scales_for_all_models_of_the_next_round(judged, scores_folder, tmp_path):
    files = scores_folder / "files"
    before = Study(judged).selection()
    bent = [(item, 1 + 4 * (quality / 100) ** 2) for item, quality in list(QUALITY.items())[::2]]
    done("scale", judged, write_csv(tmp_path / "bent.csv", ("item", "rating"), bent))
    done("join", judged, f"new=file:{files / 'new'}.csv")
    later = Study(judged).selection()[len(before) :]
    scored = {(row["attacker"], row["low"]): row["attacker_low"] for row in later}
    scored |= {(row["defender"], row["low"]): row["defender_low"] for row in later}
    middle = {
        model: [value for (name, item), value in scored.items() if name == model and 40 < QUALITY[item] < 60]
        for model in ("good", "new")
    }
    for model, values in middle.items():  # quality 50 is 25 on the bent scale, and 50 on the one before
        assert not values or max(values) < 50, (model, values)
