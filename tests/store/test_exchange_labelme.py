from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from exchange_cases import CLASSES, by_id, damaged, everything, jsons, read_or_refuse, several
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import JudgementError
from dissensus.records import Question, Response
from dissensus.store.exchange import read_responses, write_responses

KINDS = ("contains", "pick", "label")


def said(number: int, item: str, label: int, answer: str) -> Response:
    question = Question(kind="contains", body={"item": item, "label": label})
    return Response(id=str(number), question=question, annotator="ann", answer=answer, time="2026-11-15T09:30:00+00:00")


def labelme(**changes: Any) -> dict[str, Any]:
    """A file as LabelMe writes it."""
    content = {
        "version": "5.5.0",
        "flags": {"one": True, "zero": False},
        "shapes": [{"label": "one", "points": [[1, 2], [3, 4]], "shape_type": "rectangle", "flags": {}}],
        "imagePath": "..\\photos\\a.jpg",
        "imageData": None,
        "imageHeight": 3,
        "imageWidth": 4,
    }
    return content | changes


def read_all(path: Path, items: Any = everything, **options: str) -> list[Response]:
    return list(read_responses(path, CLASSES, items, **options))


@pytest.mark.parametrize("ending", ["", ".zip"])
@given(several(KINDS).filter(bool))  # a folder without answers is refused
@settings(max_examples=50)
def test_every_field_comes_back(tmp_path_factory: Any, ending: str, answers: list[Response]) -> None:
    path = tmp_path_factory.mktemp("labelme") / f"answers{ending}"
    assert write_responses(path, answers, CLASSES, "labelme") == len(answers)
    assert by_id(read_all(path)) == by_id(answers)
    assert [other.name for other in path.parent.iterdir()] == [path.name]


def test_a_file_is_one_that_labelme_opens(tmp_path: Path) -> None:
    pick = Response(
        id="9",
        question=Question(kind="pick", body={"item": "b/c.jpg"}),
        annotator="a",
        answer=0,
        time="2026-11-15T09:30:00+00:00",
    )
    answers = [said(1, "b/c.jpg", 2, "no"), said(2, "b/c.jpg", 1, "unfit"), pick]
    write_responses(tmp_path / "out", answers, CLASSES, "labelme", lambda item: f"/photos/{item}")
    content = json.loads((tmp_path / "out" / "c.json").read_text(encoding="utf-8"))
    assert content["flags"] == {"Königs-Pinguin, groß": False, "1": True}
    assert content["imagePath"] == "/photos/b/c.jpg"
    assert content["shapes"] == []
    assert all(content[name] is None for name in ("imageData", "imageHeight", "imageWidth"))
    assert isinstance(content["version"], str)


def test_items_of_one_name_and_names_that_are_no_file_names(tmp_path: Path) -> None:
    items = ["a.jpg", "A.png", "b/a.jpg", "../../x.jpg", "/etc/passwd", "..", "a\0b", "x" * 300, ".hidden", "é 1.jpg"]
    answers = [said(number, item, 0, "yes") for number, item in enumerate(items)]
    write_responses(tmp_path / "out", answers, CLASSES, "labelme")
    assert len(list((tmp_path / "out").iterdir())) == len(items)
    assert {path.name for path in tmp_path.rglob("*")} == {"out", *(path.name for path in (tmp_path / "out").iterdir())}
    assert by_id(read_all(tmp_path / "out")) == by_id(answers)


def test_a_folder_that_holds_somebodys_work_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "photo.json").write_text("mine")
    with pytest.raises(JudgementError, match="is not empty: name a new folder"):
        write_responses(tmp_path, [said(1, "photo.jpg", 0, "yes")], CLASSES, "labelme")
    assert (tmp_path / "photo.json").read_text() == "mine"


def test_a_choice_has_no_counterpart(tmp_path: Path) -> None:
    question = Question(kind="choice", body={"first": "a", "second": "b"})
    answer = Response(id="1", question=question, annotator="ann", answer="first", time="2026-11-15T09:30:00+00:00")
    with pytest.raises(JudgementError, match="'choice' have no counterpart in LabelMe"):
        write_responses(tmp_path / "out", [answer], CLASSES, "labelme")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a.json", "folder", "files.zip"])
def test_files_of_labelme_itself(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    file = path / "deep" / "a.json" if name == "folder" else tmp_path / "a.json"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(labelme()))
    os.utime(file, (1_700_000_000, 1_700_000_000))
    if name == "files.zip":
        with zipfile.ZipFile(path, "w") as archive:
            archive.write(file, "deep/a.json")
            archive.writestr("__MACOSX/deep/._a.json", b"\0")
            archive.writestr("deep/a.jpg", b"no json")
        os.utime(path, (1_700_000_000, 1_700_000_000))
    found = read_all(path, {"a.jpg"}.__contains__)
    assert [(r.question.body["item"], r.question.body["label"], r.answer) for r in found] == [
        ("a.jpg", 0, "yes"),
        ("a.jpg", 1, "no"),
    ]
    assert {r.annotator for r in found} == {"labelme"}
    assert {r.time for r in found} == {"2023-11-14T22:13:20+00:00"}
    assert {r.annotator for r in read_all(path, annotator="bob")} == {"bob"}
    assert [r.id for r in read_all(path, {"a.jpg"}.__contains__)] == [r.id for r in found]


def test_a_flag_that_somebody_changed_is_a_further_answer(tmp_path: Path) -> None:
    answers = [said(1, "a.jpg", 0, "yes"), said(2, "a.jpg", 1, "no")]
    write_responses(tmp_path / "out", answers, CLASSES, "labelme")
    file = tmp_path / "out" / "a.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    content["flags"] |= {"1": False, "king": True}
    file.write_text(json.dumps(content))
    found = read_all(tmp_path / "out", annotator="bob")
    assert found[:2] == answers
    assert [(r.question.body["label"], r.answer, r.annotator) for r in found[2:]] == [
        (0, "no", "bob"),
        (2, "yes", "bob"),
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ([], "it is not a JSON object"),
        ({"version": "5"}, "is not a LabelMe file"),
        (labelme(flags=[1]), "flags is not a JSON object"),
        (labelme(flags={"one": 1}), "the flag 'one' must be true or false"),
        (labelme(flags={"yeti": True}), "no such class 'yeti'"),
        (labelme(imagePath=None), "does not say which image it is about"),
        (labelme(imagePath="elsewhere.jpg"), "item 'elsewhere.jpg' is not in the pool"),
        (labelme(dissensus=[]), "dissensus is not a JSON object"),
        (labelme(dissensus={"answers": [{"answer": "yes"}]}), "answer 1: item is missing"),
        (labelme(dissensus={"item": ["a.jpg"], "flags": {}}), "is not in the pool"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, content: Any, complaint: str) -> None:
    (tmp_path / "a.json").write_text(json.dumps(content))
    with pytest.raises(JudgementError) as refused:
        read_all(tmp_path / "a.json", {"a.jpg"}.__contains__, format="labelme")
    assert str(tmp_path / "a.json") in str(refused.value)
    assert complaint in str(refused.value)


def test_a_damaged_or_enormous_zip_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_responses(tmp_path / "a.zip", [said(1, "a.jpg", 0, "yes")], CLASSES, "labelme")
    whole = (tmp_path / "a.zip").read_bytes()
    (tmp_path / "a.zip").write_bytes(whole[:-30])
    assert read_or_refuse(tmp_path / "a.zip") is None
    (tmp_path / "a.zip").write_bytes(whole[:60] + b"\xff\xff\xff\xff" + whole[64:])
    assert read_or_refuse(tmp_path / "a.zip") is None
    monkeypatch.setattr("dissensus.store.exchange.files.LARGEST_MEMBER", 50)
    (tmp_path / "a.zip").write_bytes(whole)
    with pytest.raises(JudgementError, match="is larger than"):
        read_all(tmp_path / "a.zip")


@given(st.data())
@settings(max_examples=150)
def test_any_document_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    good = data.draw(
        st.just(labelme()) | st.just(labelme(dissensus={"item": "a", "flags": {"one": True}, "answers": []}))
    )
    (tmp_path / "a.json").write_text(json.dumps(data.draw(damaged(good) | jsons)))
    read_or_refuse(tmp_path / "a.json", "labelme")


@given(st.data())
@settings(max_examples=60)
def test_any_damage_to_our_fields_is_read_or_refused(tmp_path_factory: Any, data: st.DataObject) -> None:
    folder = tmp_path_factory.mktemp("damaged") / "out"
    answers = data.draw(several(KINDS)) or [said(1, "a.jpg", 0, "yes")]
    write_responses(folder, answers, CLASSES, "labelme")
    for file in folder.iterdir():
        content = json.loads(file.read_text(encoding="utf-8"))
        content["dissensus"] = data.draw(damaged(content["dissensus"]))
        file.write_text(json.dumps(content))
    read_or_refuse(folder)
