"""People with planted skills through the whole protocol: training, labelling, review, result, and the competition."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from human_pages import ServedHuman, let_answer, questions
from planted_labellers import CLASSES, DOGS, PEOPLE, Planted, judged, planted_study

from dissensus.records import HumanResult
from dissensus.study import Study

pytestmark = pytest.mark.slow
REVIEWERS = ("ann", "ben", "cat")


@pytest.fixture(scope="module")
def protocol(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Planted, HumanResult]:
    """Sampled, trained, labelled and reviewed over HTTP; and the result."""
    root = tmp_path_factory.mktemp("people")
    study, known = planted_study(root, 240)
    (root / "guide.md").write_text("# pug\n\nA flat face.\n")
    study.human_sample(root / "truth.csv", images=90, training=24, guide=root / "guide.md")
    _train(study, known)
    _label(study, known)
    _review(study, known)
    return study, known, study.human_report(subsets="dog,not dog")[0]


def _train(study: Study, known: Planted) -> None:
    with ServedHuman(study.folder.root, "train", family="dog") as page:
        client = page.add("ann")
        for told, question in questions(study, client):
            item, options = question.body["item"], question.body["options"]
            assert options == list(range(len(DOGS)))
            wrong = next(label for label in options if label != known.original[item])
            reply = client.answer(told["ticket"], {"labels": [wrong], "alternative": None})
            said = reply["feedback"][told["ticket"]]
            assert not said["right"]
            assert said["expected"] == CLASSES[known.original[item]]
            assert said["note"] == ("A flat face." if said["expected"] == "pug" else "")


def _label(study: Study, known: Planted) -> None:
    with ServedHuman(study.folder.root, "label") as page:
        for place, (name, skill) in enumerate(PEOPLE.items()):
            client = page.add(name) if name != "ann" else _again(page, "ann")

            def said(body: dict[str, Any], skill: Any = skill, place: int = place) -> tuple[Any, float]:
                assert "options" not in body
                rng = np.random.default_rng([3, place, known.items.index(body["item"])])  # whatever the order
                labels = [known.named(body["item"], skill, rng)]
                return {"labels": labels, "alternative": None}, float(skill.seconds * rng.lognormal(0, 0.3))

            replies = let_answer(study, client, said)
            assert len(replies) == 180
            assert not any(reply["feedback"] for reply in replies)  # nobody learns what is right


def _review(study: Study, known: Planted) -> None:
    with ServedHuman(study.folder.root, "review") as page:
        for name in REVIEWERS:
            client = _again(page, name)
            for told, question in questions(study, client):
                text = json.dumps(told)
                assert not any(f'"{one}"' in text for one in (*PEOPLE, "large", "small"))  # nobody knows whose
                client.answer(told["ticket"], judged(known, question.body))


def _again(page: ServedHuman, name: str) -> Any:
    """Somebody who had a link before."""
    page.owner.post(f"/api/owner/annotators/{name}/revoke", {})
    return page.add(name)


def test_planted_accuracies_are_within_the_intervals(protocol: tuple[Study, Planted, HumanResult]) -> None:
    _, _, found = protocol
    assert found.metric == "multi-label"
    for name, skill in PEOPLE.items():
        for subset, planted in (("dog", skill.dogs), ("not dog", skill.things)):
            one = found.accuracy(name, subset=subset)
            assert one.low is not None
            assert one.high is not None
            assert one.low <= planted <= one.high, (name, subset, one)


def test_problematic_images_and_right_labels_are_those_that_were_planted(
    protocol: tuple[Study, Planted, HumanResult],
) -> None:
    study, known, found = protocol
    status = study.human_status()
    wrong = {item for item, right in known.right.items() if known.original[item] not in right}
    assert status.unreviewed == 0
    from dissensus.shift.human.kept import kept_sample

    sampled = {one.item for one in kept_sample(study._task.work).evaluation}
    assert status.problematic == len(sampled & (wrong | known.unfit))
    assert found.images == len(sampled - wrong - known.unfit)


def test_planted_differences_are_found(protocol: tuple[Study, Planted, HumanResult]) -> None:
    found = protocol[2]
    pairs = {
        frozenset((one.first, one.second)): one
        for one in found.pairs
        if (one.metric, one.test_set) == (found.metric, found.main_set)
    }
    assert pairs[frozenset(("cat", "hasty"))].is_decided
    assert pairs[frozenset(("cat", "small"))].is_decided
    dogs = {one.participant: one for one in found.subset_tests if (one.subset, one.test_set) == ("dog", found.main_set)}
    assert dogs["ann"].change < 0
    assert dogs["ann"].p_adjusted < 0.05  # good at things, bad at dogs
    assert dogs["large"].p_adjusted > 0.05  # equally good at both
    assert dogs["people − models"].p_adjusted < 0.05


def test_the_careless_person_is_named(protocol: tuple[Study, Planted, HumanResult]) -> None:
    study, _, found = protocol
    assert [one.person for one in found.people if one.is_careless] == ["hasty"]
    assert any("hasty" in sentence for sentence in found.words)
    people = {one.name: one for one in study.human_status().people}
    assert people["hasty"].instant > 150
    assert people["ann"].trained > 0
    assert people["ann"].right == 0  # she answered wrongly on purpose


def test_a_person_joins_the_competition_and_is_ranked(protocol: tuple[Study, Planted, HumanResult]) -> None:
    study, known, before = protocol
    joined = study.human_join(["cat", "hasty"])
    assert joined.people == ("cat", "hasty")
    assert joined.labelled == (180, 180)
    study.select(k=6, reserves=0)
    answers = [
        {"item": one.item, "label": one.name, "answer": "yes" if one.label in known.right[one.item] else "no"}
        for one in study.questions()
    ]
    study.answer(answers, "judge")
    ranking = study.rank()
    places = {one.model: one for one in ranking.standings}
    assert {*places} == {"large", "small", "cat", "hasty"}
    assert places["cat"].strength > places["hasty"].strength
    assert study.human_result().standings() == before.standings()  # nobody counts twice
    assert (study.folder.root / "human" / "people" / "cat.parquet").exists()


def test_export_can_be_read_again(protocol: tuple[Study, Planted, HumanResult], tmp_path: Path) -> None:
    study, _, before = protocol
    study.human_export(tmp_path / "out")
    files = {name: tmp_path / "out" / "people" / f"{name}.csv" for name in PEOPLE}
    root = study.folder.root.parent
    other = Study.init(tmp_path / "other", classes=list(CLASSES))
    other.pool([root / "photos"])
    given = {name: study.labels(name) for name in ("large", "small")}
    other.predict(**given)
    other.human_sample(tmp_path / "out" / "items.csv")
    found = other.human_result(right=tmp_path / "out" / "labels.csv", people=files)
    top = {one.participant: one.accuracy for one in found.standings(metric="top-1")}
    assert top.keys() == {one.participant for one in before.standings()}
