"""What people's answers and reviews say: skipped, fast and repeated answers, label sets, files, and joining."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from planted_labellers import CLASSES, Planted, Skill, answered, let_label, let_review, planted, planted_study

from dissensus.errors import StudyError
from dissensus.shift.human.kept import Photo, kept_sample
from dissensus.shift.human.results import Protocol
from dissensus.shift.human.reviews import Predicted, compose_reviews, kept_reviews, with_company
from dissensus.study import Study

GOOD = {"ann": Skill(0.9, 0.9), "ben": Skill(0.8, 0.8)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("made")
    study, _ = planted_study(root, 80)
    study.human_sample(root / "truth.csv", images=20)
    return root


@pytest.fixture
def root(made: Path, tmp_path: Path) -> Path:
    """A study with two models and a sample of 40 images, that a test may change."""
    shutil.copytree(made / "study", tmp_path / "study")
    shutil.copyfile(made / "truth.csv", tmp_path / "truth.csv")
    return tmp_path


@pytest.fixture
def study(root: Path) -> Study:
    return Study(root / "study")


@pytest.fixture(scope="module")
def known() -> Planted:
    return planted(80)


def photos(study: Study) -> tuple[Photo, ...]:
    return kept_sample(study._task.work).evaluation


def said(person: str, item: str, labels: list[int] | None, alternative: int | None = None, seconds: float = 9) -> dict:
    answer = "cannot tell" if labels is None else {"labels": labels, "alternative": alternative}
    return {"kind": "label", "question": {"item": item}, "annotator": person, "answer": answer, "seconds": seconds}


def test_a_skipped_image_counts_as_wrong_and_is_reported(study: Study) -> None:
    images = photos(study)
    answered(study, [said("ann", one.item, [one.label] if place else None) for place, one in enumerate(images)])
    found = study.human_result()
    one = found.accuracy("ann")
    assert (one.right, one.count) == (39, 40)
    assert [row.skipped for row in found.people] == [1]
    assert study.human_status().people[0].skipped == 1


def test_fast_answers_are_flagged_and_count(study: Study) -> None:
    answered(study, [said("ann", one.item, [one.label], seconds=0.3) for one in photos(study)])
    found = study.human_result()
    assert found.accuracy("ann").accuracy == 1
    assert found.people[0].instant == 40
    assert study.human_status().people[0].instant == 40


def test_the_last_of_two_answers_counts_and_times_add_up(study: Study) -> None:
    first, *rest = photos(study)
    wrong = (first.label + 1) % len(CLASSES)
    answered(study, [said("ann", first.item, [wrong], seconds=5)])
    answered(study, [said("ann", one.item, [one.label], seconds=7) for one in (first, *rest)])
    labels = Protocol(study._task.work).labels["ann"]
    assert labels[first.item].labels == (first.label,)
    assert labels[first.item].seconds == 12
    assert labels[first.item].answers == 2
    assert study.human_status().people[0].again == 1
    assert study._task.work.answers.counts()[0] == 41  # both are kept
    assert study.human_result().accuracy("ann").accuracy == 1


def test_none_of_these_counts_as_its_alternative(study: Study) -> None:
    first, second, *rest = photos(study)
    rows = [said("ann", first.item, [], first.label), said("ann", second.item, [])]
    answered(study, rows + [said("ann", one.item, [one.label]) for one in rest])
    one = study.human_result().accuracy("ann")
    assert (one.right, one.count) == (39, 40)


def test_only_images_that_a_person_has_seen_count(study: Study, known: Planted) -> None:
    let_label(study, known, GOOD, items=[one.item for one in photos(study)[:15]])
    assert study.human_result().accuracy("ann").count == 15


def test_excluded_people_do_not_count(study: Study, known: Planted) -> None:
    let_label(study, known, GOOD)
    study.exclude("ben", "guessed")
    assert {one.participant for one in study.human_result().standings()} == {"ann", "large", "small"}


def test_a_study_without_people_compares_models(study: Study) -> None:
    assert {one.kind for one in study.human_result().standings()} == {"model"}


def test_a_study_without_models_compares_people(tmp_path: Path, made: Path, known: Planted) -> None:
    study = Study.init(tmp_path / "bare", classes=list(CLASSES))
    study.pool([made / "photos"])
    study.human_sample(made / "truth.csv", images=10)
    with pytest.raises(StudyError, match="nobody to compare"):
        study.human_result()
    let_label(study, known, GOOD)
    found = study.human_result()
    assert {one.participant for one in found.standings()} >= {"ann", "ben"}
    with pytest.raises(StudyError, match=r"not a class of the study: .*give a CSV file"):
        study.human_result(subsets="dog")
    (tmp_path / "subsets.csv").write_text("subset,label\n" + "".join(f"dogs,{name}\n" for name in CLASSES[:8]))
    assert "dogs" in study.human_result(subsets=str(tmp_path / "subsets.csv")).subsets


def test_a_subset_without_an_image_is_refused(study: Study, tmp_path: Path) -> None:
    sampled = {one.label for one in photos(study)}
    assert len(sampled) == len(CLASSES)
    with pytest.raises(StudyError, match="'unicorn' is not a class"):
        study.human_result(subsets="unicorn")
    with pytest.raises(StudyError, match="no sampled image is of 'not all'"):
        study.human_result(subsets="not all")
    (tmp_path / "bad.csv").write_text("name,label\na,b\n")
    with pytest.raises(StudyError, match="needs the columns subset and label"):
        study.human_result(subsets=str(tmp_path / "bad.csv"))


def test_images_nobody_reviewed_are_left_out(study: Study, known: Planted) -> None:
    let_label(study, known, GOOD)
    let_review(study, known, ("ann", "ben", "cat"))
    whole = study.human_result().images
    reviewed = {one.item for one in photos(study)[:10]}
    for name in ("ben", "cat"):
        study.exclude(name, "left")  # one reviewer alone is not enough
    with_one = study.human_result()
    assert with_one.metric == "top-1"
    work = study._task.work
    rows = [
        {"kind": "pick", "question": one.question.body, "annotator": name, "answer": [photo.label]}
        for photo in photos(study)[:10]
        for one in kept_reviews(work)
        if one.item == photo.item
        for name in ("dan", "eve")
    ]
    answered(study, [row for row in rows if row["answer"][0] in row["question"]["options"]])
    some = study.human_result()
    assert some.metric == "multi-label"
    assert 0 < some.images <= len(reviewed) < whole


def test_reviewers_who_are_divided_decide_nothing(study: Study) -> None:
    study.change("human", {"reviewers": 2})
    work = study._task.work
    compose_reviews(work, Protocol(work).predicted)
    first, *rest = kept_reviews(work)
    label = first.labels[0]
    rows = [{"kind": "pick", "question": first.question.body, "annotator": "ann", "answer": [label]}]
    rows += [{"kind": "pick", "question": first.question.body, "annotator": "ben", "answer": list(first.labels[1:])}]
    rows += [
        {"kind": "pick", "question": one.question.body, "annotator": name, "answer": list(one.labels)}
        for one in rest
        for name in ("ann", "ben")
    ]
    answered(study, rows)
    verdicts = Protocol(study._task.work).verdicts
    assert label not in verdicts.right.get(first.item, ())
    assert label not in verdicts.judged.get(first.item, ())
    assert verdicts.right[rest[-1].item] >= {*rest[-1].labels}


def test_new_predictions_add_questions_about_new_labels_only(study: Study, known: Planted) -> None:
    work = study._task.work
    before = compose_reviews(work, Protocol(work).predicted)
    assert compose_reviews(work, Protocol(work).predicted) == before
    first = photos(study)[0]
    asked = {label for one in before if one.item == first.item for label in one.labels}
    new = next(label for label in range(len(CLASSES)) if label not in asked)
    answered(study, [said("ann", first.item, [first.label, new])])
    after = compose_reviews(work, Protocol(work).predicted)
    assert after[: len(before)] == before
    (added,) = after[len(before) :]
    assert added.item == first.item
    assert new in added.labels
    assert len(added.labels) == 2  # beside a label of a model
    let_review(study, known)
    assert not Protocol(study._task.work).unasked


def test_every_question_has_labels_of_people_and_of_models() -> None:
    distances = 1.0 - np.eye(9)
    said_by = Predicted(0, frozenset({1, 2}), frozenset({3, 4}))
    for labels in ([1], [3], [0], [1, 2], [3, 4]):
        found = with_company(labels, "x", said_by, distances.__getitem__, 0)
        assert found & said_by.people
        assert found & said_by.models
        assert {*labels} <= found <= said_by.every
    alone = with_company([0], "x", Predicted(0, frozenset({0}), frozenset({0})), distances.__getitem__, 0)
    assert len(alone) == 2  # a class that nobody predicts
    near = distances.copy()
    near[0, 5] = 0.5
    assert with_company([0], "x", Predicted(0, frozenset({0}), frozenset()), near.__getitem__, 0) == {0, 5}


def test_many_labels_are_divided_among_questions(study: Study) -> None:
    first = photos(study)[0]
    answered(study, [said(name, first.item, list(range(5 * n, 5 * n + 5))) for n, name in enumerate("abcd")])
    work = study._task.work
    own = [one for one in compose_reviews(work, Protocol(work).predicted) if one.item == first.item]
    assert len(own) == 3
    assert all(2 <= len(one.labels) <= 10 for one in own)
    assert {label for one in own for label in one.labels} == {*range(20)}


def test_label_sets_from_files(study: Study, known: Planted, tmp_path: Path) -> None:
    let_label(study, known, GOOD)
    let_review(study, known)
    expected = study.human_result()
    study.human_export(tmp_path / "out")
    by_table = study.human_result(right=tmp_path / "out" / "labels.csv")
    by_json = study.human_result(right=tmp_path / "out" / "labels.json")
    assert by_table.accuracy("large").count == expected.accuracy("large").count
    assert by_json.accuracy("large").right >= expected.accuracy("large").right  # problematic images are not known
    real = [sorted(known.right[item]) for item in study.items()]
    (tmp_path / "real.json").write_text(json.dumps(real))
    found = study.human_result(right=tmp_path / "real.json").accuracy("large")
    labels = dict(zip(study.items(), study.labels("large").tolist(), strict=True))
    assert (found.right, found.count) == (sum(labels[one.item] in known.right[one.item] for one in photos(study)), 40)


def test_a_longer_list_of_label_sets_goes_by_the_numbers_of_items(study: Study, known: Planted, tmp_path: Path) -> None:
    real = [[] for _ in range(500)]
    for item, right in known.right.items():
        number = int(item.removesuffix(".png"))
        if number:
            real[number - 1] = [CLASSES[label] for label in sorted(right)]
    (tmp_path / "real.json").write_text(json.dumps(real))
    if any(one.item == "0000.png" for one in photos(study)):
        with pytest.raises(StudyError, match="does not end in the number of one"):
            study.human_result(right=tmp_path / "real.json")
    else:
        assert study.human_result(right=tmp_path / "real.json").images == 40


BAD_SETS = [
    ("right.csv", "item,label\n0001.png,unicorn\n", "no such class"),
    ("right.csv", "item,label,right\nITEM,pug,perhaps\n", "neither yes nor no"),
    ("right.csv", "item,label\nnowhere.png,pug\n", "no right label of any sampled image"),
    ("right.json", "[[1], [2]", "cannot read"),
    ("right.json", '{"ITEM": ["unicorn"]}', "no such class"),
    ("right.json", '{"ITEM": 3}', "give a list of classes"),
    ("right.json", '"pug"', "neither an object nor a list"),
    ("right.txt", "x", "unknown file type"),
]


@pytest.mark.parametrize(("name", "text", "words"), BAD_SETS)
def test_label_sets_that_cannot_be_used_are_refused(
    study: Study, tmp_path: Path, name: str, text: str, words: str
) -> None:
    (tmp_path / name).write_text(text.replace("ITEM", photos(study)[0].item))
    with pytest.raises(StudyError, match=words):
        study.human_result(right=tmp_path / name)


def test_people_from_files(study: Study, tmp_path: Path) -> None:
    rows = [f"{one.item},{CLASSES[one.label]},,2.5\n" for one in photos(study)[1:]]
    first = photos(study)[0]
    other = CLASSES[(first.label + 1) % len(CLASSES)]
    rows.append(f"{first.item},{other},{CLASSES[first.label]},\n")
    (tmp_path / "ann.csv").write_text("item,label,label2,seconds\n" + "".join(rows))
    found = study.human_result(people={"ann": tmp_path / "ann.csv"})
    assert found.accuracy("ann").right == 39
    assert found.accuracy("ann", "top-5").right == 40
    assert found.people[0].timed == 39


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("item,label\nnowhere.png,pug\n", "is not in the pool"),
        ("item,label\nITEM,unicorn\n", "no such class"),
        ("item,label\nITEM,pug\nITEM,pug\n", "twice"),
        ("item,label,seconds\nITEM,pug,-3\n", "give a number from 0"),
        ("item,label\n", "none of the sampled images"),
    ],
)
def test_files_of_people_that_cannot_be_used_are_refused(study: Study, tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "ann.csv").write_text(text.replace("ITEM", photos(study)[0].item))
    with pytest.raises(StudyError, match=words):
        study.human_result(people={"ann": tmp_path / "ann.csv"})


def test_top_5_of_models_comes_from_their_files(study: Study, tmp_path: Path) -> None:
    truth = planted(80).original.items()
    rows = [f"{item},{CLASSES[(label + 1) % 20]},{CLASSES[label]}\n" for item, label in truth]
    (tmp_path / "model.csv").write_text("item,label,label2\n" + "".join(rows))
    study.predict([f"second=file:{tmp_path / 'model.csv'}"])
    found = study.human_result()
    assert found.accuracy("second").right == 0
    assert found.accuracy("second", "top-5").right == 40
    assert found.accuracy("large", "top-5").count == 0  # its further labels are unknown
    (tmp_path / "model.csv").unlink()  # they are kept in the study
    assert study.human_result().accuracy("second", "top-5").right == 40


def test_top_5_of_probabilities_is_that_of_a_sort(study: Study) -> None:
    scores = np.random.default_rng(0).integers(0, 6, (80, len(CLASSES))) / 5  # many ties
    study.predict(noise=scores)
    five = np.argsort(-scores, axis=1, kind="stable")[:, :5]
    place = {item: number for number, item in enumerate(study.items())}
    expected = sum(one.label in five[place[one.item]] for one in photos(study))
    assert 0 < expected < 40
    assert study.human_result().accuracy("noise", "top-5").right == expected


def test_people_join_with_what_they_labelled(study: Study, known: Planted) -> None:
    answered(study, [said("Ann Lee", one.item, [one.label]) for one in photos(study)[:30]])
    joined = study.human_join()
    assert joined.people == ("Ann-Lee",)
    assert joined.round is None
    frame = study.predictions("Ann-Lee")
    assert frame["label"].notna().sum() == 30
    answered(study, [said("Ann Lee", one.item, [one.label]) for one in photos(study)])
    study.human_join(["Ann Lee"])  # nothing is selected yet, so that more labels replace the earlier ones
    assert study.predictions("Ann-Lee")["label"].notna().sum() == 40
    assert {one.participant for one in study.human_result().standings()} == {"Ann Lee", "large", "small"}
    study.select(k=2, reserves=0)
    before = (study.folder.root / "human" / "people" / "Ann-Lee.parquet").read_bytes()
    answered(study, [said("Ann Lee", photos(study)[0].item, [0])])
    with pytest.raises(StudyError, match="has joined, and rounds were selected since"):
        study.human_join()
    assert (study.folder.root / "human" / "people" / "Ann-Lee.parquet").read_bytes() == before
    let_label(study, known, {"ben": Skill(0.8, 0.8)})
    assert study.human_join(["ben"]).round == 2
    assert study.folder.rounds() == [1, 2]


def test_who_labelled_little_does_not_take_images_from_the_other_duels(study: Study, known: Planted) -> None:
    def duel(of: Study) -> list[str]:
        return [row["item"] for row in of.selection() if {row["first"], row["second"]} == {"large", "small"}]

    other = Study(shutil.copytree(study.folder.root, study.folder.root.parent / "without-people"))
    other.select(k=5, reserves=0)
    answered(study, [said("eve", one.item, [(one.label + 1) % len(CLASSES)]) for one in photos(study)[:1]])
    study.human_join()
    study.select(k=5, reserves=0)
    assert duel(study) == duel(other)
    assert len(duel(study)) == 5
    assert {row["item"] for row in study.selection() if "eve" in (row["first"], row["second"])} == {
        photos(study)[0].item
    }


def test_nobody_joins_under_the_name_of_a_model(study: Study, known: Planted) -> None:
    let_label(study, known, {"large": Skill(0.5, 0.5)})
    assert "large (person)" in {one.participant for one in study.human_result().standings()}
    with pytest.raises(StudyError, match="would join as 'large'"):
        study.human_join()
    with pytest.raises(StudyError, match="'zoe' has not labelled an image"):
        study.human_join(["zoe"])


def test_an_export_goes_to_a_new_folder(study: Study, tmp_path: Path, known: Planted) -> None:
    let_label(study, known, GOOD)
    written = study.human_export(tmp_path / "out")
    assert {*written.files} == {"items.csv", "people/ann.csv", "people/ben.csv", "times.csv"}
    with pytest.raises(StudyError, match="already exists"):
        study.human_export(tmp_path / "out")


def test_damaged_tables_are_noticed(study: Study) -> None:
    path = study.folder.human_images
    path.write_bytes(path.read_bytes()[:-9] + b"nonsense!")
    with pytest.raises(StudyError, match="damaged"):
        study.human_status()


def test_pages_that_have_nothing_to_ask_say_what_to_do(study: Study, tmp_path: Path) -> None:
    def ready(*_: str) -> None:
        raise AssertionError("it must not be served")

    with pytest.raises(StudyError, match="no images to train on: dissensus shift human sample"):
        study.human_serve(ready, "train")
    with pytest.raises(StudyError, match="'unicorn' is not a class"):
        study.human_serve(ready, "train", family="unicorn")
    with pytest.raises(StudyError, match="a family of at least two"):
        study.human_serve(ready, "train", family="pug")
    with pytest.raises(StudyError, match="only training is about a family"):
        study.human_serve(ready, "label", family="dog")
    with pytest.raises(StudyError, match="choose from train, label, review"):
        study.human_serve(ready, "nonsense")
