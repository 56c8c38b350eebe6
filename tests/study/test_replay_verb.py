"""Recorded answers are played as if people were being asked now, and the study stays as it is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from commands import run as command
from small import one_line, snapshot

from dissensus.errors import DissensusError
from dissensus.study import Study
from dissensus.tasks.labels.replaying import RULES

CLASSES = ["cat", "dog", "owl", "fox"]
SKILLS = {"poor": 0.45, "fair": 0.6, "good": 0.75, "best": 0.9}
ITEMS = 240


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, np.ndarray]:
    """Four models of different skill, predicted and nothing else, and the true classes."""
    rng = np.random.default_rng(3)
    truth = rng.integers(len(CLASSES), size=ITEMS)
    wrong = (truth + rng.integers(1, len(CLASSES), size=(len(SKILLS), ITEMS))) % len(CLASSES)
    labels = np.where(rng.random((len(SKILLS), ITEMS)) < np.array([*SKILLS.values()])[:, None], truth, wrong)
    study = Study.init(tmp_path_factory.mktemp("replay") / "study", classes=CLASSES)
    study.pool(items=[f"item-{number:03}" for number in range(ITEMS)])
    study.predict(**{name: [CLASSES[label] for label in row] for name, row in zip(SKILLS, labels, strict=True)})
    return study, truth


@pytest.fixture(scope="module")
def files(made: tuple[Study, np.ndarray], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """All answers, as yes/no questions about every class and as picks."""
    folder = tmp_path_factory.mktemp("answers")
    contains, pick = ["item,label,annotator,answer"], ["item,kind,annotator,answer"]
    for number, label in enumerate(made[1].tolist()):
        item = f"item-{number:03}"
        contains += [f"{item},{name},ann,{'yes' if name == CLASSES[label] else 'no'}" for name in CLASSES]
        pick.append(f"{item},pick,ann,{CLASSES[label]}")
    (folder / "contains.csv").write_text("\n".join(contains) + "\n")
    (folder / "pick.csv").write_text("\n".join(pick) + "\n")
    return {name: folder / f"{name}.csv" for name in ("contains", "pick")}


def true_accuracies(study: Study, truth: np.ndarray) -> dict[str, float]:
    names = [CLASSES[label] for label in truth.tolist()]
    return {model: float(np.mean([*map(str.__eq__, study.predictions(model)["label"], names)])) for model in SKILLS}


@pytest.mark.parametrize("kind", ["contains", "pick"])
@pytest.mark.parametrize("rule", RULES)
def test_every_rule_plays_both_kinds_of_answers(made, files, rule, kind):
    study, truth = made
    before = snapshot(study.folder.root)
    found = study.replay(files[kind], [40, 120], rule, seed=1)
    assert snapshot(study.folder.root) == before
    assert not study.folder.judgements.exists()
    assert (found.pool, found.left_out, found.kind, found.rule) == (ITEMS, 0, kind, rule)
    assert found.accuracies == pytest.approx(true_accuracies(study, truth))
    assert [one.answers for one in found.budgets] == [40, min(120, found.questions)]
    for one in found.budgets:
        assert sorted(model.model for model in one.models) == sorted(SKILLS)
        assert len(one.decided) + one.undecided <= 6
        assert (one.hardest_to_falsify is not None) == (rule == "mad")
        for model in one.models if rule != "mad" else ():
            assert 0 <= model.low <= model.accuracy <= model.high <= 1
    assert found.budgets[-1].models[0].model == "best"
    assert found == study.replay(files[kind], [40, 120], rule, seed=1)
    if rule != "mad":
        assert found != study.replay(files[kind], [40, 120], rule, seed=2)


@pytest.mark.parametrize("kind", ["contains", "pick"])
@pytest.mark.parametrize("rule", [rule for rule in RULES if rule != "mad"])
def test_all_answers_give_the_truth_and_decide_everything(made, files, rule, kind):
    found = made[0].replay(files[kind], [30, 10_000, 10**18], rule)
    assert [one.budget for one in found.budgets] == [30, 10_000, 10**18]
    first, last, again = found.budgets
    assert last.answers == again.answers == found.questions < 10_000
    assert last.correlation == pytest.approx(1)
    assert (last.best, last.undecided) == ("best", 0)
    assert first.undecided > 0
    assert any("no more than" in words for words in found.words)
    if rule != "disagree":
        for model in last.models:
            assert model.accuracy == pytest.approx(found.accuracies[model.model])
            assert model.low == pytest.approx(model.high)


def test_intervals_hold_the_truth_nearly_always(made, files):
    truth = made[0].replay(files["pick"], 10).accuracies
    for rule in ("adaptive", "random", "disagree"):
        held = [
            model.low - 1e-9 <= truth[model.model] <= model.high + 1e-9
            for seed in range(8)
            for model in made[0].replay(files["pick"], 60, rule, seed=seed).budgets[0].models
        ]
        assert np.mean(held) >= 0.85, rule


def test_only_what_was_answered_can_be_asked(made, files, tmp_path):
    study, _ = made
    lines = files["contains"].read_text().splitlines()
    kept = [line for line in lines if not line.startswith("item-0") or line.startswith("item-00")]  # 100 − 10 items
    (tmp_path / "some.csv").write_text("\n".join(kept) + "\n")
    found = study.replay(tmp_path / "some.csv", 50)
    assert (found.pool, found.left_out) == (ITEMS - 90, 90)
    assert "90 other items" in found.words[1]


def test_several_people_give_one_verdict(made, files, tmp_path):
    study, _ = made
    lines = files["contains"].read_text().splitlines()
    head, rows = lines[0], lines[1:]
    others = [row.replace(",ann,", f",{name},") for row in rows for name in ("ben", "cam")]
    liar = [
        row.replace(",ann,", ",liar,").replace("yes", "NO").replace(",no", ",yes").replace("NO", "no") for row in rows
    ]
    (tmp_path / "many.csv").write_text("\n".join([head, *rows, *others, *liar]) + "\n")
    found = study.replay(tmp_path / "many.csv", 50)
    assert found.accuracies == study.replay(files["contains"], 50).accuracies
    tied = "\n".join([head, *rows, *liar])  # one yes and one no each: nothing is decided
    (tmp_path / "tied.csv").write_text(tied + "\n")
    with pytest.raises(DissensusError, match="no clear verdict"):
        study.replay(tmp_path / "tied.csv", 50)


def test_several_people_pick_one_class(made, files, tmp_path):
    study, _ = made
    lines = files["pick"].read_text().splitlines()
    head, rows = lines[0], lines[1:]
    others = [row.replace(",ann,", f",{name},") for row in rows for name in ("ben", "cam")]
    unsure = [f"item-{number:03},pick,dan,cannot tell" for number in range(ITEMS)]
    tied = [f"item-{number:03},pick,{name},cat" for number in range(4) for name in ("dan", "eve", "flo")]
    (tmp_path / "many.csv").write_text("\n".join([head, *rows, *others, *unsure, *tied]) + "\n")
    found = study.replay(tmp_path / "many.csv", 50)
    assert found.pool == ITEMS - int((made[1][:4] != CLASSES.index("cat")).sum())


def test_picks_of_several_labels_are_yes_and_no_answers(made, files, tmp_path):
    study, truth = made
    rows = []
    for number, label in enumerate(truth.tolist()):
        question = {"item": f"item-{number:03}", "options": CLASSES, "several": True}
        told = {"kind": "pick", "question": question, "annotator": "ann", "answer": [CLASSES[label]]}
        others = [told | {"annotator": "ben"}, told | {"annotator": "cam", "answer": []}] if number % 2 else []
        rows += [told, *others]
    (tmp_path / "several.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = study.replay(tmp_path / "several.jsonl", 50)
    assert found.accuracies == study.replay(files["contains"], 50).accuracies
    assert found.budgets == study.replay(files["contains"], 50).budgets


def test_answers_in_memory_and_labels_that_nobody_predicted(made):
    study, truth = made
    rows = [
        {"item": f"item-{number:03}", "label": name, "answer": "yes" if name == CLASSES[label] else "no"}
        for number, label in enumerate(truth.tolist())
        for name in CLASSES
    ]
    found = study.replay(rows, 50, annotator="ann")
    assert found.pool == ITEMS
    frame = found.to_frame()
    assert len(frame) == len(SKILLS)
    assert {"budget", "answers", "model", "accuracy", "low", "high", "p_best", "rank"} <= {*frame.columns}


def test_figures_and_text(made, files):
    for rule in RULES:
        found = made[0].replay(files["pick"], [20, 60], rule)
        assert "<svg" in found._repr_html_()
        assert "best" in found.plot().svg()
        assert "best" in repr(found).splitlines()[0]


def test_rounds_of_the_study_are_played_by_mad(made, files, tmp_path):
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=[f"item-{number:03}" for number in range(ITEMS)])
    study.predict(**{name: list(made[0].predictions(name)["label"]) for name in ("poor", "best", "fair")})
    study.select(k=5)
    study.join(good=list(made[0].predictions("good")["label"]))
    asked = len(study.questions())
    before = snapshot(study.folder.root)
    found = study.replay(files["contains"], 1000, "mad")
    assert snapshot(study.folder.root) == before
    assert found.questions == asked
    study.judgements_import(files["contains"])
    ranking = [one.model for one in study.rank().standings]
    assert list(found.budgets[0].hardest_to_falsify) == ranking


def test_excluded_people_do_not_count(made, files, tmp_path):
    study = Study.init(tmp_path / "study", classes=CLASSES)
    study.pool(items=[f"item-{number:03}" for number in range(ITEMS)])
    study.predict(**{name: list(made[0].predictions(name)["label"]) for name in SKILLS})
    study.people.add("ann")
    study.exclude("ann", "tired")
    with pytest.raises(DissensusError, match="no answers about labels that count"):
        study.replay(files["pick"], 10)


def test_the_command_prints_json(made, files):
    done = command("replay", made[0].folder.root, files["pick"], "--budget", "20,60", "--seed", "1", "--json")
    found = json.loads(done.stdout)
    assert {"pool", "questions", "rule", "seed", "budgets"} <= {*found}
    assert found["rule"] == "adaptive"
    assert [one["answers"] for one in found["budgets"]] == [20, 60]
    one = found["budgets"][0]
    assert {"models", "best", "decided", "undecided", "hardest_to_falsify"} <= {*one}
    assert {"model", "accuracy", "low", "high", "p_best", "rank"} == {*one["models"][0]}
    assert [model["rank"] for model in one["models"]] == [1, 2, 3, 4]
    assert sum(model["p_best"] for model in one["models"]) == pytest.approx(1)


@pytest.mark.parametrize("rule", RULES)
def test_the_command_prints_the_main_answer_first(made, files, rule):
    done = command("replay", made[0].folder.root, files["contains"], "--budget", "60,5000", "--rule", rule)
    assert done.returncode == 0
    first = done.stdout.splitlines()[0]
    assert "best" in first
    assert done.stdout.count("┏") == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rule", "luck"], "'luck' is not a rule: choose one of adaptive, random, disagree, mad"),
        (["--goal", "all"], "'all' is not a goal: choose one of order, best"),
        (["--budget", "many"], "the budget 'many' is not a whole number"),
        (["--budget", "10,-5"], "the budget '-5' is not a whole number"),
        (["--budget", "0"], "the budget is 0: give positive numbers"),
        (["--budget", ""], "the budget '' is not a whole number"),
        (["--seed", "-1"], "the seed is -1"),
        (["--format", "xml"], "no such format 'xml'"),
    ],
)
def test_wrong_options_are_refused_in_one_line(made, files, options, message):
    assert message in one_line(command("replay", made[0].folder.root, files["pick"], *options))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "has no column"),
        ("item,label,annotator,answer\n", "no answers about labels that count: check it"),
        ("item,label,annotator,answer\nelsewhere,cat,ann,yes\n", "'elsewhere' is not in the pool"),
        ("item,label,annotator,answer\nitem-000,hen,ann,yes\n", "hen"),
        ("item,label,annotator,answer\nitem-000,cat,ann,yes\n", "covers no item of the pool"),
        ("item,label,annotator,answer,kind\nitem-000,cat,ann,yes,\nitem-001,,ann,cat,pick\n", "both yes/no answers"),
        ("item,kind,annotator,answer\nitem-000,contains,ann,yes\n", "label is missing"),
    ],
)
def test_answers_that_cannot_be_played_are_refused_in_one_line(made, tmp_path, content, message):
    (tmp_path / "answers.csv").write_text(content)
    assert message in one_line(command("replay", made[0].folder.root, tmp_path / "answers.csv"))


def test_a_missing_file_and_other_studies_are_refused(made, files, tmp_path, fresh):
    assert "no such file" in one_line(command("replay", made[0].folder.root, tmp_path / "none.csv"))
    assert "only studies of labels" in one_line(command("replay", fresh, files["pick"]))
    study = Study.init(tmp_path / "study", classes=CLASSES)
    assert "dissensus" in one_line(command("replay", study.folder.root, files["pick"]))
    study.pool(items=[f"item-{number:03}" for number in range(ITEMS)])
    study.predict(one=["cat"] * ITEMS)
    assert "two models" in one_line(command("replay", study.folder.root, files["pick"]))
    study.predict(two=["cat"] * ITEMS)
    for rule in RULES:
        refused = one_line(command("replay", study.folder.root, files["pick"], "--rule", rule))
        assert "told apart" in refused or "tell them apart" in refused
