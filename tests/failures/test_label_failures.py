"""Where classifiers fail, from a study's answers: compared with a recount from the answers alone."""

from __future__ import annotations

import json
from collections import Counter

import numpy as np
import pytest

from dissensus import Study
from dissensus.errors import StudyError

CLASSES = ["cat", "dog", "fox"]
ITEMS = [f"{n:03d}.jpg" for n in range(120)]


@pytest.fixture(scope="module")
def truth() -> dict[str, str]:
    rng = np.random.default_rng(0)
    return {item: CLASSES[n] for item, n in zip(ITEMS, rng.integers(3, size=len(ITEMS)), strict=True)}


@pytest.fixture(scope="module")
def study(tmp_path_factory, truth) -> Study:
    """Three classifiers; `lost` takes most foxes for dogs. People know the truth."""
    rng = np.random.default_rng(1)
    study = Study.init(tmp_path_factory.mktemp("failing") / "study", classes=CLASSES)
    study.pool(items=ITEMS)
    right = np.array([CLASSES.index(truth[item]) for item in ITEMS])

    def erring(share: float) -> np.ndarray:
        wrong = (right + rng.integers(1, 3, len(right))) % 3
        return np.where(rng.random(len(right)) < share, wrong, right)

    lost = np.where((right == 2) & (rng.random(len(right)) < 0.9), 1, erring(0.1))
    for name, labels in (("good", erring(0.05)), ("fair", erring(0.3)), ("lost", lost)):
        scores = np.full((len(ITEMS), 3), 0.1)
        scores[np.arange(len(ITEMS)), labels] = rng.uniform(0.5, 1, len(ITEMS))
        study.predict(**{name: scores / scores.sum(axis=1, keepdims=True)})
    study.select(k=40, confidence=0.0, cap=None)
    rows = [{"item": one.item, "label": one.name, "answer": "yes" if truth[one.item] == one.name else "no"}
            for one in study.questions()]  # fmt: skip
    study.answer(rows, "ann")
    return study


def predicted(study: Study, model: str) -> dict[str, tuple[str, float]]:
    """The label and the confidence of every item."""
    columns, ids = study._task.predictions(model), study._task.work.pool.ids(range(len(ITEMS)))
    return dict(zip(ids, zip(columns["label"], columns["confidence"].to_pylist(), strict=True), strict=True))


def test_failures_are_those_of_the_answers(study, truth):
    found, judgements = study.failures(), study.evaluation()
    asked = {
        (judgements.item_ids[int(item)], CLASSES[label])
        for (item, label), count in zip(judgements.keys.tolist(), judgements.answered.tolist(), strict=True)
        if count
    }
    seen = {item for item, label in asked if truth[item] == label}
    for one in found.models:
        labels = predicted(study, one.model)
        judged = [item for item in ITEMS if (item, labels[item][0]) in asked]
        wrong = {item for item in judged if labels[item][0] != truth[item]}
        assert (one.judged, one.failed) == (len(judged), len(wrong))
        mine = [case for case in found.failures if case.model == one.model]
        assert {case.item for case in mine} == wrong
        assert [(case.predicted, case.confidence) for case in mine] == [labels[case.item] for case in mine]
        assert [case.true for case in mine] == [truth[case.item] if case.item in seen else "" for case in mine]
        assert [case.severity for case in mine] == sorted((case.severity for case in mine), reverse=True)
        counts = Counter((labels[item][0], truth[item]) for item in wrong & seen)
        assert {(c.predicted, c.true): c.count for c in found.confusions if c.model == one.model} == counts


def test_the_planted_weakness_is_named_for_its_model_alone(study):
    found = study.failures()
    clear = [(one.model, one.group) for one in found.contrasts if one.is_clear and one.difference > 0]
    assert clear
    assert clear[0] == ("lost", "fox")
    words = " ".join(found.of("lost").words)
    assert "Compared with the others, it fails more on items that show the class fox" in words
    assert "adjusted for all comparisons" in words
    assert "dog where it is fox" in words


def test_one_model_alone_and_an_unknown_one(study):
    found = study.failures("lost")
    assert [one.model for one in found.models] == ["lost"]
    assert {one.model for one in found.failures} == {"lost"}
    with pytest.raises(StudyError, match="choose one of good, fair, lost"):
        study.failures("nobody")


def test_command_prints_words_and_json(study, command):
    said = command("failures", study.folder.root, "--model", "lost", "--worst", 2)
    assert "lost is wrong on" in said.stdout
    assert said.stdout.count("people see") == 2
    told = json.loads(command("failures", study.folder.root, "--json").stdout)
    assert {one["model"] for one in told["models"]} == {"good", "fair", "lost"}
