from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from exchange_cases import CLASSES, by_id, damaged, everything, jsons, read_or_refuse, several
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import Classes, Question, Response
from dissensus.store.exchange import labeling_config, read_responses, write_responses

WHEN = "2026-11-15T09:30:00.513742+00:00"


def choice(*words: str) -> dict[str, Any]:
    return {"id": "x", "from_name": "kind", "to_name": "img", "type": "choices", "value": {"choices": list(words)}}


def task(data: dict[str, Any], *results: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A task as Label Studio exports it, with one annotation."""
    annotation = {
        "id": 1001,
        "completed_by": 10,
        "result": list(results),
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-11-15T09:00:00Z",
        "updated_at": WHEN,
        "lead_time": 4.288,
        "task": 1,
    }
    return {"id": 1, "project": 83, "data": data, "annotations": [annotation | more], "predictions": [{"result": []}]}


def read_all(path: Path, content: Any, items: Any = everything, **options: str) -> list[Response]:
    path.write_text(json.dumps(content))
    return list(read_responses(path, CLASSES, items, **options))


@given(several())
@settings(max_examples=80)
def test_every_field_of_every_kind_comes_back(tmp_path: Path, said: list[Response]) -> None:
    path = tmp_path / "answers.json"
    assert write_responses(path, said, CLASSES, "label-studio") == len(said)
    assert by_id(list(read_responses(path, CLASSES, everything))) == by_id(said)


@given(several())
@settings(max_examples=30)
def test_every_field_comes_back_where_images_have_addresses(tmp_path: Path, said: list[Response]) -> None:
    write_responses(tmp_path / "a.json", said, CLASSES, "label-studio", lambda item: f"http://host/{len(item)}.jpg")
    assert by_id(list(read_responses(tmp_path / "a.json", CLASSES, everything))) == by_id(said)


def test_answers_to_one_question_are_one_task_in_their_order(tmp_path: Path) -> None:
    question = Question(kind="contains", body={"item": "a/b.jpg", "label": 2})
    said = [
        Response(id=str(n), question=question, annotator="ann", answer=answer, time="2026-11-15T09:30:00+00:00")
        for n, answer in enumerate(["yes", "no", "yes"])
    ]
    write_responses(tmp_path / "a.json", said, CLASSES, "label-studio", lambda item: f"/data/local-files/?d={item}")
    (written,) = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert written["data"]["image"] == "/data/local-files/?d=a/b.jpg"
    assert written["data"]["label"] == "Königs-Pinguin, groß"
    assert [entry["result"][0]["value"]["choices"] for entry in written["annotations"]] == [["yes"], ["no"], ["yes"]]
    assert "completed_by" not in written["annotations"][0]
    assert list(read_responses(tmp_path / "a.json", CLASSES, everything)) == said


@pytest.mark.parametrize(("kind", "on"), [("contains", "image"), ("choice", "left"), ("pick", "image")])
def test_a_labeling_configuration_goes_with_every_kind(tmp_path: Path, kind: str, on: str) -> None:
    bodies = {"contains": {"item": "a", "label": 0}, "choice": {"first": "a", "second": "b"}, "pick": {"item": "a"}}
    answers = {"contains": "yes", "choice": "second", "pick": 2}
    question = Question(kind=kind, body=bodies[kind])
    said = Response(
        id="1", question=question, annotator="ann", answer=answers[kind], comment="so", time="2026-11-15T09:30:00+00:00"
    )
    write_responses(tmp_path / "answers.json", [said], CLASSES, "label-studio")
    view = ElementTree.fromstring((tmp_path / f"answers.{kind}.xml").read_text(encoding="utf-8"))
    (written,) = json.loads((tmp_path / "answers.json").read_text(encoding="utf-8"))
    variables = {tag.get("value", "")[1:] for tag in view.iter() if tag.get("value", "").startswith("$")}
    assert variables <= set(written["data"])
    offered = {tag.get("value") for tag in view.iter("Choice")}
    for result in written["annotations"][0]["result"]:
        (control,) = [tag for tag in view.iter() if tag.get("name") == result["from_name"]]
        assert control.get("toName") == result["to_name"] == on
        assert control.tag.lower() == result["type"]
        assert set(result["value"].get("choices", [])) <= offered


def test_a_configuration_survives_class_names_with_markup() -> None:
    view = ElementTree.fromstring(labeling_config("pick", Classes(('<b> & "x"', "\0dog"))))
    assert [tag.get("value") for tag in view.iter("Choice")] == ['<b> & "x"', "dog", "cannot tell"]


def test_contains_by_the_names_of_our_own_sheet(tmp_path: Path) -> None:
    data = {"item": "a.jpg", "label": "king", "annotator": "", "answer": "", "image": "http://host/other.jpg"}
    (found,) = read_all(tmp_path / "a.json", [task(data, choice("Yes"))])
    assert found.question == Question(kind="contains", body={"item": "a.jpg", "label": 2})
    assert (found.annotator, found.answer, found.seconds, found.time) == ("label-studio-10", "yes", 4.288, WHEN)


@pytest.mark.parametrize(
    "address",
    [
        "b/c d.jpg",
        "/data/local-files/?d=images/b/c%20d.jpg",
        "https://host/x/b/c%20d.jpg?token=1#2",
        "C:\\images\\b\\c d.jpg",
        "s3://bucket/b/c d.jpg",
    ],
)
def test_an_image_is_found_by_its_address(tmp_path: Path, address: str) -> None:
    (found,) = read_all(tmp_path / "a.json", [task({"image": address}, choice("zero"))], {"b/c d.jpg"}.__contains__)
    assert found.question == Question(kind="pick", body={"item": "b/c d.jpg"})
    assert found.answer == 1


def test_an_uploaded_image_is_found_by_its_name(tmp_path: Path) -> None:
    data = {"image": "/data/upload/3/0a1b2c3d-cat.jpg"}
    (found,) = read_all(tmp_path / "a.json", [task(data, choice("cannot tell"))], {"cat.jpg"}.__contains__)
    assert (found.question.body, found.answer) == ({"item": "cat.jpg"}, None)


def test_a_taxonomy_is_a_pick(tmp_path: Path) -> None:
    result = {"from_name": "t", "to_name": "i", "type": "taxonomy", "value": {"taxonomy": [["animal", "bird", "king"]]}}
    (found,) = read_all(tmp_path / "a.json", [task({"image": "a.jpg"}, result)])
    assert (found.question.kind, found.answer) == ("pick", 2)


def test_a_pair_is_a_choice(tmp_path: Path) -> None:
    result = {"from_name": "pw", "to_name": "pw", "type": "pairwise", "value": {"selected": "right"}}
    (found,) = read_all(tmp_path / "a.json", [task({"image1": "a.jpg", "image2": "b.jpg"}, result)])
    assert found.question == Question(kind="choice", body={"first": "a.jpg", "second": "b.jpg"})
    assert (found.answer, found.shown) == ("second", {"left": "first"})


@pytest.mark.parametrize(
    ("who", "name"),
    [
        (7, "label-studio-7"),
        ("ann@x.org", "ann@x.org"),
        ({"id": 7, "email": "ann@x.org"}, "ann@x.org"),
        ({"id": 7}, "label-studio-7"),
        (None, "ann"),
        ([], "ann"),
    ],
)
def test_who_answered(tmp_path: Path, who: Any, name: str) -> None:
    content = [task({"item": "a", "label": "one"}, choice("no"), completed_by=who)]
    assert read_all(tmp_path / "a.json", content, annotator="ann")[0].annotator == name


def test_skipped_empty_and_predicted_ones_are_passed_over(tmp_path: Path) -> None:
    data = {"item": "a", "label": "one"}
    assert (
        read_all(tmp_path / "a.json", [task(data, choice("no"), was_cancelled=True), task(data), {"data": data}]) == []
    )


def test_an_old_export_calls_annotations_completions(tmp_path: Path) -> None:
    old = task({"item": "a", "label": "one"}, choice("no"))
    old["completions"] = old.pop("annotations")
    assert [found.answer for found in read_all(tmp_path / "a.json", old)] == ["no"]


def test_what_was_changed_in_label_studio_is_a_further_answer_of_who_changed_it(tmp_path: Path) -> None:
    question = Question(kind="contains", body={"item": "a", "label": 0})
    said = Response(
        id="1", question=question, annotator="ann", answer="yes", role="control", time="2026-11-15T09:30:00+00:00"
    )
    write_responses(tmp_path / "a.json", [said], CLASSES, "label-studio")
    content = json.loads((tmp_path / "a.json").read_text())
    annotation = content[0]["annotations"][0]
    annotation |= {"completed_by": {"email": "bob@x.org"}, "updated_at": WHEN}
    assert read_all(tmp_path / "b.json", content) == [said]
    annotation["result"][0]["value"]["choices"] = ["unsure"]
    (found,) = read_all(tmp_path / "c.json", content)
    assert (found.question, found.answer, found.annotator, found.time) == (question, "unsure", "bob@x.org", WHEN)
    assert found.id != "1"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([1], "task 1: it is not a JSON object"),
        ([{"image": "a.jpg", "choice": "yes", "annotator": 1}], "export as JSON, not as JSON-MIN"),
        ([{"data": {}, "annotations": {}}], "task 1: annotations is not a list"),
        ([{"data": {}, "annotations": [None]}], "task 1, annotation 1: it is not a JSON object"),
        ([task({"item": "a"}, choice("one", "zero"))], "expected exactly one answer, as text, got 2"),
        ([task({"item": "a"}, choice("one"), choice("zero"))], "expected exactly one choice, got 2"),
        ([task({"item": "a"}, {"type": "rectanglelabels"})], "the result contains rectanglelabels"),
        ([task({"item": "a", "label": "one"}, choice("perhaps"))], "invalid answer 'perhaps': it must be one of yes"),
        ([task({"item": "a", "label": "yeti"}, choice("yes"))], "no such class 'yeti'"),
        ([task({"text": "a"}, choice("one"))], "does not say which image it is about"),
        ([task({"image": ["a"]}, choice("one"))], "does not say which image it is about"),
        ([task({"item": "a", "label": "one"}, choice("no"), lead_time="long")], "seconds is 'long'"),
        ([task({"item": "a", "dissensus": 3}, choice("no"))], "data.dissensus is not a JSON object"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, content: Any, complaint: str) -> None:
    with pytest.raises(JudgementError) as refused:
        read_all(tmp_path / "a.json", content, format="label-studio")
    assert str(refused.value).startswith(f"{tmp_path / 'a.json'}, task 1")
    assert complaint in str(refused.value)


def test_a_kind_without_counterpart_is_refused_and_nothing_written(tmp_path: Path) -> None:
    question = Question(kind="slider", body={"item": "a"})
    said = Response(id="1", question=question, annotator="ann", answer=3, time="2026-11-15T09:30:00+00:00")
    with pytest.raises(JudgementError, match="'slider' have no counterpart in Label Studio"):
        write_responses(tmp_path / "a.json", [said], CLASSES, "label-studio")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", ["[" * 100_000, '{"data":' * 100_000, "[NaN]", "[1e999]", '["\\ud800"]', "[", ""])
def test_no_json_is_refused_in_one_line(tmp_path: Path, content: str) -> None:
    (tmp_path / "a.json").write_text(content)
    assert read_or_refuse(tmp_path / "a.json") is None


@given(st.data())
@settings(max_examples=200)
def test_any_document_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    path = tmp_path / "a.json"
    write_responses(path, data.draw(several()), CLASSES, "label-studio")
    good = json.loads(path.read_text(encoding="utf-8")) or [task({"image": "a"}, choice("one"))]
    path.write_text(json.dumps(data.draw(damaged(good) | jsons)))
    read_or_refuse(path, "label-studio")
