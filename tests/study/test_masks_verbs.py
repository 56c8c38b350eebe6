"""The verbs of a study of models that give a map, through the command."""

from __future__ import annotations

import json
import re
import shutil

import numpy as np
import pyarrow.parquet as pq
import pytest
from masks_made import SCENES, SIZE, answer_all, begun, kept, said, scene, seen, tell, waiting, write_maps
from scores_made import done, refused, run

from dissensus.competition.ranking import method_of
from dissensus.predictions.maps import map_at
from dissensus.steps.pooling import given_order
from dissensus.study import Study
from dissensus.tasks.masks.columns import MAP_GROUP, MapColumn
from dissensus.tasks.masks.sensitivity import by_other_measures

MODELS = ("good", "fair", "poor")


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """Three models, nothing selected; copy what you change."""
    return begun(tmp_path_factory.mktemp("ready"))


@pytest.fixture(scope="module")
def judged(tmp_path_factory, ready):
    """Selected, and drawn by one person."""
    folder = tmp_path_factory.mktemp("judged")
    shutil.copytree(ready, folder / "study")
    done("select", folder / "study", "--k", 3)
    answer_all(folder / "study", folder / "truths")
    return folder / "study"


@pytest.fixture
def fresh(ready, tmp_path):
    shutil.copytree(ready, tmp_path / "study")
    return tmp_path / "study"


@pytest.fixture
def finished(judged, tmp_path):
    shutil.copytree(judged, tmp_path / "study")
    return tmp_path / "study"


def ranked(study) -> dict[str, list[str]]:
    found = json.loads(done("rank", study, "--json"))
    return {measure: [one["model"] for one in found[measure]] for measure in ("aggressiveness", "resistance")}


def rows(study, number=1) -> list[dict]:
    return pq.read_table(Study(study).folder.selection(number)).to_pylist()


def test_predictions_are_the_maps_in_few_bytes(ready):
    column = MapColumn(Study(ready).folder, "fair")
    some, order = [17, 3, 59], given_order(Study(ready).folder)
    for place, number in enumerate(some):
        np.testing.assert_array_equal(map_at(column.at(order[some]), place), seen("fair", number))
    np.testing.assert_array_equal(map_at(column.group(0), int(order[5])), seen("fair", 5))
    raw = SCENES * SIZE[0] * SIZE[1]
    assert (
        sum(len(runs) for runs in pq.read_table(Study(ready).folder.predictions("fair"))["runs"].to_pylist()) < raw / 10
    )
    assert pq.ParquetFile(Study(ready).folder.predictions("fair")).metadata.row_group(0).num_rows <= MAP_GROUP


def test_the_better_model_comes_first_in_both_orders(judged):
    assert ranked(judged) == {"aggressiveness": list(MODELS), "resistance": list(MODELS)}


def test_no_image_is_twice_in_a_duel_and_every_row_keeps_the_rules(judged):
    found = rows(judged)
    duels = {}
    for row in found:
        duels.setdefault((row["attacker"], row["defender"]), []).append(row["item"])
        number = int(row["item"][6:9])
        defender, attacker = seen(row["defender"], number), seen(row["attacker"], number)
        assert row["share"] == pytest.approx((defender == row["label"]).mean())
        assert row["share"] > 0
        assert (defender != attacker).any()
    assert len(duels) == 6
    assert all(len(items) == len(set(items)) for items in duels.values())
    shares = {
        label: np.concatenate([[(seen(model, n) == label).mean() for n in range(SCENES)] for model in MODELS])
        for label in (1, 2, 3)
    }
    for row in found:  # the scale of the pool: quartiles of the shares that are there
        present = shares[row["label"]][shares[row["label"]] > 0]
        low, high = np.quantile(present, [0.25, 0.75])
        assert low - 1e-4 <= row["share"] <= high + 1e-4


def test_the_matrices_are_the_ratios_of_the_paper(judged):
    done("rank", judged)
    found = json.loads((judged / "results" / "matrices.json").read_text())
    aggressiveness, resistance = (np.array(found[name], float) for name in ("aggressiveness", "resistance"))
    off = ~np.eye(3, dtype=bool)  # nobody attacks themselves
    np.testing.assert_allclose(resistance[off], (1 / aggressiveness.T)[off])
    attacker, defender = "good", "poor"
    of_duel = [row for row in rows(judged) if (row["attacker"], row["defender"]) == (attacker, defender)]
    means = {}
    for model in (attacker, defender):
        by_category = {}
        for row in of_duel:
            if not row["reserve"]:
                number = int(row["item"][6:9])
                by_category.setdefault(row["label"], []).append(plain_miou(scene(number), seen(model, number)))
        means[model] = np.mean([np.mean(values) for values in by_category.values()])
    expected = (means[attacker] + 0.01) / (means[defender] + 0.01)
    place = {name: number for number, name in enumerate(found["models"])}
    assert aggressiveness[place[attacker], place[defender]] == pytest.approx(expected)


def plain_miou(truth, other) -> float:
    """Mean over the classes that are in either map."""
    present = [label for label in range(4) if ((truth == label) | (other == label)).any()]
    return float(np.mean([((truth == y) & (other == y)).sum() / ((truth == y) | (other == y)).sum() for y in present]))


def test_a_newcomer_asks_for_its_own_duels_only(finished, tmp_path):
    before = {row["item"] for row in rows(finished) if not row["reserve"]}
    answered = json.loads(done("status", finished, "--json"))["judgements"]
    maps = write_maps(tmp_path / "new", "new")
    done("join", finished, f"new=file:{maps}")
    joined = rows(finished, 2)
    assert all("new" in (row["attacker"], row["defender"]) for row in joined)
    assert {(row["attacker"], row["defender"]) for row in joined} == {
        pair for other in MODELS for pair in (("new", other), (other, "new"))
    }
    asked = {question["item"] for question in waiting(finished)}
    assert asked == {row["item"] for row in joined if not row["reserve"]} - before
    answer_all(finished, tmp_path / "more")
    assert json.loads(done("status", finished, "--json"))["judgements"] == answered + len(asked)
    assert ranked(finished)["aggressiveness"] == ["good", "fair", "new", "poor"]


def test_a_further_round_takes_other_images(finished):
    done("select", finished, "--again")
    first = {(row["attacker"], row["defender"], row["item"]) for row in rows(finished)}
    second = {(row["attacker"], row["defender"], row["item"]) for row in rows(finished, 2)}
    assert second
    assert not first & second


def test_an_image_that_is_unfit_makes_room_for_its_reserve(fresh, tmp_path):
    done("select", fresh)
    first = waiting(fresh)[0]["item"]
    duels = {(r["attacker"], r["defender"], r["label"]) for r in rows(fresh) if r["item"] == first and r["rank"] == 1}
    tell(fresh, tmp_path / "unfit.jsonl", [said("mask", {"item": first}, "ann", "unfit")])
    status = json.loads(done("status", fresh, "--json"))
    assert status["discarded_items"] == 1
    now = {question["item"] for question in waiting(fresh)}
    reserves = {
        r["item"] for r in rows(fresh) if (r["attacker"], r["defender"], r["label"]) in duels and r["rank"] == 2
    }
    assert first not in now
    assert reserves <= now


def test_marked_errors_wait_for_a_correction(fresh, tmp_path):
    done("select", fresh)
    items = [question["item"] for question in waiting(fresh)]
    wrong = np.zeros(SIZE, np.uint8)
    rows_told = [said("mask", {"item": item}, "ann", kept(scene(int(item[6:9])))) for item in items[1:]]
    rows_told.append(said("mask", {"item": items[0]}, "ann", kept(wrong)))
    tell(fresh, tmp_path / "drawn.jsonl", rows_told)
    assert waiting(fresh) == []
    mark = {"x": 3, "y": 4, "kind": "missing"}
    tell(fresh, tmp_path / "checks.jsonl", [said("check", {"item": items[0]}, "bob", [mark], 5)])
    assert [question["item"] for question in waiting(fresh)] == [items[0]]
    assert "1 mask has marked errors" in done("rank", fresh)
    for check, count in ((False, 0), (True, 1)):  # without checks nobody is asked to correct it either
        Study(fresh).change("judge", {"check": check})
        assert len(waiting(fresh)) == count
    body = {"item": items[0], "again": True}
    tell(fresh, tmp_path / "again.jsonl", [said("mask", body, "cy", kept(scene(int(items[0][6:9]))), 9)])
    assert waiting(fresh) == []
    assert "marked errors" not in done("rank", fresh)
    whole = Study(fresh)
    evaluation = whole.evaluation()
    number = [evaluation.item_ids[item] for item in evaluation.keys[:, 0].tolist()].index(items[0])
    np.testing.assert_array_equal(map_at(evaluation.states.truths, number), scene(int(items[0][6:9])))


def test_an_image_on_which_people_agree_nowhere_does_not_count_and_is_not_asked_again(fresh, tmp_path):
    Study(fresh).change("judge", {"min_answers": 2})
    done("select", fresh)
    items = [question["item"] for question in waiting(fresh)]
    drawn = {item: scene(int(item[6:9])) for item in items}
    other = drawn | {items[0]: (drawn[items[0]] + 1) % 4}
    for name, masks in (("ann", drawn), ("bob", other)):
        tell(fresh, tmp_path / f"{name}.jsonl", [said("mask", {"item": i}, name, kept(m)) for i, m in masks.items()])
    assert waiting(fresh) == []
    words = done("rank", fresh)
    assert "On 1 image, annotators agree on no pixel" in words
    assert "Preliminary" not in words  # what waits is the same for all verbs


def test_whoever_is_excluded_has_drawn_nothing(finished):
    done("annotators", "add", finished, "ann")
    done("annotators", "exclude", finished, "ann", "--reason", "draws at random")
    assert {question["item"] for question in waiting(finished)} == {r["item"] for r in rows(finished) if r["rank"] <= 3}
    refused(run("rank", finished), "not enough judgements")
    refused(run("report", finished), "not enough judgements")
    done("annotators", "include", finished, "ann", "--reason", "a mistake")
    assert waiting(finished) == []


def test_choices_rank_models_too(fresh, tmp_path):
    Study(fresh).change("judge", {"question": "choice", "min_answers": 2})
    done("select", fresh, "--k", 2)
    told = []
    for question in waiting(fresh):
        number = int(question["item"][6:9])
        truth = scene(number)
        agree = [float((seen(question[side], number) == truth).mean()) for side in ("first", "second")]
        better = "first" if agree[0] >= agree[1] else "second"
        turned = {"item": question["item"], "first": question["second"], "second": question["first"]}
        plain = {name: question[name] for name in ("item", "first", "second")}
        told.append(said("choice", plain, "ann", better))
        told.append(said("choice", turned, "bob", {"first": "second", "second": "first"}[better]))
    tell(fresh, tmp_path / "choices.jsonl", told)
    assert waiting(fresh) == []
    assert ranked(fresh)["aggressiveness"] == list(MODELS)
    page = Study(fresh).report().read_text(encoding="utf-8")
    assert "chose the attacker" in page
    assert "Sensitivity to the measure" not in page


def test_scales_of_a_training_set_a_table_and_none(fresh, tmp_path):
    maps = write_maps(tmp_path / "training", "good", range(20))
    done("select", fresh, "--scales", maps)
    table = (fresh / "scales.csv").read_text().splitlines()
    assert table[0] == "class,low,high"
    shares = np.array([[(seen("good", n) == label).mean() for label in (1, 2, 3)] for n in range(20)])
    for line, column in zip(table[1:], shares.T, strict=True):
        low, high = map(float, line.split(",")[1:])
        assert (low, high) == tuple(np.quantile(column[column > 0], [0.25, 0.75]))  # a rounded end excludes itself
    bounds = {line.split(",")[0].strip('"'): tuple(map(float, line.split(",")[1:])) for line in table[1:]}
    assert all(bounds[r["category"]][0] <= r["share"] <= bounds[r["category"]][1] for r in rows(fresh))
    done("select", fresh, "--scales", "none", "--again")
    outside = [r for r in rows(fresh, 2) if not bounds[r["category"]][0] <= r["share"] <= bounds[r["category"]][1]]
    assert outside


@pytest.mark.parametrize("measure", ["miou", "miou-all", "fwiou", "mpa"])
def test_every_measure_selects_and_ranks(fresh, tmp_path, measure):
    done("select", fresh, "--measure", measure, "--k", 3)
    answer_all(fresh, tmp_path / "truths")
    assert ranked(fresh)["aggressiveness"][0] == "good"


def test_other_measures_rank_as_a_study_made_with_them(ready, tmp_path):
    """With every image selected, studies differ in nothing but the measure."""
    studies = {}
    for measure in ("miou", "mpa"):
        shutil.copytree(ready, tmp_path / measure)
        studies[measure] = Study(tmp_path / measure)
        done("select", tmp_path / measure, "--k", SCENES, "--scales", "none", "--measure", measure)
        answer_all(tmp_path / measure, tmp_path / f"truths of {measure}")
    evaluation = studies["miou"].evaluation()
    method = method_of(studies["miou"].settings.rank)
    found, refused = by_other_measures(studies["miou"]._task.work, evaluation, method)
    assert (list(found), refused) == (["miou-all", "fwiou", "mpa"], {})
    expected, own = studies["mpa"].rank().measures, studies["miou"].rank().measures
    for order, ranking in expected.items():
        assert [one.model_dump() for one in found["mpa"][order]] == [
            {name: pytest.approx(value) for name, value in one.model_dump().items()} for one in ranking.standings
        ]
        assert found["mpa"][order][0].strength != pytest.approx(own[order].standings[0].strength, abs=0.01)


def test_the_report_shows_what_was_drawn(judged):
    page = re.sub(r"base64,[\w+/=]*", "", Study(judged).report().read_text(encoding="utf-8"))
    assert "NaN" not in page
    assert "Sensitivity to the measure" in page
    for name in MODELS:
        assert name in page


def test_the_legend_of_the_report_names_what_nobody_can_tell(finished, tmp_path):
    assert "not scored" not in Study(finished).report().read_text(encoding="utf-8")
    item = rows(finished)[0]["item"]
    labels = scene(int(item[6:9]))
    labels[:5] = 255
    tell(finished, tmp_path / "anew.jsonl", [said("mask", {"item": item}, "zoe", kept(labels))])
    done("annotators", "exclude", finished, "ann", "--reason", "zoe knows better")
    Study(finished).change("judge", {"share": 0.01})
    assert '<i class="c255"></i>not scored' in Study(finished).report().read_text(encoding="utf-8")


def test_checks_are_counted_like_masks(fresh, tmp_path):
    done("select", fresh)
    (first, *_) = waiting(fresh)
    body = {"item": first["item"]}
    drawn = said("mask", body, "ann", kept(scene(int(first["item"][6:9]))))
    rows = [drawn, said("check", body, "bob", [], 1)]
    (tmp_path / "both.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert "2 new answers; the study now has 2 answers by 2 people" in done(
        "judgements", "import", fresh, tmp_path / "both.jsonl"
    )


def test_masks_of_other_proportions_are_said_to_be_stretched(fresh, tmp_path):
    done("select", fresh)
    items = [question["item"] for question in waiting(fresh)]
    told = [said("mask", {"item": item}, "ann", kept(scene(int(item[6:9])))) for item in items]
    told[0] = said("mask", {"item": items[0]}, "ann", kept(scene(int(items[0][6:9]))[:, ::2]))
    tell(fresh, tmp_path / "drawn.jsonl", told)
    assert "Masks of 1 image have a different aspect ratio from the image" in done("rank", fresh)


def test_json_lines_hold_masks_as_they_are(finished, tmp_path):
    done("judgements", "export", finished, tmp_path / "answers.jsonl")
    first = json.loads((tmp_path / "answers.jsonl").read_text().splitlines()[0])
    assert set(first["answer"]) == {"height", "width", "runs"}
    copied = tmp_path / "copy"
    shutil.copytree(finished, copied)
    assert "0 new" in done("judgements", "import", copied, tmp_path / "answers.jsonl")
