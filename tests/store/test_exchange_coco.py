from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest
from exchange_cases import CLASSES, damaged, everything, jsons, read_or_refuse, several
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import Question, Response
from dissensus.store.exchange import read_responses, write_responses

KINDS = ("contains", "pick", "label")


def said(number: int, item: str, label: int, answer: str, annotator: str = "ann") -> Response:
    question = Question(kind="contains", body={"item": item, "label": label})
    return Response(
        id=str(number), question=question, annotator=annotator, answer=answer, time="2026-11-15T09:30:00+00:00"
    )


def coco(**changes: Any) -> dict[str, Any]:
    """A file of others: boxes, and a category known to be absent as in LVIS."""
    box = {"image_id": 7, "category_id": 18, "bbox": [1, 2, 3, 4], "area": 12, "iscrowd": 0, "segmentation": []}
    return {
        "info": {"year": 2017},
        "images": [{"id": 7, "file_name": "val2017/a.jpg", "width": 4, "height": 3, "neg_category_ids": [1]}],
        "categories": [{"id": 18, "name": "king", "supercategory": "bird"}, {"id": 1, "name": "zero"}],
        "annotations": [box | {"id": 1}, box | {"id": 2}],
    } | changes


def write(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content))
    return path


def read_all(path: Path, items: Any = everything, **options: str) -> list[Response]:
    return list(read_responses(path, CLASSES, items, **options))


@given(several(KINDS))
@settings(max_examples=80)
def test_every_field_comes_back_in_order(tmp_path: Path, answers: list[Response]) -> None:
    path = tmp_path / "answers.json"
    assert write_responses(path, answers, CLASSES, "coco", lambda item: None if len(item) > 3 else "x.jpg") == len(
        answers
    )
    assert read_all(path) == answers


@given(several(KINDS))
@settings(max_examples=40)
def test_an_index_can_be_made_as_the_usual_reader_makes_it(tmp_path: Path, answers: list[Response]) -> None:
    write_responses(tmp_path / "a.json", answers, CLASSES, "coco")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    images = {image["id"]: image for image in content["images"]}
    categories = {category["id"]: category for category in content["categories"]}
    held = defaultdict(set)
    for annotation in content["annotations"]:
        held[annotation["category_id"]].add(annotation["image_id"])
    assert len({annotation["id"] for annotation in content["annotations"]}) == len(content["annotations"])
    assert set(held) <= set(categories)
    assert set().union(*held.values()) <= set(images)
    assert [category["name"] for category in content["categories"]] == list(CLASSES.names)


def test_only_what_people_saw_is_an_annotation(tmp_path: Path) -> None:
    answers = [
        said(1, "a.jpg", 0, "yes"),
        said(2, "a.jpg", 1, "no"),
        said(3, "a.jpg", 2, "unsure"),
        said(4, "b.jpg", 0, "no", "ann"),
        said(5, "b.jpg", 0, "yes", "bob"),
    ]
    write_responses(tmp_path / "a.json", answers, CLASSES, "coco", lambda item: f"photos/{item}")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert [(a["image_id"], a["category_id"]) for a in content["annotations"]] == [(1, 1), (2, 1)]
    assert [(i["file_name"], i["neg_category_ids"]) for i in content["images"]] == [
        ("photos/a.jpg", [2]),
        ("photos/b.jpg", []),
    ]
    assert content["annotations"][1]["attributes"]["annotator"] == "bob"


def test_a_choice_has_no_counterpart(tmp_path: Path) -> None:
    question = Question(kind="choice", body={"first": "a", "second": "b"})
    answer = Response(id="1", question=question, annotator="ann", answer="first", time="2026-11-15T09:30:00+00:00")
    with pytest.raises(JudgementError, match="'choice' have no counterpart in COCO"):
        write_responses(tmp_path / "a.json", [answer], CLASSES, "coco")
    assert list(tmp_path.iterdir()) == []


def test_files_of_others_say_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    found = read_all(write(tmp_path / "a.json", coco()), {"a.jpg"}.__contains__)
    assert [(r.question.body, r.answer, r.annotator) for r in found] == [
        ({"item": "a.jpg", "label": 2}, "yes", "coco"),
        ({"item": "a.jpg", "label": 1}, "no", "coco"),
    ]
    assert {r.annotator for r in read_all(tmp_path / "a.json", annotator="bob")} == {"bob"}


def test_attributes_may_say_who_answered_what(tmp_path: Path) -> None:
    tag = {"id": 1, "image_id": 7, "category_id": 18, "attributes": {"answer": "maybe", "annotator": "eve"}}
    (found,) = read_all(write(tmp_path / "a.json", coco(annotations=[tag], images=[{"id": 7, "file_name": "a"}])))
    assert (found.answer, found.annotator) == ("unsure", "eve")


def test_an_annotation_that_was_put_into_another_category_is_a_further_answer(tmp_path: Path) -> None:
    write_responses(tmp_path / "a.json", [said(1, "a.jpg", 0, "yes")], CLASSES, "coco")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    content["annotations"][0]["category_id"] = 3
    before, found = read_all(write(tmp_path / "a.json", content))
    assert before == said(1, "a.jpg", 0, "yes")
    assert (found.question.body["label"], found.answer) == (2, "yes")
    assert found.id != "1"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([], "it is not a JSON object"),
        (coco(images={}), "images is not a list"),
        (coco(images=[7]), "images 1: it is not a JSON object"),
        (coco(images=[{"id": []}]), "images 1: an id must be a number or a string"),
        (coco(images=[]), "annotation 1: no image has the id 7"),
        (coco(categories=[]), "annotation 1: no category has the id 18"),
        (coco(categories=[{"id": 18, "name": "yeti"}]), "annotation 1: no such class 'yeti'"),
        (coco(categories=[{"id": 18, "name": None}]), "annotation 1: None is not a class"),
        (coco(annotations=[[]]), "annotation 1: it is not a JSON object"),
        (coco(annotations=[{"category_id": 18}]), "annotation 1: an id must be"),
        (coco(images=[{"id": 7, "file_name": 3}]), "annotation 1: does not say which image"),
        (coco(dissensus=3), "dissensus is not a JSON object"),
        (coco(dissensus={"answers": [{"position": "x"}]}), "answer 1: item is missing"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, content: Any, complaint: str) -> None:
    with pytest.raises(JudgementError) as refused:
        read_all(write(tmp_path / "a.json", content), format="coco")
    assert str(tmp_path / "a.json") in str(refused.value)
    assert complaint in str(refused.value)


@given(st.data())
@settings(max_examples=200)
def test_any_document_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "a.json"
    write_responses(path, data.draw(several(KINDS)), CLASSES, "coco")
    good = data.draw(st.sampled_from([json.loads(path.read_text(encoding="utf-8")), coco()]))
    write(path, data.draw(damaged(good) | jsons))
    read_or_refuse(path, "coco")
