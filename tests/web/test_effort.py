"""What a study costs is said before people start, and it is true."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.labeling import QUESTIONS
from dissensus.study import Study
from dissensus.web.desk import Desk
from dissensus.web.effort import MEASURED, Effort, effort_of

CLASSES = ["cat", "dog", "owl"]
ITEMS = [f"item-{number:02}" for number in range(24)]
SOME = Effort(3, 4, {"contains": 12}, 12 * 5 / 3600, least=3, annotators=3, before=3)


def labels(shift: int) -> list[str]:
    return [CLASSES[(number + (number % 4 == shift)) % 3] for number in range(len(ITEMS))]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(one=labels(0), two=labels(1))
    study.select(k=6, cap=6, confidence=0)
    study.change("estimate", {"questions": 0})
    return study


def masks(root: Path) -> Study:
    study = Study.init(root, task="masks", classes=["background", "cat", "dog"])
    rng = np.random.default_rng(9)
    study.pool(items=rng.integers(0, 255, (6, 16, 16, 3), np.uint8))
    study.predict(one=rng.integers(0, 3, (6, 16, 16), np.uint8), two=rng.integers(0, 3, (6, 16, 16), np.uint8))
    study.select(k=1, scales="none")
    return study


def effort(study: Study, before: int | None = None) -> Effort:
    desk = Desk(study._backing())
    asyncio.run(desk.open())
    return effort_of(desk, desk.queue.answers if before is None else before)


def served(study: Study, monkeypatch: pytest.MonkeyPatch, **given: Any) -> list[str]:
    """What `serve` says before people can start."""

    def run(make, host, port, ready):
        service = make()
        asyncio.run(service.desk.open())
        ready("http://here", service)

    monkeypatch.setattr("dissensus.web.running.run", run)
    said: list[str] = []
    study.serve(lambda *_: said.append("ready"), port=0, tell=said.append, **given)
    assert said.pop() == "ready"
    return said


def answer(study: Study, *people: str, seconds: float | None = None) -> None:
    rows = [{"item": one.item, "label": one.name, "answer": "yes", "seconds": seconds} for one in study.questions()]
    for name in people:
        study.answer(rows, name)


def test_three_people_are_asked_in_a_study_that_is_served(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = len(study.questions())
    cost, shortage = served(study, monkeypatch)
    assert study.settings.judge.min_answers == 3
    assert cost.startswith("Each question needs answers from 3 people (--answers, saved in study.toml)")
    assert f"{questions} open questions, {3 * questions} answers, about" in cost
    assert shortage == "Nobody has a link, and it takes 3 different people: questions stay open until they have links."


def test_whoever_asks_for_one_gets_one(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "an answer from one person" in served(study, monkeypatch, answers=1)[0]
    assert study.settings.judge.min_answers == 1
    assert "an answer from one person" in served(study, monkeypatch)[0]


def test_a_study_with_answers_keeps_its_rule_and_says_it(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    few = [{"item": one.item, "label": one.name, "answer": "yes"} for one in study.questions()[:2]]
    study.answer(few, "ann")
    assert "an answer from one person" in served(study, monkeypatch)[0]
    assert study.settings.judge.min_answers == 1


@pytest.mark.parametrize(("question", "people"), [("mask", 1), ("choice", 3)])
def test_masks_are_drawn_once_and_chosen_three_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, question: str, people: int
) -> None:
    study = masks(tmp_path / "masks")
    study.change("judge", {"question": question})
    said = served(study, monkeypatch)
    assert study.settings.judge.min_answers == people
    images = len(study.questions())
    if question == "mask":
        assert f"{2 * images} answers ({images} for masks to draw, {images} for masks to check)" in said[0]
        assert "it takes 2 different people" in said[1]
    else:
        assert f"{3 * images} answers, about" in said[0]


def rated(root: Path) -> Study:
    study = Study.init(root, task="scores")
    study.pool(items=ITEMS)
    rng = np.random.default_rng(9)
    study.predict(one=rng.uniform(0, 100, len(ITEMS)), two=rng.uniform(0, 100, len(ITEMS)))
    study.change("judge", {"question": "rating"})
    study.select(levels=2)
    return study


def test_a_study_of_ratings_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = rated(tmp_path / "rated")
    items = len(study.questions())
    assert f"{items} open questions, {3 * items} answers, about" in served(study, monkeypatch)[0]


def test_a_service_that_cannot_start_changes_no_settings(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> Effort:
        raise ZeroDivisionError

    monkeypatch.setattr("dissensus.web.effort.effort_of", fail)
    before = study.folder.settings.read_bytes()
    with pytest.raises(ZeroDivisionError):
        served(study, monkeypatch, answers=2)
    assert study.folder.settings.read_bytes() == before


def test_without_a_check_one_person_is_enough(tmp_path: Path) -> None:
    study = masks(tmp_path / "masks")
    study.change("judge", {"check": False})
    assert (effort(study).least, list(effort(study).answers)) == (1, ["mask"])


def test_hours_come_from_the_answers_once_there_are_enough(study: Study) -> None:
    study.change("judge", {"min_answers": 2})
    questions = len(study.questions())
    assert effort(study).hours == pytest.approx(2 * questions * QUESTIONS["contains"].seconds / 3600)
    answer(study, "ann", seconds=42.0)
    assert questions >= MEASURED
    assert effort(study).hours == pytest.approx(questions * 42 / 3600)


def test_a_rule_that_is_raised_or_lowered_says_what_changes(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    questions = len(study.questions())
    answer(study, "ann")
    said = served(study, monkeypatch, answers=2)
    assert f"1 used to be enough: {questions} questions that had enough answers are open again." in said
    assert not any("used to be" in line for line in served(study, monkeypatch, answers=2))
    said = served(study, monkeypatch, answers=1)
    assert said == [f"It used to be 2: {questions} questions with too few answers no longer need any."]


def test_nothing_is_said_when_nothing_is_left(study: Study) -> None:
    answer(study, "ann")
    assert effort(study).words == ()


@pytest.mark.parametrize(("annotators", "says"), [(0, "Nobody has"), (1, "Only one person has"), (2, "Only 2 people")])
def test_too_few_people(annotators: int, says: str) -> None:
    from dataclasses import replace

    assert replace(SOME, annotators=annotators).words[-1].startswith(says)
    assert len(SOME.words) == 1


def test_people_without_a_valid_link_do_not_count(study: Study) -> None:
    for name in ("ann", "bob", "cyd"):
        study.people.add(name)
    study.people.add("me", is_owner=True)
    assert effort(study).annotators == 3
    study.people.revoke("bob")
    study.exclude("cyd", "asleep")
    assert effort(study).annotators == 1
