"""Files that could be read in two ways, or of which a part is lost: refused, where a lenient reader would guess."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from exchange_cases import CLASSES, everything
from mask_cases import MANY, drew

from dissensus.errors import JudgementError
from dissensus.records import Question, Response
from dissensus.store.answers import AnswerLog
from dissensus.store.exchange import read_responses, write_responses

ROW = '"item": "a.jpg", "label": "one", "annotator": "ann"'
COCO: dict[str, Any] = {
    "images": [{"id": 1, "file_name": "a.jpg"}],
    "categories": [{"id": 1, "name": "one"}],
    "annotations": [{"image_id": 1, "category_id": 1}],
}


def refused(path: Path, format: str | None = None) -> str:
    with pytest.raises(JudgementError) as error:
        list(read_responses(path, CLASSES, everything, format))
    assert "\n" not in str(error.value)
    return str(error.value)


def said(number: int, item: str) -> Response:
    question = Question(kind="contains", body={"item": item, "label": 0})
    return Response(id=str(number), question=question, annotator="ann", answer="yes", time="2026-11-15T09:30:00+00:00")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", f'{{{ROW}, "answer": "yes", "answer": "no"}}'),
        ("a.csv", 'kind,question,annotator,answer\npick,"{""item"": ""a"", ""item"": ""b""}",ann,one\n'),
        ("a.json", '[{"data": {"item": "a", "item": "b"}}]'),
    ],
)
def test_a_key_that_occurs_twice_is_refused(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content)
    assert "valid JSON" in refused(tmp_path / name)


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ('a.jpg,one,ann,yes,"so far', "row 3: is not valid CSV (unexpected end of data): check its quotes"),
        ('a.jpg,one,ann,yes,"so" far', "check its quotes"),
        ("a.jpg,one,ann,,yes,so far", "row 3: has 6 cells for 5 columns"),
    ],
)
def test_a_line_that_does_not_fit_is_refused(tmp_path: Path, line: str, complaint: str) -> None:
    (tmp_path / "a.csv").write_text(
        f"item,label,annotator,answer,comment\nb.jpg,one,ann,no,,,\n{line}\nb.jpg,two,ann,no,x\n"
    )
    assert complaint in refused(tmp_path / "a.csv")


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_a_column_that_occurs_twice_is_refused_if_it_is_read(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"a{ending}"
    columns = {"item": "a.jpg", "label": "one", "note": "x", "annotator": "ann", "answer": "yes"}

    def write(*more: str) -> None:
        names, cells = [*more, *columns], [*("no" for _ in more), *columns.values()]
        if ending == ".csv":
            path.write_text(f"{','.join(names)}\n{','.join(cells)}\n")
        else:
            pq.write_table(pa.Table.from_arrays([pa.array([cell]) for cell in cells], names=names), path)

    write("answer")
    assert "has two columns 'answer'" in refused(path)
    write("note")
    (one,) = read_responses(path, CLASSES, everything)
    assert (one.annotator, one.answer, one.question.body) == ("ann", "yes", {"item": "a.jpg", "label": 0})


@pytest.mark.parametrize("name", ["annotator", "id", "comment", "ticket"])
@pytest.mark.parametrize("value", [["ann"], {"a": 1}, True])
def test_a_field_that_is_not_text_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    row = {"item": "a.jpg", "label": "one", "annotator": "ann", "answer": "yes", name: value}
    (tmp_path / "a.jsonl").write_text(json.dumps(row))
    assert f"{name} is {value!r}: give it as text" in refused(tmp_path / "a.jsonl")


def test_bytes_are_not_a_name(tmp_path: Path) -> None:
    columns = {"item": ["a.jpg"], "label": ["one"], "annotator": [b"ann"], "answer": ["yes"]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert "annotator is b'ann'" in refused(tmp_path / "a.parquet")


def test_seconds_are_written_as_people_write_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(f'{{{ROW}, "answer": "yes", "seconds": "1_0"}}')
    assert "seconds is '1_0'" in refused(tmp_path / "a.jsonl")


def test_no_answer_does_not_mean_cannot_tell(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"kind": "pick", "question": {"item": "a.jpg"}, "annotator": "ann"}')
    assert "answer is missing" in refused(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"images": [*COCO["images"], {"id": 1, "file_name": "b.jpg"}]}, "images 2: the id 1 is already in use"),
        ({"categories": [*COCO["categories"], {"id": 1, "name": "zero"}]}, "the id 1 is already in use"),
        ({"annotations": [{"image_id": 1, "category_id": True}]}, "an id must be a number or a string"),
        (
            {"annotations": [{"image_id": 1, "category_id": 1, "attributes": {"annotator": ["x"]}}]},
            "annotator is ['x']",
        ),
    ],
)
def test_coco_ids_stand_for_one_thing_each(tmp_path: Path, changes: dict[str, Any], complaint: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(COCO | changes))
    assert complaint in refused(tmp_path / "a.json", "coco")


def test_a_coco_annotator_may_be_a_number(tmp_path: Path) -> None:
    annotation = {"image_id": 1, "category_id": 1, "attributes": {"annotator": 7}}
    (tmp_path / "a.json").write_text(json.dumps(COCO | {"annotations": [annotation]}))
    assert [one.annotator for one in read_responses(tmp_path / "a.json", CLASSES, everything, "coco")] == ["7"]


def test_a_zip_whose_index_is_damaged_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    write_responses(path, [said(1, "a.jpg"), said(2, "b.jpg"), said(3, "c.jpg")], CLASSES, "labelme")
    whole = path.read_bytes()
    first = whole.index(b"PK\1\2")
    comment, name = first + 33, whole.index(b"a.json", first) + 3
    for place in (comment, name):  # the comment takes in the rest of the index; the name has another ending
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert "is not a readable .zip file" in refused(path)


def test_a_flipped_bit_in_an_exported_parquet_file_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    mask = drew(1, "a.jpg", {"height": 1, "width": 3, "runs": [1, 1, 2, 2]})
    write_responses(path, [mask], MANY)
    whole = path.read_bytes()
    place = whole.index(b"ann")
    path.write_bytes(whole[:place] + b"e" + whole[place + 1 :])
    with pytest.raises(JudgementError, match="cannot read"):
        list(read_responses(path, MANY, everything))


def test_a_conflict_of_ids_is_told_in_one_line(database: Any) -> None:
    one = said(1, "a\nb").model_copy(update={"id": "x\ny" * 100, "annotator": "an\rn"})
    with pytest.raises(JudgementError) as error:
        AnswerLog(database).append([one, one.model_copy(update={"answer": "no"})])
    assert len(str(error.value).splitlines()) == 1
    assert len(str(error.value)) < 500


def test_a_comment_in_label_studio_is_text(tmp_path: Path) -> None:
    choice = {"type": "choices", "from_name": "answer", "value": {"choices": ["yes"]}}
    comment = {"type": "textarea", "from_name": "comment", "value": {"text": [{"a": 1}]}}
    task = {"data": {"item": "a.jpg", "label": "one"}, "annotations": [{"result": [choice, comment]}]}
    (tmp_path / "a.json").write_text(json.dumps([task]))
    assert "task 1, annotation 1: a comment is not text" in refused(tmp_path / "a.json")
