"""Masks go to LabelMe and come back; what somebody changed there is a further answer."""

from __future__ import annotations

import base64
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from labelme_cases import labelme, read_all, shape, stored
from mask_cases import MANY, SMALL, answer, checked, drew, every_label, label_maps, labels
from PIL import Image

from dissensus.errors import JudgementError
from dissensus.records import VOID, Classes, Question, Response
from dissensus.store.exchange import write_responses

FULL_OF_WORDS = Classes(("background", "__ignore__", "_ignore_", "_background_", "void"))


@pytest.mark.parametrize("ending", ["", ".zip"])
@given(st.lists(label_maps | every_label | st.just("unfit"), min_size=1, max_size=3))
@settings(max_examples=40)
def test_every_field_comes_back(tmp_path_factory: Any, ending: str, maps: list[Any]) -> None:
    path = tmp_path_factory.mktemp("labelme") / f"masks{ending}"
    answers = [drew(number, f"{number % 2}.jpg", one, f"p{number}") for number, one in enumerate(maps)]
    answers += [checked(10, "0.jpg"), drew(11, "0.jpg", SMALL, again=True, seconds=3.5, comment="so?", ticket="t")]
    assert write_responses(path, answers, MANY, "labelme") == len(answers)
    for task in ("masks", "labels", None):
        found = read_all(path, task=task)
        assert sorted(found, key=lambda one: int(one.id)) == answers


@given(label_maps | every_label)
@settings(max_examples=80)
def test_shapes_alone_make_the_same_mask(tmp_path_factory: Any, labels_drawn: np.ndarray) -> None:
    """Without our own fields, as another tool would read them."""
    path = tmp_path_factory.mktemp("labelme")
    write_responses(path / "out", [drew(1, "a.jpg", labels_drawn)], MANY, "labelme")
    content = json.loads((path / "out" / "a.json").read_text(encoding="utf-8"))
    del content["dissensus"]
    (found,) = read_all(stored(path / "a.json", content))
    assert found.answer == answer(labels_drawn)
    assert (found.question, found.annotator) == (Question(kind="mask", body={"item": "a.jpg"}), "labelme")


@given(label_maps)
@settings(max_examples=60)
def test_a_shape_is_a_box_of_bits_for_every_class(tmp_path_factory: Any, labels_drawn: np.ndarray) -> None:
    """Read as LabelMe reads it: the bits fill the box, whose corners belong to it."""
    path = tmp_path_factory.mktemp("labelme") / "out"
    write_responses(path, [drew(1, "a.jpg", labels_drawn)], MANY, "labelme")
    content = json.loads((path / "a.json").read_text(encoding="utf-8"))
    height, width = content["imageHeight"], content["imageWidth"]
    seen = [[0] * width for _ in range(height)]
    for one in content["shapes"]:
        (left, top), (right, bottom) = one["points"]
        with Image.open(io.BytesIO(base64.b64decode(one["mask"]))) as mask:
            assert (mask.mode, mask.size) == ("L", (right - left + 1, bottom - top + 1))
            for y, x in zip(*np.nonzero(np.array(mask)), strict=True):
                label = VOID if one["label"] == "__ignore__" else MANY.names.index(one["label"])
                seen[int(top) + y][int(left) + x] = label
        assert (one["shape_type"], one["group_id"], one["flags"]) == ("mask", None, {})
    assert seen == labels_drawn.tolist()
    assert len({one["label"] for one in content["shapes"]}) == len(content["shapes"])


def test_a_class_comes_before_the_words_for_ignore(tmp_path: Path) -> None:
    path = stored(tmp_path / "a.json", labelme(shape("void", [[0, 0], [7, 5]], "rectangle")))
    assert read_all(path, FULL_OF_WORDS)[0].answer["runs"] == [4, 48]
    names = Classes(FULL_OF_WORDS.names[:4])
    write_responses(tmp_path / "out", [drew(1, "b.jpg", np.array([[3, 1, 255]], np.uint8))], names, "labelme")
    content = json.loads((tmp_path / "out" / "b.json").read_text(encoding="utf-8"))
    assert [one["label"] for one in content["shapes"]] == ["__ignore__", "_background_", "void"]
    del content["dissensus"]
    assert read_all(stored(tmp_path / "b.json", content), names)[0].answer["runs"] == [3, 1, 1, 1, 255, 1]
    with pytest.raises(JudgementError, match="LabelMe's words for 'ignore' are names of classes: rename one"):
        write_responses(tmp_path / "no", [drew(1, "b.jpg", SMALL[1:, :1])], FULL_OF_WORDS, "labelme")
    assert not (tmp_path / "no").exists()


def exported(tmp_path: Path, *answers: Response) -> tuple[Path, dict[str, Any]]:
    """One image, written for LabelMe and about to be changed there."""
    write_responses(tmp_path / "out", answers, MANY, "labelme")
    (file,) = (tmp_path / "out").iterdir()
    return file, json.loads(file.read_text(encoding="utf-8"))


def test_what_labelme_saves_without_a_change_is_no_further_answer(tmp_path: Path) -> None:
    """LabelMe writes its own version, whole numbers as floats or not, and packs bits anew."""
    before = drew(1, "a.jpg", SMALL)
    file, content = exported(tmp_path, before)
    for one in content["shapes"]:
        one["points"] = [[int(x), int(y)] for x, y in one["points"]]
        with Image.open(io.BytesIO(base64.b64decode(one["mask"]))) as mask:
            packed = io.BytesIO()
            mask.save(packed, "PNG", compress_level=0)
        one["mask"] = base64.b64encode(packed.getvalue()).decode()
    stored(file, content | {"version": "5.8.1", "imageData": "abcd", "flags": {"blurred": False}})
    assert read_all(file) == [before]


@pytest.mark.parametrize("again", [False, True])
def test_shapes_that_somebody_changed_are_a_further_answer(tmp_path: Path, again: bool) -> None:
    answers = [drew(1, "a.jpg", SMALL), checked(2, "a.jpg"), drew(3, "a.jpg", SMALL, "eva", again=again)]
    file, content = exported(tmp_path, *answers)
    content["shapes"].append(shape("class 9", [[0, 0], [0, 1]], "rectangle"))
    found = read_all(stored(file, content), annotator="bob")
    assert found[:3] == answers
    assert [(one.annotator, labels(one.answer)) for one in found[3:]] == [("bob", [[9, 1, 1], [9, 2, 1]])]
    assert found[3].question == answers[2].question
    assert read_all(file, annotator="bob")[3].id == found[3].id
    assert read_all(file, task="labels") == answers
    content["shapes"] = []
    assert labels(read_all(stored(file, content))[3].answer) == [[0, 0, 0], [0, 0, 0]]


def test_unfit_is_a_flag(tmp_path: Path) -> None:
    answers = [drew(1, "a.jpg", SMALL), drew(2, "a.jpg", "unfit")]
    file, content = exported(tmp_path, *answers)
    assert (content["flags"], content["shapes"], content["imageHeight"]) == ({"unfit": True}, [], None)
    assert read_all(file) == answers
    changed = content | {"flags": {"unfit": False}, "imageHeight": 2, "imageWidth": 3}
    changed["shapes"] = [shape("cat", [[0, 0], [2, 0]], "rectangle")]
    assert [labels(one.answer) for one in read_all(stored(file, changed))[2:]] == [[[1, 1, 1], [0, 0, 0]]]
    other = labelme(shape("cat", [[0, 0], [2, 0]], "rectangle"), flags={"unfit": True, "cat": False})
    assert [one.answer for one in read_all(stored(tmp_path / "b.json", other))] == ["unfit"]


def test_what_was_only_checked_or_drawn_to_learn_has_no_shapes(tmp_path: Path) -> None:
    answers = [checked(1, "a.jpg"), drew(2, "a.jpg", SMALL, role="training")]
    file, content = exported(tmp_path, *answers)
    assert (content["shapes"], content["imageHeight"], "drawn" in content["dissensus"]) == ([], None, False)
    assert read_all(stored(file, content | {"imageHeight": 2, "imageWidth": 3})) == answers


def test_flags_belong_to_studies_of_labels_and_shapes_to_studies_of_masks(tmp_path: Path) -> None:
    content = labelme(shape("cat", [[0, 0], [7, 5]], "rectangle"), flags={"dog": True, "cat": False})
    path = stored(tmp_path / "a.json", content)
    assert [(one.question.kind, one.answer) for one in read_all(path, task="labels")] == [
        ("contains", "yes"),
        ("contains", "no"),
    ]
    assert [one.question.kind for one in read_all(path)] == ["mask"]
    unread = stored(tmp_path / "b.json", labelme(shape("yeti", [], "line"), imageHeight=None))
    assert read_all(unread, task="labels") == []
