"""Masks, checks of them and choices between predictions go through rows and come back; other tools have none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from exchange_cases import CLASSES
from hypothesis import given, settings
from hypothesis import strategies as st
from mask_cases import MANY, SMALL, checked, drew

from dissensus.errors import JudgementError
from dissensus.labeling import QUESTIONS
from dissensus.records import Classes, Question, Response
from dissensus.store.exchange import ENDINGS, read_responses, write_responses

ITEMS = {"a.jpg", "b.jpg"}
MODELS = ("zz.model", "=other, model")


@st.composite
def masks(draw: st.DrawFn) -> dict[str, Any]:
    height, width = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    labels = draw(st.lists(st.sampled_from([0, 1, 2, 255]), min_size=height * width, max_size=height * width))
    runs = [number for label in labels for number in (label, 1)]
    return dict(QUESTIONS["mask"].kept({}, {"height": height, "width": width, "runs": runs}, CLASSES))


PLACES = st.integers(0, 5000)
MARKS = st.lists(
    st.fixed_dictionaries({"x": PLACES, "y": PLACES, "kind": st.sampled_from(["missing", "extra", "class", "border"])}),
    max_size=4,
)
ITEM = st.sampled_from(sorted(ITEMS))
SAID = st.one_of(
    st.tuples(st.just("mask"), st.fixed_dictionaries({"item": ITEM}), masks() | st.just("unfit"), st.just({})),
    st.tuples(
        st.just("mask"),
        st.fixed_dictionaries({"again": st.just(True), "item": ITEM}),
        masks(),
        st.just({"check": "7", "mask": "5"}),
    ),
    st.tuples(st.just("check"), st.fixed_dictionaries({"item": ITEM}), MARKS, st.just({"mask": "5"})),
    st.tuples(
        st.just("choice"),
        st.fixed_dictionaries(
            {"first": st.just(MODELS[0]), "item": ITEM, "same": st.just(True), "second": st.just(MODELS[1])}
        ),
        st.sampled_from(["first", "second", "same", "unfit"]),
        st.sampled_from([{"left": "first"}, {"left": "second"}]),
    ),
)


def response(number: int, kind: str, body: dict[str, Any], answer: Any, shown: dict[str, Any]) -> Response:
    question = Question(kind=kind, body=body)
    time = "2026-11-15T09:30:00+00:00"
    return Response(id=f"id {number}", question=question, annotator="ann", answer=answer, shown=shown, time=time)


def read(path: Path, classes: Classes = CLASSES, **options: Any) -> list[Response]:
    return list(read_responses(path, classes, ITEMS.__contains__, **options))


@pytest.mark.parametrize("ending", ENDINGS)
@given(st.lists(SAID, min_size=1, max_size=5))
@settings(max_examples=50)
def test_all_of_it_comes_back(tmp_path: Path, ending: str, said: list[tuple[str, Any, Any, Any]]) -> None:
    responses = [response(number, *one) for number, one in enumerate(said)]
    path = tmp_path / f"answers{ending}"
    assert write_responses(path, responses, CLASSES) == len(said)
    assert read(path) == responses


def large_mask() -> dict[str, Any]:
    """One that no cell holds unless it may be larger than usual."""
    runs = np.stack([np.arange(90_000) % 2, np.ones(90_000, int)], 1).reshape(-1).tolist()
    return {"height": 300, "width": 300, "runs": runs}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_large_mask_is_json_and_comes_back(tmp_path: Path, ending: str) -> None:
    said = response(1, "mask", {"item": "a.jpg"}, large_mask(), {})
    path = tmp_path / f"answers{ending}"
    write_responses(path, [said], CLASSES)
    assert read(path) == [said]
    if ending == ".parquet":
        assert json.loads(pq.read_table(path)["answer"].to_pylist()[0]) == said.answer
    if ending == ".jsonl":
        assert json.loads(path.read_text())["answer"] == said.answer


def test_masks_and_marks_may_be_written_as_they_are(tmp_path: Path) -> None:
    mask, marks = {"height": 1, "width": 2, "runs": [0, 1, 1, 1]}, [{"x": 1, "y": 0, "kind": "class"}]
    rows = [
        {"kind": "mask", "item": "a.jpg", "annotator": "ann", "answer": mask},
        {"kind": "check", "item": "a.jpg", "annotator": "bob", "answer": marks},
        {"kind": "check", "item": "b.jpg", "annotator": "bob", "answer": []},
    ]
    path = tmp_path / "answers.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    assert [one.answer for one in read(path)] == [mask, marks, []]


def test_of_a_choice_with_an_item_the_other_two_are_models(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("item,first,second,annotator,answer\na.jpg,one,two,ann,second\nb.jpg,one,two,ann,unfit\n")
    assert [(one.question.kind, one.question.body, one.answer) for one in read(path)] == [
        ("choice", {"item": "a.jpg", "first": "one", "second": "two"}, "second"),
        ("choice", {"item": "b.jpg", "first": "one", "second": "two"}, "unfit"),
    ]
    path.write_text("item,first,second,annotator,answer\nc.jpg,one,two,ann,second\n")
    with pytest.raises(JudgementError, match=r"item 'c\.jpg' is not in the pool"):
        read(path)
    path.write_text("kind,first,second,annotator,answer\nchoice,one,two,ann,second\n")
    with pytest.raises(JudgementError, match="item 'one' is not in the pool"):
        read(path)


@pytest.mark.parametrize(
    ("kind", "answer", "complaint"),
    [
        ("mask", "drawn", "must be a mask"),
        ("mask", {"height": 1, "width": 2, "runs": [0, 1]}, "do not add up to its"),
        ("check", "nothing", "is not a list"),
        ("check", [{"x": 0, "y": 0, "kind": "ugly"}], "the kind of a mark"),
    ],
)
def test_what_is_none_is_refused_with_its_row(tmp_path: Path, kind: str, answer: Any, complaint: str) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text(json.dumps({"kind": kind, "item": "a.jpg", "annotator": "ann", "answer": answer}))
    with pytest.raises(JudgementError, match=rf"row 1: .*{complaint}"):
        read(path)


@pytest.mark.parametrize("format", ["coco", "label-studio"])
@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        (
            drew(1, "a.jpg", SMALL),
            "kind 'mask' have no counterpart in .*: export them as .jsonl or with --format labelme",
        ),
        (
            checked(1, "a.jpg"),
            "kind 'check' have no counterpart in .*: export them as .jsonl or with --format labelme",
        ),
        (
            response(1, "choice", {"item": "a.jpg", "first": "m1", "second": "m2"}, "first", {}),
            "kind 'choice' between predictions have no counterpart in .*: export them as .jsonl$",
        ),
    ],
)
def test_other_tools_have_no_masks(tmp_path: Path, format: str, said: Response, complaint: str) -> None:
    with pytest.raises(JudgementError, match=complaint):
        write_responses(tmp_path / "a.json", [said], MANY, format)
    assert list(tmp_path.iterdir()) == []


def test_cocos_annotations_are_no_masks(tmp_path: Path) -> None:
    content = {
        "images": [{"id": 1, "file_name": "a.jpg"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": [[0, 0, 3, 0, 3, 3]]}],
    }
    path = tmp_path / "a.json"
    path.write_text(json.dumps(content))
    with pytest.raises(JudgementError, match="annotation 1: COCO annotations say what an image contains, not where"):
        read(path, MANY, format="coco", task="masks")
    assert [one.answer for one in read(path, MANY, format="coco", task="labels")] == ["yes"]
