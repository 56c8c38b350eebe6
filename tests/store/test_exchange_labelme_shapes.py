"""Shapes of LabelMe as masks: which pixels each covers, and what cannot be taken."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from exchange_cases import damaged, jsons
from hypothesis import given, settings
from hypothesis import strategies as st
from labelme_cases import bits, drawn, labelme, read_all, shape, stored
from mask_cases import labels

from dissensus.errors import JudgementError


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
