"""draw and estimate: questions with known probabilities, and how often each model is right."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small import masked

from dissensus.competition.evaluation import Competition
from dissensus.errors import PlanningError, StudyError
from dissensus.store.draws import read_batches
from dissensus.study import Study

ITEMS = [f"item-{number:03}" for number in range(300)]
CLASSES = ["cat", "dog", "owl", "bee"]
RNG = np.random.default_rng(0)
TRUTH = dict(zip(ITEMS, RNG.choice(CLASSES, len(ITEMS)).tolist(), strict=True))
MODELS = {
    name: [TRUTH[item] if RNG.random() < share else str(RNG.choice(CLASSES)) for item in ITEMS]
    for name, share in {"good": 0.85, "fair": 0.6, "poor": 0.3, "late": 0.5}.items()
}
ACCURACY = {name: np.mean([a == TRUTH[i] for a, i in zip(said, ITEMS, strict=True)]) for name, said in MODELS.items()}


def begun(root: Path, *names: str) -> Study:
    study = Study.init(root, classes=CLASSES)
    study.pool(items=ITEMS)
    study.predict(**{name: MODELS[name] for name in names or ("good", "fair", "poor")})
    study.select(k=2)
    return study


def answer(study: Study, count: int | None = None) -> int:
    """Answer open questions truthfully; how many."""
    rows = [
        {"item": one.item, "label": one.name, "answer": "yes" if TRUTH[one.item] == one.name else "no"}
        for one in study.questions()[:count]
    ]
    study.answer(rows, "ann")
    return len(rows)


def test_draws_show_who_is_most_often_right(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    answer(study)
    assert study.estimates().draws == 0
    assert "nothing is decided" in study.estimates().words[1]
    for _ in range(6):
        assert study.draw(25) == 25
        assert answer(study) <= 25  # a round may have asked the same before
    found = study.estimates()
    assert [one.model for one in found.models] == ["good", "fair", "poor"]
    assert found.to_frame()["model"].tolist() == ["good", "fair", "poor"]
    assert found.draws == 150
    assert found.best == "good"
    assert ("good", "poor") in found.decided
    for one in found.models:
        assert one.low <= ACCURACY[one.model] <= one.high
        assert one.accuracy == pytest.approx(ACCURACY[one.model], abs=0.06)
    assert sum(one.p_best for one in found.models) == pytest.approx(1)
    page = study.report().read_text()
    assert "good leads both rankings" in page
    assert "Most often right on this pool" in page


def test_when_everything_is_asked_the_accuracies_are_exact(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(10_000)
    answer(study)
    with pytest.raises(PlanningError, match="every question about what the models predict has been asked"):
        study.draw()
    found = study.estimates()
    for one in found.models:
        assert one.accuracy == one.low == one.high == pytest.approx(ACCURACY[one.model])
    assert found.best == "good"
    assert len(found.decided) == len(found.pairs)


def test_a_verdict_that_changes_later_corrects_the_batches_that_relied_on_it(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    answer(study)
    study.draw(200)
    turned = {"yes": "no", "no": "yes"}
    lies = [
        {"item": one.item, "label": one.name, "answer": turned["yes" if TRUTH[one.item] == one.name else "no"]}
        for one in study.questions()
    ]
    study.answer(lies, "liar")
    for _ in range(4):
        study.draw(30)
        answer(study)
    study.exclude("liar", "says the opposite")
    answer(study)
    found = study.estimates()
    assert found.draws == 320
    for one in found.pairs:
        assert one.low <= ACCURACY[one.first] - ACCURACY[one.second] <= one.high
    assert found.best == "good"


def test_models_between_which_everything_is_asked_are_compared_exactly(tmp_path: Path) -> None:
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=ITEMS)
    close = [*MODELS["good"]]
    wrong = [number for number, item in enumerate(ITEMS) if close[number] != TRUTH[item]]
    right = [number for number, item in enumerate(ITEMS) if close[number] == TRUTH[item]]
    close[wrong[0]], close[right[0]] = TRUTH[ITEMS[wrong[0]]], "bee" if TRUTH[ITEMS[right[0]]] != "bee" else "owl"
    study.predict(good=MODELS["good"], close=close, poor=MODELS["poor"])
    study.select(k=3)  # both items on which the first two differ
    answer(study)
    study.draw(20)
    answer(study)
    found = study.estimates()
    (pair,) = [one for one in found.pairs if {one.first, one.second} == {"good", "close"}]
    assert (pair.low, pair.difference, pair.high, pair.state) == (0, 0, 0, "tied")
    assert "and" in found.words[0]
    assert "equally often" in found.words[0]


def test_a_batch_of_another_study_is_refused_in_one_line(tmp_path: Path) -> None:
    study, other = begun(tmp_path / "study"), Study.init(tmp_path / "other", classes=CLASSES)
    other.pool(items=ITEMS[:50])
    other.predict(**{name: said[:50] for name, said in MODELS.items()})
    other.select(k=2)
    study.draw(50)
    other.folder.batch(1).parent.mkdir(exist_ok=True)
    other.folder.batch(1).write_bytes(study.folder.batch(1).read_bytes())
    other.check(record=True)
    with pytest.raises(StudyError, match="belongs to another study"):
        other.estimates()


def test_answers_that_decide_nothing_are_not_asked_for_again(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(10_000)
    rows = [{"item": one.item, "label": one.name, "answer": "unsure"} for one in study.questions()]
    study.answer(rows, "ann")
    while open_questions := study.questions():
        study.answer([{"item": one.item, "label": one.name, "answer": "unsure"} for one in open_questions], "ann")
    assert all("has been asked" in one.words for one in study.plan().milestones)
    assert "Nobody has been asked" not in " ".join(study.plan().words)


def test_a_study_that_draws_nothing_is_not_read_again_after_every_answer(tmp_path: Path, monkeypatch: Any) -> None:
    study = begun(tmp_path / "study")
    study.change("estimate", {"questions": 0})
    competition = Competition(study._task)
    monkeypatch.setattr(competition, "evaluation", lambda: pytest.fail("reads all answers"))
    competition.advance()


def test_the_same_study_draws_the_same(tmp_path: Path) -> None:
    one, other = begun(tmp_path / "one"), begun(tmp_path / "other")
    for study in (one, other):
        study.draw(10)
        answer(study)
        study.draw(10)
    files = [study.folder.batch(2).read_bytes() for study in (one, other)]
    assert files[0] == files[1]


def test_open_draws_are_not_drawn_again_and_count_once_answered(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(20)
    study.draw(20)
    first, second = read_batches(study.folder)
    assert (second.draw == -1).sum() == 20
    keys = [*zip(first.ids, first.label, strict=True)]
    keys += [*zip(np.array(second.ids)[second.draw >= 0].tolist(), second.label[second.draw >= 0], strict=True)]
    assert len({*keys}) == 40
    answer(study)
    assert study.estimates().draws == 40


def test_draws_before_a_model_joined_are_answers_but_not_draws_among_the_models_of_now(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(30)
    answer(study)
    study.join(late=MODELS["late"])
    found = study.estimates()
    assert found.draws == 0
    assert found.answers >= 30
    study.draw(30)
    answer(study)
    assert study.estimates().draws == 30


def open_questions(study: Study) -> set[tuple[str, str]]:
    return {(one.item, one.name) for one in study.questions()}


def needed_questions(study: Study) -> tuple[set[tuple[str, str]], int]:
    """What the service asks, and how many of these questions go first."""
    competition = Competition(study._task)
    needed = competition.needed(competition.evaluation().answers)
    texts = competition.questions()[0].texts
    bodies = [json.loads(texts[number]) for number in np.flatnonzero(needed.is_needed).tolist()]
    return {(body["item"], CLASSES[body["label"]]) for body in bodies}, len(needed.urgent)


def test_open_draws_among_other_models_are_no_longer_asked_but_may_be_drawn_anew(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    answer(study)
    study.draw(40)
    answer(study, 15)
    dropped, answered = open_questions(study), study.estimates().answers
    assert study.status().drawn_answered == 40 - len(dropped)
    study.join(late=MODELS["late"])
    duels, status = open_questions(study), study.status()
    assert len(dropped - duels) > 15
    assert needed_questions(study)[0] & dropped <= duels
    assert needed_questions(study)[1] == 0
    assert (status.drawn, status.drawn_answered, status.open_questions) == (0, 0, len(duels))
    assert status.decided
    answer(study)
    assert study.estimates().answers == answered + len(duels)
    assert study.status().next.startswith("dissensus draw")
    study.draw(10_000)
    assert dropped - duels <= open_questions(study)
    answer(study)
    found = study.estimates()
    for one in found.models:
        assert one.accuracy == one.low == one.high == pytest.approx(ACCURACY[one.model])


def test_what_was_answered_among_other_models_still_counts_as_asked(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(30)
    answered = answer(study)
    study.join(late=MODELS["late"])
    status = study.status()
    assert status.questions == answered + status.open_questions


def test_draws_that_nobody_answered_end_with_their_model_and_return_with_it(tmp_path: Path) -> None:
    study = begun(tmp_path / "study", "good", "fair", "poor", "late")
    study.draw(40)
    (batch,) = read_batches(study.folder)
    drawn = {(item, CLASSES[label]) for item, label in zip(batch.ids, batch.label.tolist(), strict=True)}
    study.remove("late")
    study.select(k=2)
    duels = open_questions(study)
    assert len(drawn - duels) > 20
    assert needed_questions(study) == (duels, 0)
    study.join(late=MODELS["late"])
    assert drawn <= open_questions(study)
    assert study.status().drawn == 40
    assert needed_questions(study)[1] == 40
    answer(study)
    assert study.estimates().draws == 40


def test_a_service_draws_at_once_for_a_new_set_of_models(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.change("estimate", {"questions": 40})
    answer(study)
    for _ in range(2):
        Competition(study._task).advance()  # 20 are open: more than half of a batch
    assert study.status().drawn == 20
    study.join(late=MODELS["late"])
    Competition(study._task).advance()
    assert study.status().drawn == 20
    assert len(read_batches(study.folder)) == 2


def test_the_pool_is_read_again_only_if_models_or_predictions_have_changed(tmp_path: Path) -> None:
    def times_read() -> int:
        return [one.what for one in study.engine.passes].count("counting votes")

    study = begun(tmp_path / "study")
    task = study._task
    evaluation = Competition(task).evaluation()
    found = [task.estimation(evaluation, goal) for goal in ("best", "order", "best")]
    assert times_read() == 1
    assert found[0].pool is found[1].pool
    assert [one.planner.goal for one in found] == ["best", "order", "best"]
    study.join(late=MODELS["late"])
    joined = Competition(task).evaluation()
    assert task.estimation(joined, "best").pool.models == joined.models
    assert times_read() == 2
    two = replace(joined, models=joined.models[:2])
    assert task.estimation(two, "best").pool.models == two.models
    assert times_read() == 3


def test_what_people_cannot_tell_changes_nothing(tmp_path: Path) -> None:
    study = begun(tmp_path / "study")
    study.draw(30)
    study.answer([{"item": one.item, "label": one.name, "answer": "unsure"} for one in study.questions()], "ann")
    found = study.estimates()
    assert found.answers == 0
    assert found.best is None
    study.draw(10)
    assert study.questions()


def test_the_commands(tmp_path: Path, command: Any) -> None:
    study = begun(tmp_path / "study")
    assert json.loads(command("draw", study.folder.root, "--count", 15, "--json").stdout)["drawn"] == 15
    answer(study)
    told = json.loads(command("estimate", study.folder.root, "--json").stdout)
    assert [one["model"] for one in told["models"]] == [one.model for one in study.estimates().models]
    assert told["draws"] == 15
    shown = command("estimate", study.folder.root).stdout
    assert "right most often" in shown
    assert "P(best)" in shown
    assert "15 questions drawn" not in command("draw", study.folder.root).stdout
    refused = command("draw", study.folder.root, "--goal", "worst")
    assert refused.returncode == 2


def test_other_tasks_have_no_draws(tmp_path: Path) -> None:
    study = masked(tmp_path / "study")
    with pytest.raises(StudyError, match="only studies of labels have draws"):
        study.draw()


def test_a_lost_batch_is_noticed(tmp_path: Path, command: Any) -> None:
    study = begun(tmp_path / "study")
    study.draw(5)
    study.folder.batch(1).unlink()
    done = command("estimate", study.folder.root)
    assert done.returncode == 2
    assert "001.parquet is missing: restore it from a backup" in done.stderr
    assert command("check", study.folder.root).returncode == 1
