"""plan, if draws ask about all labels of an item at once: questions and minutes are those of picks."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_pick_draws import CLASSES, ITEMS, MODELS, answer, answer_labels, begun, picks, truthfully

from dissensus.records import Plan
from dissensus.study import Study
from dissensus.tasks.labels.drawing import LOOK, READ, question_for
from dissensus.tasks.labels.estimating import estimation

CONTESTED = sum(a != b for a, b in zip(MODELS["good"], MODELS["poor"], strict=True))


def plan_with(study: Study, question: str, until: str = "order") -> Plan:
    study.change("estimate", {"question": question})
    return study.plan(until, 1)


@pytest.mark.parametrize("is_selected", [False, True])
def test_one_pick_counts_once_and_takes_its_own_time(tmp_path: Path, is_selected: bool) -> None:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(good=MODELS["good"], poor=MODELS["poor"])
    if is_selected:
        study.select(k=2)
    single, whole = plan_with(study, "contains"), plan_with(study, "pick")
    assert (single.question, single.left, single.seconds) == ("contains", 2 * CONTESTED, 5.0)
    assert (whole.question, whole.left) == ("pick", CONTESTED)
    assert whole.seconds == pytest.approx(LOOK + 2 * READ, abs=0.5)  # nearly all draws have two labels
    one, all_at_once = single.milestones[0], whole.milestones[0]
    assert 0 < all_at_once.questions < one.questions
    assert all_at_once.high <= CONTESTED
    assert all_at_once.minutes == pytest.approx(all_at_once.answers * whole.seconds / 60, abs=0.1)
    assert any("all labels of an item at once" in words for words in whole.words)
    assert not any("at once" in words for words in single.words)


def test_auto_is_priced_as_the_question_that_it_asks(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    chosen = question_for(estimation(study._task.work, study._unweighed()), "auto")
    assert plan_with(study, "auto") == plan_with(study, chosen)
    assert plan_with(study, "auto") != plan_with(study, "contains" if chosen == "pick" else "pick")


def test_the_forecast_follows_the_picks_until_nothing_is_left(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    prices = [plan_with(study, "pick", "best").milestones[0].questions]
    for _ in range(3):
        study.draw(15)
        answer(study, picks(study), truthfully, "ann")
        answer_labels(study)
        found = study.plan("best", 1)
        prices.append(found.milestones[0].questions)
    assert found.draws == 45
    assert prices[-1] < prices[0]
    study.draw(10_000)
    answer(study, picks(study), truthfully, "ann")
    answer_labels(study)
    found = study.plan()
    assert found.left == 0
    assert all(one.is_reached and one.high == 0 for one in found.milestones)
    assert plan_with(study, "auto").left == 0


def test_measured_times_of_picks_replace_the_assumption(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    study.change("estimate", {"question": "pick"})
    study.draw(20)
    bodies = [one for one in picks(study) if len(one["options"]) == 2]
    study.answer([{"kind": "pick", "question": one, "answer": [], "seconds": 12.0} for one in bodies], "ann")
    found = study.plan("order")
    assert found.is_timed
    assert found.seconds == pytest.approx(12.0, abs=0.5)


def test_status_prices_picks_too(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "poor")
    study.change("estimate", {"question": "pick"})
    study.draw(5)
    (words,) = study.status().decided
    assert f"{study.plan('order').milestones[0].answers:,} more answers" in words
