"""The demo: the whole job, and what it says about itself."""

from __future__ import annotations

import json

import pytest
from scipy.stats import spearmanr
from small import one_line, selected, snapshot


def test_it_ranks_real_classifiers_beside_what_full_labelling_gives(demo):
    _, result = demo
    assert result.ranking is not None
    assert len(result.ranking.standings) >= 7
    strengths = [standing.strength for standing in result.ranking.standings]
    accuracy = [result.accuracy[standing.model] for standing in result.ranking.standings]
    assert spearmanr(strengths, accuracy).statistic >= 0.75
    assert result.questions < result.pool


def test_its_report_is_small_and_says_where_the_answers_came_from(demo):
    _, result = demo
    page = result.report.read_text()
    assert "no person was asked" in page.lower()
    assert result.report.stat().st_size < 5_000_000


def test_the_command_prints_the_ranking_the_costs_and_the_path(process, command, tmp_path):
    done = process("demo", tmp_path / "digits")
    assert done.returncode == 0, done.stderr
    assert "own labels, not human judgements" in done.stdout
    assert f"report: {tmp_path / 'digits' / 'study' / 'results' / 'report.html'}" in done.stdout
    assert "899 labels" in done.stdout
    again = command("demo", tmp_path / "digits")
    assert again.returncode == 2
    assert "already holds a demo" in again.stderr


def test_an_option_of_the_other_demo_is_refused(command, tmp_path):
    for task, option in (("scores", "--by-hand"), ("labels", "--no-serve")):
        refused = command("demo", task, tmp_path / task, option)
        assert refused.returncode == 2
        assert option in refused.stderr
        assert not (tmp_path / task).exists()


def test_a_folder_of_somebody_elses_is_refused_and_left_as_it_is(command, tmp_path):
    selected(tmp_path / "study")
    (tmp_path / "answers.csv").write_text("mine")
    before = snapshot(tmp_path)
    for folder in (tmp_path, tmp_path / "study", tmp_path / "answers.csv"):
        assert "choose another folder" in one_line(command("demo", "labels", folder))
    assert snapshot(tmp_path) == before


@pytest.mark.slow
def test_by_hand_leaves_the_answers_to_the_person(command, tmp_path):
    done = command("demo", tmp_path / "digits", "--by-hand", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["ranking"] is None
    assert (tmp_path / "digits" / "sheet.html").read_text().count("data:image/png") > 10
    ranked = command("rank", tmp_path / "digits" / "study")
    assert ranked.returncode == 2
    assert "nobody has answered yet" in ranked.stderr
