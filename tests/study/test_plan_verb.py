"""plan and --until: the price before anybody is asked, and stopping when enough is decided."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from small import masked, one_line, snapshot
from test_draw_verb import CLASSES, ITEMS, MODELS, TRUTH, answer, begun

from dissensus.errors import DissensusError, PlanningError, StudyError
from dissensus.study import Study


def predicted(root: Path, *names: str, **more: list[str]) -> Study:
    study = Study.init(root, classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(**{name: MODELS[name] for name in names}, **more)
    return study


def test_a_pool_and_predictions_are_enough_and_nothing_is_written(tmp_path: Path, command: Any) -> None:
    study = predicted(tmp_path / "study", "good", "fair", "poor")
    before = snapshot(tmp_path)
    found = study.plan()
    assert snapshot(tmp_path) == before
    assert [one.until for one in found.milestones] == ["best", "order", "order,ε=0.01", "ε=0.01"]
    assert found.to_frame()["until"].tolist() == [one.until for one in found.milestones]
    assert found.milestones[0].questions < found.milestones[1].questions <= found.left
    for one in found.milestones:
        assert one.low <= one.questions <= one.high
        assert one.answers == 3 * one.questions
        assert one.minutes == pytest.approx(one.answers * 5 / 60, abs=0.1)
    assert any("Nobody has been asked yet" in words for words in found.words)
    assert any("Assumed: 5 seconds per answer" in words for words in found.words)
    told = json.loads(command("plan", study.folder.root, "--json").stdout)
    (only,) = told.pop("passes")
    assert (only["what"], only["items"]) == ("counting votes", len(ITEMS)), "the pool is read once for both goals"
    assert {*found.words} <= {*told["words"]}
    assert told | {"words": list(found.words)} == json.loads(found.model_dump_json())
    shown = command("plan", study.folder.root, "--until", "order,eps=2%", "--answers", 1).stdout
    assert "the order of all models (ties within 2 points)" in shown
    assert "1 person per question" in shown


def test_the_forecast_follows_the_answers_until_nothing_is_left_to_forecast(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "fair", "poor", "late")
    prices = [study.plan("best", 1).milestones[0].questions]
    while prices[-1] and len(prices) < 15:
        study.draw(30)
        answer(study)
        prices.append(study.plan("best", 1).milestones[0].questions)
    assert prices[0] > 2 * prices[2]
    found = study.plan("best")
    assert found.milestones[0].is_reached
    assert found.milestones[0].words == "good is the best model."
    assert found.draws == 30 * (len(prices) - 1)
    study.draw(10_000)
    answer(study)
    everything = study.plan()
    assert everything.left == 0
    assert all(one.is_reached and one.high == 0 for one in everything.milestones)


def test_copies_are_tied_and_need_no_answers(tmp_path: Path) -> None:
    study = predicted(tmp_path / "study", "good", "poor", copy=MODELS["good"])
    assert study.plan("order").milestones[0].questions > 0
    study.select(k=2)
    for _ in range(6):
        study.draw(30)
        answer(study)
    found = study.estimates()
    assert {one.state for one in found.pairs if {one.first, one.second} == {"good", "copy"}} == {"tied"}
    assert found.best is None
    assert "are the best models and equally good" in found.words[0]
    assert "copy" in study.plan("best").milestones[0].words
    assert study.plan("best").milestones[0].is_reached


def test_measured_times_replace_the_assumption(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    rows = [{"item": one.item, "label": one.name, "answer": "yes", "seconds": 9.0} for one in study.questions()[:12]]
    study.answer(rows, "ann")
    found = study.plan("best")
    assert (found.is_timed, found.seconds) == (len(rows) >= 10, 9.0 if len(rows) >= 10 else 5.0)


def test_each_pair_is_decided_by_itself_and_at_once(tmp_path: Path, command: Any) -> None:
    study = begun(tmp_path / "study", "good", "fair", "poor", "late")
    study.change("estimate", {"until": "order,eps=30%"})
    study.draw(60)
    answer(study)
    found = study.estimates()
    assert (found.until, len(found.pairs)) == ("order,ε=0.3", len(found.models) * (len(found.models) - 1) // 2)
    for one in found.pairs:
        assert one.low_at_once <= one.low <= one.difference <= one.high <= one.high_at_once
        assert one.difference >= 0
        assert (one.state == "decided") == (one.low > 1e-9)
        assert one.state_at_once != "decided" or one.state == "decided"
    assert found.decided == tuple((one.first, one.second) for one in found.pairs if one.state == "decided")
    for model, (low, high) in found.ranks().items():
        wide = found.ranks(at_once=True)[model]
        assert wide[0] <= low <= high <= wide[1]
    assert "pair by pair" in found.words[1]
    assert "all pairs at once" in found.words[1]
    told = json.loads(command("estimate", study.folder.root, "--json").stdout)
    assert told["pairs"][0].keys() >= {"state", "state_at_once"}
    assert "all at once" in command("estimate", study.folder.root).stdout
    page = study.report().read_text()
    assert "Ranks, all at once" in page
    assert str(study.folder.root.parent) not in page
    assert "most-often-right-ranks" in page


def test_draw_stops_when_what_is_wanted_is_decided(tmp_path: Path, command: Any) -> None:
    study = begun(tmp_path / "study")
    study.change("estimate", {"until": "best"})
    assert study.settings.estimate.aim == "best"  # type: ignore[attr-defined]
    shown = command("status", study.folder.root).stdout
    assert "drawn at random" not in shown
    for _ in range(30):
        study.draw(20)
        assert f"# {len(study.questions())} of" in study.status().next
        answer(study)
        if study.estimates().is_settled:
            break
    with pytest.raises(PlanningError, match=r"good is the best model, which is what estimate\.until"):
        study.draw(20)
    status = study.status()
    assert status.drawn_answered == status.drawn > 20
    assert status.decided == ("good is the best model: you may stop.",)
    assert status.next.startswith("dissensus report")
    assert study.draw(5, "order") == 5  # on request
    study.change("estimate", {"until": "order"})
    answer(study)
    status = study.status()
    assert "more answers" in status.decided[0] or "is known: you may stop" in status.decided[0]
    assert "drawn at random" in command("status", study.folder.root).stdout


def test_the_goal_follows_from_until_unless_it_is_set(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    settings = lambda: study.settings.estimate  # type: ignore[attr-defined]  # noqa: E731
    assert (settings().aim, str(settings().target), settings().most) == ("order", "order", 200)
    study.change("estimate", {"goal": "best"})
    assert (settings().aim, str(settings().target), settings().most) == ("best", "best", 200)
    study.change("estimate", {"until": "eps=3%"})
    assert (settings().aim, str(settings().target)) == ("best", "ε=0.03")
    assert settings().most > 10**9


def answers_file(folder: Path) -> Path:
    rows = ["item,label,annotator,answer"]
    rows += [f"{i},{name},ann,{'yes' if TRUTH[i] == name else 'no'}" for i in ITEMS for name in CLASSES]
    (folder / "answers.csv").write_text("\n".join(rows) + "\n")
    return folder / "answers.csv"


@pytest.mark.parametrize("rule", ["adaptive", "random", "disagree"])
def test_a_replay_stops_when_enough_is_decided(tmp_path: Path, rule: str) -> None:
    study, path = predicted(tmp_path / "study", "good", "fair", "poor"), answers_file(tmp_path)
    found = study.replay(path, [20, 40, 5000], rule, until="best")
    assert (found.until, found.goal) == ("best", "best")
    assert found.reached is not None
    assert found.words[0].endswith("answers are enough: good is the best model.")
    assert [one.budget for one in found.budgets] == [*(b for b in (20, 40) if b < found.reached), found.reached]
    assert found.budgets[-1].best == "good"
    only = study.replay(path, rule=rule, until="best")
    assert [one.answers for one in only.budgets] == [only.reached]
    order = study.replay(path, rule=rule, until="order")
    assert order.reached is not None
    assert order.budgets[-1].undecided == 0
    assert {one.state_at_once for one in order.budgets[-1].pairs} == {"decided"}
    never = study.replay(path, 12, rule, until="order")
    assert never.reached is None
    assert never.words[0] == "The order of all models is not known after 12 answers."


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("plan STUDY --until worst", "does not say when to stop"),
        ("plan STUDY --until best,order", "does not say when to stop"),
        ("plan STUDY --until ε=2", "give a difference of accuracies"),
        ("plan STUDY --answers 0", "cannot answer a question"),
        ("replay STUDY answers.csv --until soon", "does not say when to stop"),
        ("replay STUDY answers.csv --until best --rule mad", "mad cannot stop by itself"),
        ("serve STUDY --until soon", "does not say when to stop"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(tmp_path: Path, command: Any, line: str, reason: str) -> None:
    predicted(tmp_path / "study", "good", "poor")
    answers_file(tmp_path)
    before = snapshot(tmp_path)
    done = command(*line.replace("STUDY", "study").split(), cwd=tmp_path)
    assert done.returncode == 2
    assert reason in one_line(done)
    assert snapshot(tmp_path) == before


def test_studies_that_cannot_be_planned(tmp_path: Path) -> None:
    for refused in (lambda study: study.plan(), lambda study: study.configure(until="best")):
        with pytest.raises(StudyError, match="only studies of labels have"):
            refused(masked(tmp_path / f"masks-{id(refused)}"))
    with pytest.raises(PlanningError, match="all models make the same predictions"):
        predicted(tmp_path / "same", "good", copy=MODELS["good"]).plan()
    with pytest.raises(DissensusError, match="needs two models"):
        predicted(tmp_path / "one", "good").plan()
    with pytest.raises(StudyError, match="does not say when to stop"):
        begun(tmp_path / "study").change("estimate", {"until": "never"})
