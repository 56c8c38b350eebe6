"""A pool that grows and the people who are asked: nobody about an old round, and no answer is lost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import run
from growing import CLASSES, ITEMS, KINDS, add, whole
from scores_made import snapshot, write_csv
from small import one_line

from dissensus.errors import StudyError
from dissensus.store.draws import read_batches


def test_until_it_is_selected_again_nobody_is_asked_about_a_round_of_a_smaller_pool(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 200)
    asked = study.questions()[0]
    answer = [{"item": asked.item, "label": asked.name, "answer": "yes"}]
    study.pool([kind.source(folder, 200, 300)], add=True)
    root = study.folder.root
    status = study.status()
    assert status.next.startswith(f"dissensus predict {root}")
    assert status.changes == (
        "Items have been added to the pool since round 1 was selected: dissensus select replaces it.",
    )
    (tmp_path / "answers.jsonl").write_text(json.dumps({"kind": "contains"}))
    before = snapshot(root)
    for line in (
        ["questions", root],
        ["rank", root],
        ["report", root],
        ["serve", root, "--port", 0],
        ["judgements", "import", root, tmp_path / "answers.jsonl"],
    ):
        assert "items have been added to the pool since round 1 was selected: run dissensus predict" in one_line(
            run(*line)
        ), line
    with pytest.raises(StudyError, match="items have been added to the pool since round 1"):
        study.answer(answer, "ann")
    assert "has not predicted the items that were added" in one_line(run("select", root))
    assert snapshot(root) == before
    kind.write(folder, 300)
    study.predict()
    assert study.status().next == f"dissensus select {root}"
    study.select()
    assert study.status().changes == ()


def test_a_pool_that_people_were_asked_about_does_not_grow(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 200)
    asked = study.questions()[0]
    study.answer([{"item": asked.item, "label": asked.name, "answer": "yes"}], "ann")
    study.status()  # notes that there are answers now
    before = snapshot(study.folder.root)
    line = one_line(run("pool", study.folder.root, "--add", kind.source(folder, 200, 300)))
    assert "round 1 was selected from this pool, and one of its questions has an answer: start a new study" in line
    assert snapshot(study.folder.root) == before


def test_draws_that_nobody_was_asked_about_are_dropped(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "grown"
    study = whole(kind, folder, 200)
    study.draw(20)
    study.draw(5)
    add(study, kind, folder, 200, 300)
    assert study.folder.batches() == []
    study.select()
    study.draw(10)
    batch = read_batches(study.folder)[0]
    assert any(ITEMS.index(item) >= 200 for item in batch.ids)
    selected = {row["item"] for row in study.selection()}
    drawn = next(one for one in study.questions() if one.item in {*batch.ids} - selected)
    study.answer([{"item": drawn.item, "label": drawn.name, "answer": "yes"}], "ann")
    study.status()  # notes that there are answers now
    before = snapshot(study.folder.root)
    more = write_csv(folder / "more.csv", ("item",), [("another",)])
    line = one_line(run("pool", study.folder.root, "--add", more))
    assert "start a new study for the larger pool, and take the answers along" in line
    assert snapshot(study.folder.root) == before


def test_draws_that_are_left_of_a_removed_model_are_dropped_unless_answered(tmp_path: Path) -> None:
    kind = KINDS["confidence is set"]
    for is_answered in (False, True):
        folder = tmp_path / str(is_answered)
        study = whole(kind, folder, 200)
        study.draw(20)
        study.remove("three")
        assert (study.folder.rounds(), study.folder.batches()) == ([], [1])
        if is_answered:
            study.answer([{"item": ITEMS[0], "label": CLASSES[0], "answer": "yes"}], "ann")
        line = ("pool", study.folder.root, "--add", kind.source(folder, 200, 300))
        if is_answered:
            assert "questions were drawn from this pool, and people have been asked" in one_line(run(*line))
        else:
            assert run(*line).returncode == 0
        assert study.folder.batches() == ([1] if is_answered else [])


def test_a_pool_given_again_keeps_its_draws(tmp_path: Path) -> None:
    kind, folder = KINDS["confidence is set"], tmp_path / "same"
    study = whole(kind, folder, 200)
    study.draw(20)
    for again in (False, True):
        study.pool([kind.source(folder, 0, 200)], add=again)
        assert study.folder.batches() == [1]
