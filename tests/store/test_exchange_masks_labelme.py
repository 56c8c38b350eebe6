from __future__ import annotations

import base64
import io
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange_cases import damaged, jsons
from hypothesis import given, settings
from hypothesis import strategies as st
from mask_cases import MANY, answer, checked, drew, every_label, label_maps, labels
from PIL import Image

from dissensus.errors import JudgementError
from dissensus.records import VOID, Classes, Question, Response
from dissensus.store.exchange import read_responses, write_responses

ITEMS = {"a.jpg", "b.jpg", "0.jpg", "1.jpg"}
SMALL = np.array([[0, 1, 1], [255, 2, 1]], np.uint8)
FULL_OF_WORDS = Classes(("background", "__ignore__", "_ignore_", "_background_", "void"))


def bits(pixels: Any) -> str:
    """A mask as LabelMe writes it: zeros and ones as a grey PNG in base64."""
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, format="PNG")
    return base64.b64encode(file.getvalue()).decode("utf-8")


def shape(label: str, points: list[list[float]], kind: str = "polygon", mask: str | None = None) -> dict[str, Any]:
    """As LabelMe 5 writes it."""
    fields = {"label": label, "points": points, "group_id": None, "description": "", "shape_type": kind, "flags": {}}
    return {**fields, "mask": mask}


def labelme(*shapes: Any, **changes: Any) -> dict[str, Any]:
    """A file as LabelMe 5 writes it, of an image 8 wide and 6 high."""
    content = {
        "version": "5.5.0",
        "flags": {},
        "shapes": [*shapes],
        "imagePath": "..\\photos\\a.jpg",
        "imageData": "/9j/4AAQSkZJRgABAQ==",
        "imageHeight": 6,
        "imageWidth": 8,
    }
    return content | changes


def stored(path: Path, content: Any) -> Path:
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def read_all(path: Path, classes: Classes = MANY, task: str | None = "masks", **options: Any) -> list[Response]:
    options = {"format": "labelme"} | options
    return list(read_responses(path, classes, ITEMS.__contains__, task=task, **options))


def drawn(tmp_path: Path, *shapes: Any, **changes: Any) -> list[list[int]]:
    (found,) = read_all(stored(tmp_path / "a.json", labelme(*shapes, **changes)))
    return labels(found.answer)


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


def test_a_file_as_labelme_writes_it(tmp_path: Path) -> None:
    content = labelme(
        shape("cat", [[1.0, 1.0], [4.0, 1.0], [4.0, 4.0], [1.0, 4.0]]),
        shape("dog", [[6.2, 5.9], [3.1, 3.0]], "rectangle"),
        shape("__ignore__", [[6.0, 1.0], [7.0, 1.0]], "circle"),
        shape("class 7", [[0.0, 4.0], [2.0, 5.0]], "mask", bits([[1, 0, 1], [0, 1, 0]])),
    )
    (found,) = read_all(stored(tmp_path / "a.json", content), annotator="bob")
    assert labels(found.answer) == [
        [0, 0, 0, 0, 0, 0, 255, 0],
        [0, 1, 1, 1, 1, 255, 255, 255],
        [0, 1, 1, 1, 1, 0, 255, 0],
        [0, 1, 1, 2, 2, 2, 2, 0],
        [7, 1, 7, 2, 2, 2, 2, 0],
        [0, 7, 0, 2, 2, 2, 2, 0],
    ]
    assert (found.question.body, found.annotator) == ({"item": "a.jpg"}, "bob")


def test_an_image_without_shapes_is_background(tmp_path: Path) -> None:
    assert drawn(tmp_path) == [[0] * 8] * 6


coordinates = st.integers(-3, 24) | st.floats(-3, 24, width=32)
places = st.tuples(coordinates, coordinates)


@given(places, places)
@settings(max_examples=80)
def test_a_rectangle_holds_the_pixels_of_both_its_corners(tmp_path_factory: Any, one: Any, other: Any) -> None:
    path = tmp_path_factory.mktemp("rectangle")
    found = drawn(path, shape("cat", [[*one], [*other]], "rectangle"), imageHeight=20, imageWidth=20)
    (left, right), (top, bottom) = (sorted(map(int, pair)) for pair in zip(one, other, strict=True))
    assert found == [[int(left <= x <= right and top <= y <= bottom) for x in range(20)] for y in range(20)]


@given(places, st.floats(0, 8, width=16), st.floats(0, 6.25))
@settings(max_examples=80)
def test_a_circle_is_round(tmp_path_factory: Any, centre: Any, radius: float, angle: float) -> None:
    """The second point lies on it; which pixels of the border belong to it is Pillow's to say, as in LabelMe."""
    (x0, y0) = centre
    path = tmp_path_factory.mktemp("circle")
    border = [x0 + radius * math.cos(angle), y0 + radius * math.sin(angle)]
    found = drawn(path, shape("cat", [[x0, y0], border], "circle"), imageHeight=20, imageWidth=20)
    for y, x in np.ndindex(20, 20):
        distance = math.hypot(x - x0, y - y0)
        assert found[y][x] or distance > radius - 1.5
        assert not found[y][x] or distance < radius + 1.5


@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 19)), min_size=3, max_size=7))
@settings(max_examples=150)
def test_a_polygon_is_filled_by_the_even_odd_rule_and_has_its_border(tmp_path_factory: Any, points: Any) -> None:
    """An independent implementation: exact but for pixels that an edge passes within one pixel, which may be either."""
    path = tmp_path_factory.mktemp("polygon")
    found = drawn(path, shape("dog", [[*point] for point in points]), imageHeight=20, imageWidth=20)
    edges = [*zip(points, points[1:] + points[:1], strict=True)]
    for y, x in np.ndindex(20, 20):
        if min(_distance(x, y, *edge) for edge in edges) > 1:
            assert bool(found[y][x]) is (sum(_crosses(x, y, *edge) for edge in edges) % 2 == 1)
    assert all(found[y][x] for x, y in points)


def _distance(x: int, y: int, start: tuple[int, int], end: tuple[int, int]) -> float:
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    along = max(0.0, min(1.0, ((x - start[0]) * dx + (y - start[1]) * dy) / length)) if length else 0.0
    return math.hypot(x - start[0] - along * dx, y - start[1] - along * dy)


def _crosses(x: int, y: int, start: tuple[int, int], end: tuple[int, int]) -> bool:
    """Whether a ray to the right crosses the edge."""
    (x0, y0), (x1, y1) = sorted((start, end), key=lambda point: point[1])
    return y0 <= y < y1 and (x0 - x) * (y1 - y0) + (y - y0) * (x1 - x0) > 0


def test_later_shapes_lie_over_earlier_ones_and_may_take_away(tmp_path: Path) -> None:
    everything, right, hole = [[0, 0], [7, 5]], [[4, 0], [7, 5]], [[5, 1], [6, 4]]
    found = drawn(
        tmp_path,
        shape("cat", everything, "rectangle"),
        shape("dog", right, "rectangle"),
        shape("background", hole, "rectangle"),
    )
    row, holed = [1, 1, 1, 1, 2, 2, 2, 2], [1, 1, 1, 1, 2, 0, 0, 2]
    assert found == [row, holed, holed, holed, holed, row]


@pytest.mark.parametrize(
    ("label", "number"),
    [("cat", 1), ("CAT", 1), ("5", 4), ("254", None), ("3", 3), ("__ignore__", 255), ("_ignore_", 255), ("Void", 255)],
)
def test_labels_go_by_name_and_numbers(tmp_path: Path, label: str, number: int | None) -> None:
    rectangle = shape(label, [[0, 0], [7, 5]], "rectangle")
    if number is None:
        with pytest.raises(JudgementError, match="shape 1: no such class '254'"):
            drawn(tmp_path, rectangle)
    else:
        assert drawn(tmp_path, rectangle) == [[number] * 8] * 6


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


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (
            labelme(shape("yeti", [[0, 0], [1, 1]], "rectangle")),
            "shape 1: no such class 'yeti': this study has 254 classes",
        ),
        (labelme(shape("cat", [[0, 0], [1, 1]], "rectangle"), 7), "shape 2: it is not a JSON object"),
        (labelme(shape(7, [[0, 0], [1, 1]], "rectangle")), "shape 1: its label is not a string"),
        (labelme(shapes={}), "shapes is not a list"),
        (
            labelme(shape("cat", [[1, 1]], "point")),
            "shape 1: its type 'point' covers no area: remove it, or use polygon, rectangle, circle",
        ),
        (labelme(shape("cat", [[1, 1], [2, 2]], "linestrip")), "its type 'linestrip' covers no area"),
        (labelme(shape("cat", [[1, 1], [2, 2]])), "its polygon has 2 points"),
        (labelme(shape("cat", [[1, 1]], "rectangle")), "its rectangle has 1 points: it needs 2"),
        (labelme(shape("cat", [[1, 1]] * 3, "circle")), "its circle has 3 points: it needs 2"),
        (labelme(shape("cat", {}, "circle")), "its points are not a list of [x, y]"),
        (labelme(shape("cat", [[1], [2]], "circle")), "its points are not a list of [x, y]"),
        (labelme(shape("cat", [[1, "2"], [2, 2]], "circle")), "one of its points lies far outside the image"),
        (labelme(shape("cat", [[1, 1e9], [2, 2]], "circle")), "one of its points lies far outside the image"),
        (labelme(shape("cat", [[10**400, 1], [2, 2], [3, 4]])), "one of its points lies far outside the image"),
        (labelme(shape("cat", [[1, 1], [2, 2]], "mask")), "its mask is not a string"),
        (labelme(shape("cat", [[1, 1], [2, 2]], "mask", "é")), "its mask is not valid base64"),
        (labelme(shape("cat", [[1, 1], [2, 2]], "mask", "a")), "its mask is not valid base64"),
        (labelme(shape("cat", [[1, 1], [2, 2]], "mask", "abcd")), "its mask is not a PNG file"),
        (labelme(shape("cat", [[0, 0], [1, 1]], "mask", bits(np.zeros((2, 2, 3))))), "its mask is RGB: expected"),
        (labelme(shape("cat", [[0, 0], [1, 1]], "mask", bits([[1]]))), "its mask of 1×1 pixels does not fill x 0 to 1"),
        (labelme(shape("cat", [[7, 0], [8, 0]], "mask", bits([[1, 1]]))), "y 0 to 0 of an image of 8×6"),
        (labelme(shape("cat", [[-1, 0], [0, 0]], "mask", bits([[1, 1]]))), "does not fill x -1 to 0"),
        (labelme(imageHeight=None), "imageHeight and imageWidth are missing or invalid: save the file in LabelMe"),
        (labelme(imageWidth=True), "imageHeight and imageWidth are missing or invalid"),
        (labelme(imageWidth=0), "imageHeight and imageWidth are missing or invalid"),
        (labelme(imageWidth=10**9, imageHeight=10**9), "1000000000×1000000000 pixels exceed Pillow's limit"),
        (labelme(flags={"unfit": "yes"}), "the flag 'unfit' must be true or false"),
        (labelme(imagePath="elsewhere.jpg"), "item 'elsewhere.jpg' is not in the pool"),
        (labelme(imagePath=None), "does not say which image it is about"),
    ],
)
def test_what_cannot_be_taken_is_named(tmp_path: Path, content: Any, complaint: str) -> None:
    with pytest.raises(JudgementError) as refused:
        read_all(stored(tmp_path / "a.json", content))
    assert str(refused.value).startswith(f"{tmp_path / 'a.json'}")
    assert complaint in str(refused.value)
    assert "\n" not in str(refused.value)


@given(st.data())
@settings(max_examples=150)
def test_any_document_is_read_or_refused(tmp_path: Path, data: st.DataObject) -> None:
    good = labelme(
        shape("cat", [[1.0, 1.0], [4.0, 1.0], [4.0, 4.0]]),
        shape("class 7", [[0.0, 4.0], [2.0, 5.0]], "mask", bits([[1, 0, 1], [0, 1, 0]])),
        dissensus={"item": "a.jpg", "drawn": "1", "answers": []},
    )
    path = stored(tmp_path / "a.json", data.draw(damaged(good) | jsons))
    try:
        assert all(one.question.kind == "mask" for one in read_all(path))
    except JudgementError as error:
        refused = str(error)
    else:
        refused = ""
    assert "\n" not in refused
    assert len(refused) < 1000


@pytest.mark.parametrize("format", ["coco", "label-studio"])
@pytest.mark.parametrize(
    ("response", "complaint"),
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
            Response(
                id="1",
                question=Question(kind="choice", body={"item": "a.jpg", "first": "m1", "second": "m2"}),
                annotator="ann",
                answer="first",
                time="2026-11-15T09:30:00+00:00",
            ),
            "kind 'choice' between predictions have no counterpart in .*: export them as .jsonl$",
        ),
    ],
)
def test_other_tools_have_no_masks(tmp_path: Path, format: str, response: Response, complaint: str) -> None:
    with pytest.raises(JudgementError, match=complaint):
        write_responses(tmp_path / "a.json", [response], MANY, format)
    assert list(tmp_path.iterdir()) == []


def test_cocos_annotations_are_no_masks(tmp_path: Path) -> None:
    content = {
        "images": [{"id": 1, "file_name": "a.jpg"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "segmentation": [[0, 0, 3, 0, 3, 3]]}],
    }
    path = stored(tmp_path / "a.json", content)
    with pytest.raises(JudgementError, match="annotation 1: COCO annotations say what an image contains, not where"):
        read_all(path, format="coco")
    assert [one.answer for one in read_all(path, format="coco", task="labels")] == ["yes"]
