"""Unlucky people and files: names that look alike, tables that contradict themselves, exports that are cut short."""

from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from planted_labellers import Planted, Skill, answered, draw_pictures, let_label, let_review, planted, planted_study

from dissensus import human_baseline
from dissensus.errors import ParticipantError, StudyError
from dissensus.shift.human.answers import labellings
from dissensus.shift.human.exporting import model_names
from dissensus.shift.human.files import read_person
from dissensus.shift.human.kept import kept_sample
from dissensus.shift.human.results import Protocol, notes
from dissensus.shift.human.reviews import compose_reviews
from dissensus.study import Study

ALIKE = ("ann b", "ann-b", "ANN-B", "李王", "王李", "a=b", "CON")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    study, _ = planted_study(root, 40)
    study.human_sample(root / "truth.csv", images=10)
    return root


@pytest.fixture
def study(made: Path, tmp_path: Path) -> Study:
    shutil.copytree(made / "study", tmp_path / "study")
    return Study(tmp_path / "study")


@pytest.fixture(scope="module")
def known() -> Planted:
    return planted(40)


def test_names_as_models_and_files_are_never_alike() -> None:
    found = model_names(ALIKE)
    assert len({name.casefold() for name in found.values()}) == len(ALIKE)
    assert {name: found[name] for name in ("a=b", "CON")} == {"a=b": "a-b", "CON": "CON"}
    assert model_names(["ann b"]) == {"ann b": "ann-b"}
    assert model_names(["ann b", "ann-b"])["ann-b"] == "ann-b"  # it needs no change


def test_everybody_is_exported_and_joins_whatever_they_are_called(study: Study, known: Planted, tmp_path: Path) -> None:
    let_label(study, known, {name: Skill(0.5, 0.5) for name in ALIKE})
    study.human_export(tmp_path / "out")
    assert len([*(tmp_path / "out" / "people").iterdir()]) == len(ALIKE)
    for name in ALIKE:
        study.human_join([name])
    assert len(study.settings.models) == 2 + len(ALIKE)


def test_nobody_takes_the_place_of_a_person_who_has_joined(study: Study, known: Planted) -> None:
    let_label(study, known, {"ann b": Skill(0.9, 0.9)})
    assert study.human_join().people == ("ann-b",)
    let_label(study, known, {"ann-b": Skill(0.1, 0.1)})
    with pytest.raises(StudyError, match="'ann b' has joined as ann-b"):
        study.human_join(["ann-b"])
    assert study.human_join(["ann b"]).people != ("ann-b",)


def test_a_model_whose_file_lies_in_a_folder_of_people_is_a_model(study: Study, tmp_path: Path) -> None:
    path = tmp_path / "human" / "people" / "predictions.csv"
    path.parent.mkdir(parents=True)
    path.write_text("item,label\n" + "".join(f"{item},pug\n" for item in study.items()))
    study.predict([f"net=file:{path}"])
    assert "net" in {one.participant for one in study.human_result().standings()}


def test_people_called_like_a_model_and_its_person_are_told_apart(study: Study, known: Planted) -> None:
    let_label(study, known, {name: Skill(0.5, 0.5) for name in ("large", "large (person)")})
    names = {one.participant for one in study.human_result().standings()}
    assert {"large", "large (person)", "large (person) (person)"} <= names


def test_an_export_that_fails_leaves_no_folder(study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("dissensus.shift.human.exporting.replace_file", full)
        with pytest.raises(OSError, match="No space"):
            study.human_export(tmp_path / "out")
    assert [*tmp_path.iterdir()] == [tmp_path / "study"]
    study.human_export(tmp_path / "out")


def test_labels_and_sets_are_text_in_every_column(tmp_path: Path) -> None:
    items = tuple(f"{number}.png" for number in range(4))
    draw_pictures(tmp_path / "photos", items)
    study = Study.init(tmp_path / "study", classes=["007", "7", "1", "01", "true"])
    study.pool([tmp_path / "photos"])
    rows = "".join(f"{item},{number},{'01' if number % 2 else '1'}\n" for number, item in enumerate(items))
    (tmp_path / "truth.csv").write_text(f"item,label,set\n{rows}")
    assert {one.name for one in study.human_sample(tmp_path / "truth.csv").sets} == {"01", "1"}
    answer = {"labels": [1, 0, 4], "alternative": 3}
    answered(
        study, [{"kind": "label", "question": {"item": one}, "annotator": "ann", "answer": answer} for one in items]
    )
    study.human_export(tmp_path / "out")
    work = study._task.work
    photos = kept_sample(work).evaluation
    assert read_person(tmp_path / "out" / "people" / "ann.csv", work, photos) == labellings(work, photos)["ann"]


def test_no_set_beside_others_is_called_as_all_of_them(study: Study, made: Path, tmp_path: Path) -> None:
    rows = [*csv.DictReader((made / "truth.csv").open())]
    text = "".join(f"{row['item']},{row['label']},{row['set']}\n" for row in rows).replace("original", "all images")
    (tmp_path / "truth.csv").write_text(f"item,label,set\n{text}")
    other = Study.init(tmp_path / "other", classes=study.classes.names)
    other.pool([made / "photos"])
    with pytest.raises(StudyError, match="a test set beside others cannot be called 'all images'"):
        other.human_sample(tmp_path / "truth.csv")
    (tmp_path / "plain.csv").write_text("item,label\n" + "".join(f"{row['item']},{row['label']}\n" for row in rows[:9]))
    other.human_sample(tmp_path / "plain.csv", images=5)
    (tmp_path / "more.csv").write_text("item,label,set\n" + "".join(f"{row['item']},0,new\n" for row in rows[20:]))
    with pytest.raises(StudyError, match="rename it in the column set"):
        other.human_sample(tmp_path / "more.csv")
    with pytest.raises(ParticipantError, match="cannot be called 'all images'"):
        human_baseline({"net": [0, 1]}, [0, 1], test_set=["all images", "new"])


def test_labels_that_are_both_right_and_wrong_are_refused(study: Study, tmp_path: Path) -> None:
    item = kept_sample(study._task.work).evaluation[0].item
    path = tmp_path / "right.csv"
    path.write_text(f"item,label,right\n{item},pug,yes\n{item},0,no\n{item},pug,no\n")
    with pytest.raises(StudyError, match=f"'pug' is both right and wrong for '{item}'"):
        study.human_result(right=path)
    path.write_text(f"item,label,right\n{item},pug,yes\n{item},pug,yes\n")
    assert study.human_result(right=path).images == 1


def test_seconds_of_files_are_limited_like_those_of_the_service(study: Study, tmp_path: Path) -> None:
    item = kept_sample(study._task.work).evaluation[0].item
    path = tmp_path / "ann.csv"
    path.write_text(f"item,label,seconds\n{item},pug,1e308\n")
    with pytest.raises(StudyError, match="give a number from 0 to 10,000,000"):
        study.human_result(people={"ann": path})
    path.write_text(f"item,label,seconds\n{item},pug,nan\n")
    study.human_result(people={"ann": path})


def test_reviews_do_not_need_the_distances_of_all_classes(
    study: Study, known: Planted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A study may have more classes than a table of all pairs: the class beside a label is looked up alone."""
    monkeypatch.setattr("dissensus.discrepancy.labels.MOST_CLASSES", 5)
    work = study._task.work
    reviews = compose_reviews(work, Protocol(work).predicted)
    assert len(reviews) == len(kept_sample(work).evaluation)
    family = [np.isfinite(work.classes.steps_below(name)) for name in ("dog", "thing")]
    every = Protocol(work).predicted
    for one in reviews:
        added = {*one.labels} - every[one.item].every
        for label in added:  # of the same family as the only label that anybody predicts
            (only,) = every[one.item].every
            assert [bool(inside[label]) for inside in family] == [bool(inside[only]) for inside in family]
    let_review(study, known)
    assert study.human_status().unreviewed == 0


def test_a_review_that_too_few_have_answered_is_not_said_to_be_missing(study: Study, known: Planted) -> None:
    let_label(study, known, {"ann": Skill(0.9, 0.9)})
    assert notes(Protocol(study._task.work))[0].startswith("Labels have not been reviewed")
    let_review(study, known)
    assert study.human_result().metric == "multi-label"
    study.people.exclude("cat", "in a hurry", "owner")
    assert study.human_result().metric == "top-1"
    assert "fewer than 3 have answered (human.reviewers)" in notes(Protocol(study._task.work))[0]


def test_labels_of_people_who_had_seen_the_review_are_counted_in_a_note(study: Study, known: Planted) -> None:
    let_label(study, known, {"ann": Skill(0.9, 0.9)})
    let_review(study, known, ("ann", "ben", "cat"))
    assert notes(Protocol(study._task.work)) == ()
    items = [one.item for one in kept_sample(study._task.work).evaluation][:3]
    let_label(study, known, {"ann": Skill(0, 0), "dan": Skill(1, 1)}, items=items)
    said = notes(Protocol(study._task.work))[-1]
    assert said == "3 labels were given, or changed, by people who had already seen the review of the same image."


def test_examples_that_are_not_pictures_are_left_out_and_named(study: Study, made: Path, tmp_path: Path) -> None:
    folder = tmp_path / "examples" / "pug"
    folder.mkdir(parents=True)
    (folder / "broken.jpg").write_bytes(b"\xff\xd8\xff nothing")
    (folder / "empty.png").write_bytes(b"")
    (folder / "words.png").symlink_to("/etc/passwd")
    (folder / "gone.png").symlink_to(tmp_path / "gone.png")
    os.mkfifo(folder / "pipe.png")
    taken = {one.item for one in kept_sample(study._task.work).evaluation}
    fine = next(one for one in sorted((made / "photos").iterdir()) if one.name not in taken)
    shutil.copyfile(fine, folder / "fine.png")
    found = study.human_sample(examples=tmp_path / "examples")
    assert found.examples == 1
    assert len(found.left_out) == 5
    assert {one.reason for one in found.left_out} == {"it cannot be read, or is not a picture"}
