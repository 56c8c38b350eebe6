"""A command or a setting that changes what earlier rounds, answers or rankings mean refuses, or says so.

Refusals have tests of their own: other settings without --again, `predict --again`, `pool`, `remove`, `better`, and
`select --again --measure`.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from small import ITEMS, answered, labels, masked, selected

from dissensus.competition.changes import changed_rules
from dissensus.store.files import write_text
from dissensus.store.folder import Folder
from dissensus.study import Study

RNG = np.random.default_rng(0)
QUALITY = dict(zip(ITEMS, RNG.uniform(0, 100, len(ITEMS)).tolist(), strict=True))


def scored(root: Path) -> Study:
    """Three models that predict scores, and their round, which two people have answered."""
    study = Study.init(root, task="scores")
    study.pool(items=ITEMS)
    seen = np.array(list(QUALITY.values()))
    study.predict(**{name: seen + RNG.normal(0, noise, len(seen)) for name, noise in (("a", 5), ("b", 20), ("c", 40))})
    study.select(levels=3)
    study.change("judge", {"min_answers": 2})
    for name in ("ann", "ben"):
        rows = [
            {"first": one.first, "second": one.second, "answer": round(QUALITY[one.second] - QUALITY[one.first])}
            for one in study.questions()
        ]
        study.answer(rows, name)
    return study


def ratings(study: Study) -> Path:
    path = study.folder.root.parent / "ratings.csv"
    rows = [f"{item},{1 + quality / 25}" for item, quality in QUALITY.items()]
    path.write_text("\n".join(["item,rating", *rows]), encoding="utf-8")
    return path


def test_more_of_the_same_is_not_a_change(tmp_path):
    study = answered(tmp_path / "study")
    number = study.select(again=True, k=2, reserves=1)
    assert not any("other settings" in words for one in study.status().rounds for words in one.words)
    assert number == 3
    assert not any("other settings" in words for words in study.rank().words)


@pytest.mark.parametrize("how", ["again", "join"])
def test_a_round_by_other_rules_is_named_by_every_ranking(tmp_path, how, command):
    study = answered(tmp_path / "study")
    assert not any("other settings" in words for words in study.rank().words)
    said = "Round 3 was selected with other settings than round 2 (cap none → 1): the ranking counts both."
    if how == "again":
        assert said in command("select", study.folder.root, "--again", "--cap", 1).stdout
    else:
        study.change("select", {"cap": 1})
        study.join(four=labels(3))
        assert said in study.status().rounds[-1].words
    assert said in study.rank().words


def test_settings_that_no_round_has_yet_are_in_the_status(tmp_path, command):
    study = answered(tmp_path / "study")
    assert study.status().changes == ()
    study.change("select", {"cap": 1})
    said = "The settings have changed since round 2 (cap none → 1): this applies to further rounds only"
    assert said in command("status", study.folder.root).stdout
    assert study.status().next.startswith("dissensus report ")


def test_a_round_that_nobody_was_asked_about_is_replaced(tmp_path, command):
    study = selected(tmp_path / "study")
    study.change("select", {"cap": 1})
    said = "The settings have changed since round 1 (cap none → 1): dissensus select replaces it"
    assert said in command("status", study.folder.root).stdout
    assert study.status().next == f"dissensus select {study.folder.root}"  # `serve` would make the old round stay
    study.select()
    assert study.status().changes == ()
    assert study.status().next.startswith("dissensus serve ")


def test_another_scale_says_that_the_rounds_have_the_old_one(tmp_path, command):
    study = scored(tmp_path / "study")
    before = study.rank().aggressiveness
    assert "further rounds only" not in command("scale", study.folder.root).stdout
    done = command("scale", study.folder.root, ratings(study), "--worst", 1, "--best", 5)
    assert "Round 1 was selected on another scale of the scores" in done.stdout
    assert study.rank().aggressiveness.standings == before.standings
    study.select(again=True)
    assert any(words.startswith("Round 2 was selected with other settings") for words in study.rank().resistance.words)


def test_answers_to_the_other_kind_of_question_are_not_dropped_in_silence(tmp_path, command):
    study = scored(tmp_path / "study")
    count = study.status().judgements
    assert study.status().changes == ()
    study.change("judge", {"question": "choice", "min_answers": 1})
    said = f"{count} answers to slider questions do not count: this study asks choice questions"
    assert said in command("status", study.folder.root).stdout
    better = [
        {"first": one.first, "second": one.second, "kind": "choice", "answer": "second"} for one in study.questions()
    ]
    study.answer(better, "ann")
    assert any(words.startswith(said) for words in study.rank().aggressiveness.words)
    study.change("judge", {"question": "slider"})
    assert any("choice questions do not count" in words for words in study.rank().aggressiveness.words)


def test_masks_do_not_count_where_people_choose(tmp_path):
    study = masked(tmp_path / "study")
    mask = {"height": 16, "width": 16, "runs": [0, 128, 1, 128]}
    rows = [
        {"kind": "mask", "question": {"item": one.item}, "annotator": "ann", "answer": mask}
        for one in study.questions()
    ]
    path = tmp_path / "masks.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    study.judgements_import(path)
    assert study.status().changes == ()
    study.change("judge", {"question": "choice"})
    assert study.status().changes[0].startswith(f"{len(rows)} answers to mask questions do not count")


def test_the_owners_own_questions_are_no_answers_that_were_dropped(tmp_path):
    study = scored(tmp_path / "study")
    path = tmp_path / "own.jsonl"
    path.write_text(json.dumps({"kind": "choice", "first": ITEMS[0], "second": ITEMS[1], "ask": "Sharper?"}))
    study.ask(path)
    own = {"kind": "choice", "question": json.loads(path.read_text()), "annotator": "ann", "answer": "first"}
    own["question"].pop("kind")
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps(own), encoding="utf-8")
    assert study.judgements_import(answers) == 1
    assert study.status().changes == ()


def test_a_ranking_by_other_rules_than_the_last_one_says_so(tmp_path, command):
    study = answered(tmp_path / "study")
    said = "has changed since the last ranking"
    assert said not in command("rank", study.folder.root).stdout
    assert said not in command("rank", study.folder.root).stdout
    study.change("judge", {"unsure": 0.2})
    assert f"[judge] in study.toml {said}: unsure 0.6 → 0.2." in command("report", study.folder.root).stdout
    assert said not in command("rank", study.folder.root).stdout


@pytest.mark.parametrize("text", ["", "{}", "[]", "3", "null", '{"aggressiveness": 1}', '{"provenance": []}'])
def test_a_ranking_of_another_shape_is_replaced(tmp_path, text):
    folder = Folder(tmp_path)
    write_text(folder.ranking, text)
    assert changed_rules(folder, {"unsure": 0.2}) == ()


@pytest.mark.parametrize(("judge", "says"), [({"unsure": 0.6}, 1), ({"unsure": 0.2}, 0), (3, 0), ([], 0), (None, 0)])
def test_only_rules_can_have_changed(tmp_path, judge, says):
    folder, one = Folder(tmp_path), {"standings": [], "words": [], "cyclic_share": None, "degenerate_resamples": 0}
    made = {"method": "perron", "parameters": {"judge": judge}, "inputs": {}, "package": "1"}
    for shape in (one, {"aggressiveness": one, "resistance": one, "words": []}):
        one |= {"fragility": None, "provenance": made}
        write_text(folder.ranking, json.dumps(shape))
        assert len(changed_rules(folder, {"unsure": 0.2})) == says


def test_a_ranking_of_labels_says_what_its_rank_sets_do_not_cover(tmp_path):
    study = selected(tmp_path / "study")
    questions = [{"item": one.item, "label": one.name, "answer": "yes"} for one in study.questions()]

    def said() -> list[str]:
        return [words for words in study.rank().words if "rank sets" in words]

    study.answer(questions[::2], "ann")
    study.answer(questions[1::2], "ann")
    assert said() == ["Only one person answered: rank sets cover variation between items, not annotators."]
    study.exclude("ann", "asleep")
    study.answer(questions[::2], "ben")
    study.answer(questions[1::2], "cem")
    assert said()[0].startswith("No two people answered the same question: rank sets do not cover systematic")
    study.answer(questions[::2], "cem")
    assert said() == []


def test_a_round_with_answers_to_another_kind_of_question_stays(tmp_path, command):
    study = scored(tmp_path / "study")
    before = study.rank().aggressiveness.standings
    study.change("judge", {"question": "rating"})
    done = command("select", study.folder.root, "--levels", 2)
    assert done.returncode == 2
    assert "answers to slider questions do not count" in done.stderr
    assert "no answers count: " in command("rank", study.folder.root).stderr
    study.change("judge", {"question": "slider"})
    assert study.rank().aggressiveness.standings == before


def test_a_setting_that_is_taken_back_is_a_change(tmp_path):
    study = selected(tmp_path / "study")  # with a confidence that was given
    settings = study.folder.settings
    lines = settings.read_text().splitlines(keepends=True)
    settings.write_text("".join(line for line in lines if not line.startswith("confidence")))
    study.select()
    (found,) = study.status().rounds
    assert found.settings["confidence"] == 0.8  # what the selection chose, not what was given before


def test_a_study_that_asks_nobody_counts_no_annotators(tmp_path):
    study = selected(tmp_path / "study")
    study.answer([{"item": one.item, "label": one.name, "answer": "yes"} for one in study.questions()], "table")
    settings = study.folder.settings.read_text()
    assert 'answers_from = ""' in settings
    study.folder.settings.write_text(settings.replace('answers_from = ""', 'answers_from = "known labels"'))
    page = study.report().read_text()
    assert "No person was asked: the answers are known labels." in page
    assert "No person was asked: rank sets cover variation between items" in page
    assert "1 annotator" not in page
    assert "Only one person" not in page
