from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from exchange_cases import CLASSES, damaged, everything, jsons, read_or_refuse, several
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import Classes, Question, Response
from dissensus.store.exchange import ENDINGS, FORMATS, read_responses, safe_cell, write_responses
from dissensus.store.exchange.rows import FORMULA, plain_cell

SAID = Response(
    id="1",
    question=Question(kind="pick", body={"item": "a.jpg", "options": [0, 2]}),
    annotator="ann",
    answer=2,
    role="repeat",
    seconds=2.5,
    comment="=HYPERLINK(1)",
    time="2026-11-15T09:30:00+00:00",
)


def read_all(path: Path, **options: str) -> list[Response]:
    return list(read_responses(path, CLASSES, everything, **options))


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("ending", ENDINGS)
@given(several(("contains", "choice", "pick", "label", "slider", "rating")))
@settings(max_examples=60)
def test_every_field_of_every_kind_comes_back(tmp_path: Path, ending: str, said: list[Response]) -> None:
    path = tmp_path / f"answers{ending}"
    assert write_responses(path, said, CLASSES) == len(said)
    assert read_all(path) == said


@given(st.text(max_size=5) | st.text("'=+-@\t a", max_size=5))
def test_a_cell_is_safe_in_a_spreadsheet_and_comes_back(text: str) -> None:
    assert plain_cell(safe_cell(text)) == text
    assert safe_cell(text)[:1] not in list("=+-@\t\r\n＝＋－＠")
    assert safe_cell(text) == text or FORMULA.match(text)


def test_no_cell_of_an_exported_csv_is_a_formula(tmp_path: Path) -> None:
    said = SAID.model_copy(update={"id": "-1", "annotator": "@ann", "ticket": "+1"})
    write_responses(tmp_path / "a.csv", [said], CLASSES)
    header, row = csv.reader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines())
    cells = dict(zip(header, row, strict=True))
    assert (cells["comment"], cells["id"], cells["annotator"], cells["ticket"]) == (
        "'=HYPERLINK(1)",
        "'-1",
        "'@ann",
        "'+1",
    )
    assert read_all(tmp_path / "a.csv") == [said]


def test_numbers_of_a_slider_are_numbers_in_a_spreadsheet(tmp_path: Path) -> None:
    body = {"first": "a", "second": "b"}
    said = [
        SAID.model_copy(update={"question": Question(kind="slider", body=body), "answer": answer, "id": str(answer)})
        for answer in (-63, 0, 100, -0.5, "unfit")
    ]
    write_responses(tmp_path / "a.csv", said, CLASSES)
    rows = list(csv.DictReader((tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()))
    assert [row["answer"] for row in rows] == ["-63", "0", "100", "-0.5", "unfit"]
    assert read_all(tmp_path / "a.csv") == said


def test_a_slider_that_was_not_moved_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("kind,first,second,annotator,answer\nslider,a,b,ann,\n")
    assert read_all(tmp_path / "a.csv") == []


@pytest.mark.parametrize("answer", ["101", "-100.5", "left", "nan", "1e4"])
def test_what_no_slider_says_is_refused(tmp_path: Path, answer: str) -> None:
    (tmp_path / "a.csv").write_text(f"kind,first,second,annotator,answer\nslider,a,b,ann,{answer}\n")
    with pytest.raises(JudgementError, match=r"row 2: .* must be a number from −100 to 100"):
        read_all(tmp_path / "a.csv")


@pytest.mark.parametrize("body", [{"first": "a", "second": "b"}, {"item": "a"}], ids=["slider", "rating"])
@pytest.mark.parametrize("format", ["label-studio", "labelme", "coco"])
def test_a_scale_has_no_counterpart_in_other_tools(tmp_path: Path, format: str, body: dict[str, str]) -> None:
    kind = "rating" if "item" in body else "slider"
    said = SAID.model_copy(update={"question": Question(kind=kind, body=body), "answer": 5})
    with pytest.raises(JudgementError, match="no counterpart"):
        write_responses(tmp_path / "out", [said], CLASSES, format)


def test_classes_go_by_name_so_that_another_order_of_them_does_no_harm(tmp_path: Path) -> None:
    write_responses(tmp_path / "a.jsonl", [SAID], CLASSES)
    turned = Classes(CLASSES.names[::-1])
    (found,) = read_responses(tmp_path / "a.jsonl", turned, everything)
    assert (found.answer, found.question.body["options"]) == (0, [0, 2])


def test_the_kind_of_a_pair_follows_from_its_answer_unless_said(tmp_path: Path) -> None:
    for answer, kind in {"-63": "slider", "first": "choice", "unfit": "slider", "0.5": "slider"}.items():
        path = write(tmp_path / "pair.csv", f"first,second,annotator,answer\na,b,ann,{answer}\n")
        assert read_all(path)[0].question.kind == kind


@pytest.mark.parametrize(
    "text",
    [
        "item,rating,annotator\na,62.5,ann\n",
        "item;rating;annotator;kind\na;62.5;ann;\n",
        "kind,item,annotator,answer\nrating,a,ann,62.5\n",
        "item,answer,annotator\na,62.5,ann\n",
    ],
)
def test_ratings_are_a_column_of_answers_under_either_name(tmp_path: Path, text: str) -> None:
    (found,) = read_responses(write(tmp_path / "a.csv", text), CLASSES, everything, task="scores")
    assert (found.question.kind, found.question.body, found.answer) == ("rating", {"item": "a"}, 62.5)


def test_a_line_with_a_rating_needs_no_kind_and_a_number_without_a_label_is_none_elsewhere(tmp_path: Path) -> None:
    row = '{"item": "a", "annotator": "ann", "rating": 40}\n{"item": "b", "annotator": "ann", "rating": null}\n'
    (found,) = read_all(write(tmp_path / "a.jsonl", row))
    assert (found.question.kind, found.answer) == ("rating", 40)
    with pytest.raises(JudgementError, match="label is missing"):
        read_all(write(tmp_path / "b.jsonl", row.replace("rating", "answer")))


def test_a_class_that_is_called_like_no_answer_is_told_apart(tmp_path: Path) -> None:
    classes = Classes(("Cannot tell", "dog"), ids=("c1", "d1"))
    said = [
        SAID.model_copy(update={"question": Question(kind="pick", body={"item": "a"}), "answer": a, "id": str(a)})
        for a in (0, 1, None)
    ]
    write_responses(tmp_path / "a.csv", said, classes)
    assert list(read_responses(tmp_path / "a.csv", classes, everything)) == said


def test_parquet_holds_seconds_as_numbers_and_gaps_as_gaps(tmp_path: Path) -> None:
    write_responses(tmp_path / "a.parquet", [SAID, SAID.model_copy(update={"seconds": None, "id": "2"})], CLASSES)
    table = pq.read_table(tmp_path / "a.parquet")
    assert table["seconds"].to_pylist() == [2.5, None]
    assert table["ticket"].null_count == 2


MTURK = (
    '"HITId","AssignmentId","WorkerId","AssignmentStatus","SubmitTime","WorkTimeInSeconds","Input.item","Input.label",'
    '"Input.annotator","Input.answer","Answer.answer","Approve"\n'
    '"3X","3Y","A1","Approved","Sat Nov 14 09:30:00 PST 2026","12","a.jpg","king","","","yes",""\n'
    '"3X","3Z","A2","Rejected","Sat Nov 14 09:31:00 PST 2026","1","a.jpg","king","","","no",""\n'
)


def test_results_of_mechanical_turk(tmp_path: Path) -> None:
    (found,) = read_all(write(tmp_path / "Batch_1.csv", MTURK))
    assert found.question.body == {"item": "a.jpg", "label": 2}
    assert (found.annotator, found.answer, found.seconds) == ("A1", "yes", 12.0)
    assert found.time == "2026-11-14T17:30:00+00:00"
    (labelled,) = read_all(write(tmp_path / "b.csv", MTURK.replace('"Answer.answer"', '"Answer.answer.label"')))
    assert labelled.answer == "yes"


def test_radio_buttons_of_mechanical_turk(tmp_path: Path) -> None:
    header = "WorkerId,Input.item,Input.label,Answer.answer.yes,Answer.answer.no,Answer.answer.unsure\n"
    rows = "A1,a.jpg,one,false,true,false\nA2,a.jpg,one,false,false,false\n"
    (found,) = read_all(write(tmp_path / "a.csv", header + rows))
    assert (found.annotator, found.answer) == ("A1", "no")
    with pytest.raises(JudgementError, match="row 2: invalid answer 'yes and no': it must be one of"):
        read_all(write(tmp_path / "b.csv", header + "A1,a.jpg,one,true,true,false\n"))


@pytest.mark.parametrize("name", ["pool_1.tsv", "pool_1.csv"])
def test_results_of_toloka(tmp_path: Path, name: str) -> None:
    names = ["INPUT:item", "INPUT:label", "OUTPUT:answer", "GOLDEN:answer", "ASSIGNMENT:worker_id", "ASSIGNMENT:status"]
    header = "\t".join([*names, "ASSIGNMENT:submitted"]) + "\n"
    asked = "a.jpg\tone\tyes\t\tw1\tAPPROVED\t2026-11-15T09:30:00.123\n"
    control = "b.jpg\tone\tno\tno\tw1\tAPPROVED\t2026-11-15T09:31:00\n"
    first, second = read_all(write(tmp_path / name, header + asked + control))
    assert (first.annotator, first.answer, first.role, first.time) == (
        "w1",
        "yes",
        "asked",
        "2026-11-15T09:30:00.123000+00:00",
    )
    assert second.role == "control"


@pytest.mark.parametrize("person", ["PROLIFIC_PID", "participant_id"])
def test_people_of_prolific(tmp_path: Path, person: str) -> None:
    (found,) = read_all(write(tmp_path / "a.csv", f"item,label,answer,{person}\na.jpg,one,yes,5f\n"))
    assert found.annotator == "5f"


def test_pairs_of_a_platform(tmp_path: Path) -> None:
    text = "Input.first,Input.second,WorkerId,Answer.answer\na.jpg,b.jpg,A1,second\na.jpg,b.jpg,A2,left\n"
    first, second = read_all(write(tmp_path / "a.csv", text))
    assert first.question == Question(kind="choice", body={"first": "a.jpg", "second": "b.jpg"})
    assert (first.answer, second.answer) == ("second", "first")


def test_a_table_of_label_studio_whose_ids_are_those_of_tasks(tmp_path: Path) -> None:
    text = (
        "annotation_id,annotator,answer,created_at,id,item,label,lead_time,updated_at\n"
        "1,ann@x.org,yes,2026-11-15T09:30:00Z,7,a.jpg,one,2.5,2026-11-15T09:30:01Z\n"
        "2,bob@x.org,no,2026-11-15T09:30:00Z,7,a.jpg,one,2.5,2026-11-15T09:30:02Z\n"
    )
    first, second = read_all(write(tmp_path / "a.csv", text))
    assert first.id != second.id
    assert (first.annotator, first.seconds, first.time) == ("ann@x.org", 2.5, "2026-11-15T09:30:01+00:00")


def test_a_csv_may_be_separated_by_semicolons(tmp_path: Path) -> None:
    (found,) = read_all(write(tmp_path / "a.csv", "item;label;annotator;answer\na.jpg;one;ann;maybe\n"))
    assert found.answer == "unsure"


def test_the_annotator_may_be_said_beside_the_file(tmp_path: Path) -> None:
    (found,) = read_all(write(tmp_path / "a.csv", "item,label,answer\na.jpg,one,yes\n"), annotator="ann")
    assert found.annotator == "ann"
    rows = "item,label,annotator,answer\na.jpg,one,,yes\na.jpg,one,bob,yes\n"
    assert [r.annotator for r in read_all(write(tmp_path / "b.csv", rows), annotator="ann")] == ["ann", "bob"]


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"kind": "essay"}, "unknown kind of question 'essay'"),
        ({"question": "{"}, "question is not valid JSON"),
        ({"question": [1]}, "question is not a JSON object"),
        ({"question": {"item": "a", "colour": 1}}, "the question has an unknown field 'colour'"),
        ({"question": {"ask": "what?"}}, "the question has no item"),
        ({"question": {"item": ["a"]}}, "the question has no item"),
        ({"question": {"item": "a", "options": [1]}}, "'options' must be a list of at least two"),
        ({"question": {"item": "a", "options": [1, {}]}}, "{} is not a class"),
        ({"question": {"item": "a", "options": ["1", "0"]}}, "is not one of the options"),
        ({"question": {"item": "a", "ask": 3}}, "'ask' must be text"),
        ({"answer": "yeti"}, "no such class 'yeti'"),
        ({"answer": "9" * 5000}, "no such class"),
        ({"answer": [[]]}, "[[]] is not a class"),
        ({"role": "spectator"}, "unknown role 'spectator': choose one of asked, control, repeat, training"),
        ({"role": ["asked"]}, "unknown role"),
        ({"shown": "left"}, "shown is not valid JSON"),
        ({"shown": [1]}, "shown is not a JSON object"),
        ({"shown": {"a": "\ud800"}}, "half of a surrogate pair"),
        ({"comment": "\ud800"}, "half of a surrogate pair"),
        ({"seconds": -1}, "seconds is '-1'"),
        ({"seconds": "soon"}, "seconds is 'soon'"),
        ({"seconds": True}, "seconds is 'True'"),
        ({"seconds": [1]}, "seconds is '[1]'"),
        ({"annotator": None}, "annotator is missing"),
        ({"time": "Sat Nov 34 09:30:00 PST 2026"}, "invalid time 'Sat Nov 34"),
        ({"time": [1]}, "invalid time '[1]'"),
        ({"time": []}, "invalid time '[]'"),
        ({"time": {}}, "invalid time '{}'"),
        ({"time": 0}, "invalid time '0'"),
        ({"time": False}, "invalid time 'False'"),
        ({"time": 20261115}, "invalid time '20261115'"),
        ({"time": "Sat Jan 01 00:00:00 PST 0001"}, "invalid time 'Sat Jan 01"),
        ({"seconds": 1e308}, "seconds is '1e+308'"),
        ({"seconds": 10_000_001}, "seconds is '10000001'"),
    ],
)
def test_a_bad_field_is_named(tmp_path: Path, change: dict[str, object], complaint: str) -> None:
    write_responses(tmp_path / "a.jsonl", [SAID], CLASSES)
    row = json.loads((tmp_path / "a.jsonl").read_text()) | change
    path = write(tmp_path / "a.jsonl", json.dumps(row))
    with pytest.raises(JudgementError) as refused:
        read_all(path)
    assert str(refused.value).startswith(f"{path}, row 1: ")
    assert complaint in str(refused.value)


def test_what_is_too_deep_is_refused(tmp_path: Path) -> None:
    row = '{"item": "a", "label": "one", "annotator": "ann", "answer": %s, "shown": {"a": %s}}'
    for answer, shown in (("[" * 200_000, "1"), ('"yes"', "[" * 50 + "]" * 50), ("[" * 900 + "]" * 900, "1")):
        with pytest.raises(JudgementError, match="row 1"):
            read_all(write(tmp_path / "a.jsonl", row % (answer, shown)))


def test_formats_are_told_apart_and_unknown_ones_refused(tmp_path: Path) -> None:
    with pytest.raises(JudgementError, match="no such format 'xml'; choose one of rows, label-studio, labelme, coco"):
        read_all(write(tmp_path / "a.json", "[]"), format="xml")
    with pytest.raises(JudgementError, match="no such file"):
        read_all(tmp_path / "nowhere.csv")
    with pytest.raises(JudgementError, match="give --format label-studio or labelme or coco"):
        write_responses(tmp_path / "a2.json", [], CLASSES)
    with pytest.raises(JudgementError, match="is not a Label Studio, LabelMe or COCO file"):
        read_all(write(tmp_path / "b.json", "{}"))
    for name in FORMATS.keys() - {"png"}:  # which holds masks and nothing else
        target = tmp_path / (
            f"{name}.csv" if name == "rows" else f"{name}.zip" if name == "labelme" else f"{name}.json"
        )
        assert write_responses(target, [SAID], CLASSES, name) == 1
        assert read_all(target) == [SAID], name


@given(st.binary(max_size=60) | st.text(max_size=60).map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=60)
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    for ending in (*ENDINGS, ".tsv", ".json", ".zip"):
        path = tmp_path / f"any{ending}"
        path.write_bytes(content)
        read_or_refuse(path)
        if ending == ".csv":
            path.write_bytes(b"item,label,annotator,answer,time,id,kind,question,role,shown,seconds\n" + content)
            read_or_refuse(path)


@given(st.data())
@settings(max_examples=150)
def test_any_lines_are_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    write_responses(tmp_path / "good.jsonl", data.draw(several()) or [SAID], CLASSES)
    rows = [json.loads(line) for line in (tmp_path / "good.jsonl").read_text(encoding="utf-8").split("\n") if line]
    path = tmp_path / "bad.jsonl"
    write(path, "\n".join(json.dumps(data.draw(damaged(row) | jsons)) for row in rows))
    read_or_refuse(path)
