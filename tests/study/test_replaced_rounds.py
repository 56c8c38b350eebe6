"""`select` may be repeated with other settings until somebody has been asked; then the round stays."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from forking import killed_at_change
from small import CLASSES, ITEMS, labels, one_line, predicted, selected, snapshot

from dissensus.errors import SelectionError, StudyError
from dissensus.records import Assignment, Question
from dissensus.store.answers import AnswerLog
from dissensus.store.lock import Lock
from dissensus.study import Study


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return selected(tmp_path / "study")


def bytes_of(study: Study) -> list[bytes]:
    return [study.folder.selection(number).read_bytes() for number in study.folder.rounds()]


def test_other_settings_replace_the_round_as_if_it_had_never_been(study, tmp_path):
    assert study.select(k=2, cap=1) == 1
    other = predicted(tmp_path / "other", "one", "two")
    other.select(k=2, cap=1, confidence=0)
    assert bytes_of(study) == bytes_of(other)
    assert study.check().is_whole
    assert study.select() == 1
    assert bytes_of(study) == bytes_of(other)


def test_only_the_last_round_is_replaced(study, tmp_path):
    study.join(three=labels(2))
    first, joined = bytes_of(study)
    assert study.select(k=2) == 2
    now = bytes_of(study)
    assert now[0] == first
    assert now[1] != joined
    assert {row["second"] for row in study.selection()[3:] if row["first"] == "one"} <= {"two", "three"}
    duels = study.status().rounds[1]
    assert (duels.duels, duels.settings["k"]) == (2, 2)


def test_a_round_of_more_items_stays_one(study):
    study.select(again=True)
    first, second = ({row["item"] for row in rows} for rows in by_round(study))
    study.select(k=2, reserves=1)
    now = by_round(study)
    assert {row["item"] for row in now[0]} == first
    assert first.isdisjoint({row["item"] for row in now[1]})
    assert {row["item"] for row in now[1]} < second


def by_round(study: Study) -> list[list[dict[str, object]]]:
    import pyarrow.parquet as pq

    return [pq.read_table(study.folder.selection(number)).to_pylist() for number in study.folder.rounds()]


def answer_one(study: Study) -> None:
    one = study.questions()[0]
    study.answer([{"item": one.item, "label": one.name, "answer": "yes"}], "ann")


def assign_one(study: Study) -> None:
    one = study.questions()[0]
    question = Question(kind="contains", body={"item": one.item, "label": one.label})
    given = {"annotator": "ann", "role": "asked", "shown": {}, "time": "2026-01-01T00:00:00+00:00"}
    AnswerLog(study._database).keep([Assignment(ticket="t", question=question, **given)], [])


@pytest.mark.parametrize(
    ("use", "words"), [(answer_one, "one of its questions has an answer"), (assign_one, "people have been asked")]
)
def test_a_round_that_people_were_asked_about_stays(study, command, use, words):
    use(study)
    study.status()  # notes that there are answers now
    before = snapshot(study.folder.root)
    line = one_line(command("select", study.folder.root, "--k", 2))
    assert "round 1 was selected with other settings (k 3 → 2, reserves 3 → 2)" in line
    assert words in line
    assert "--again" in line
    assert snapshot(study.folder.root) == before
    assert study.select(k=2, again=True) == 2


def test_answers_imported_before_the_selection_count(tmp_path):
    study = predicted(tmp_path / "study", "one", "two")
    study.answer([{"item": item, "label": CLASSES[0], "answer": "no"} for item in ITEMS], "ann")
    study.select(k=3, confidence=0)
    with pytest.raises(StudyError, match=r"its questions have . answers"):
        study.select(k=2)


def test_a_round_that_is_being_served_stays(study):
    before = snapshot(study.folder.root)
    with Lock(study.folder.serving, is_removed=True), pytest.raises(StudyError, match=r"being served.*round 1"):
        study.select(k=2)
    assert snapshot(study.folder.root) == before


def test_a_selection_that_fails_leaves_the_old_round(study, tmp_path):
    (tmp_path / "agreed.csv").write_text("item\nitem-02\n")
    before = snapshot(study.folder.root)
    with pytest.raises(SelectionError):
        study.select(eligible=tmp_path / "agreed.csv")
    assert snapshot(study.folder.root) == before


def test_answers_that_arrive_during_the_selection_are_not_orphaned(study, monkeypatch):
    from dissensus.competition import select as module

    drawn, before = module.drawn, bytes_of(study)

    def interrupted(*given):
        answer_one(study)
        return drawn(*given)

    monkeypatch.setattr(module, "drawn", interrupted)
    with pytest.raises(StudyError, match="has an answer"):
        study.select(k=2)
    assert bytes_of(study) == before


@pytest.mark.parametrize("moment", [1, 2], ids=["before the rename", "after it"])
def test_a_kill_leaves_the_old_round_or_the_new_one(study, tmp_path, moment):
    (old,) = bytes_of(study)
    assert killed_at_change(moment, lambda: study.select(k=2))
    (now,) = bytes_of(study)
    assert (now == old) == (moment == 1)
    assert study.check().is_whole, study.check()
    assert study.status().rounds[0].settings["k"] == (3 if moment == 1 else 2)
    assert study.select() == 1  # study.toml has the new settings, so this finishes what was begun
    other = predicted(tmp_path / "other", "one", "two")
    other.select(k=2, confidence=0)
    assert bytes_of(study) == bytes_of(other)
    assert study.check().is_whole
    assert not (study.folder.root / ".unfinished").exists()


def test_a_replacement_that_is_given_up_leaves_nothing(study):
    (old,) = bytes_of(study)
    assert killed_at_change(1, lambda: study.select(k=2))
    assert study.select(k=3) == 1
    assert bytes_of(study) == [old]
    assert not (study.folder.root / ".unfinished").exists()


def test_the_command_prints_what_each_rule_left(study, command):
    printed = command("select", study.folder.root, "--k", 2).stdout
    assert "round 1: 2 items for 1 duel, 2 more in reserve" in printed
    assert "two models disagree" in printed
    found = json.loads(command("select", study.folder.root, "--k", 4, "--json").stdout)
    assert [step["rule"] for step in found["funnel"]] == [
        "in the pool", "two models disagree", "both: confidence ≥ 0", "selected (k 4, no cap)",
    ]  # fmt: skip
    assert "two models disagree" in command("status", study.folder.root).stdout
    answer_one(study)
    assert "two models disagree" not in command("status", study.folder.root).stdout
