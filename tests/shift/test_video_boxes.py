"""COCO files that are damaged or do not fit together are refused in one line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dissensus import detection_robustness
from dissensus.errors import TemporalError


def boxed() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    numbers = range(9)
    truth = {
        "images": [{"id": number, "file_name": f"v/{number}.jpg"} for number in numbers],
        "categories": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}],
        "annotations": [
            {"image_id": number, "category_id": 1 + number % 2, "bbox": [1, 2, 9, 9]} for number in numbers
        ],
    }
    found = [
        {"image_id": number, "category_id": 1 + number % 2, "bbox": [1, 2, 9, 9 + number], "score": 0.5}
        for number in numbers
    ]
    return truth, found


def refused(truth: Any, found: Any, message: str, anchors: Any = None) -> None:
    with pytest.raises(TemporalError, match=message) as caught:
        detection_robustness(truth, {"net": found}, anchors=anchors, k=2, resamples=20)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "box", [[1, 2], [1, 2, 3, 4, 5, 6, 7, 8], [0, 0, 1e200, 1e200], [0, 0, 10**400, 1], [[1, 2, 3, 4]]]
)
def test_boxes_that_are_none(box: list[Any]) -> None:
    """Also if all of them are alike, so that the numbers could be cut into other boxes."""
    truth, found = boxed()
    refused(truth, [one | {"bbox": box} for one in found], "net: a detection is not in COCO's format")
    annotations = [one | {"bbox": box} for one in truth["annotations"]]
    refused(truth | {"annotations": annotations}, found, "the truth is not in COCO format")


def test_a_score_that_is_too_large() -> None:
    truth, found = boxed()
    refused(truth, [one | {"score": 10**400} for one in found], "not in COCO's format")


def test_two_categories_with_one_id() -> None:
    truth, found = boxed()
    refused(truth | {"categories": [*truth["categories"], {"id": 1, "name": "c"}]}, found, "two categories .* same id")


@pytest.mark.parametrize(
    ("anchors", "message"),
    [
        (5, "neither a list of images nor an object"),
        ([[1]], "is not an image"),
        ({"v/4.jpg": ["v/3.jpg"]}, "expected an object that gives the offset"),
        ({"v/4.jpg": {"v/3.jpg": 0}}, "two frames have the same offset"),
        ({"v/4.jpg": {"v/3.jpg": -1, "v/2.jpg": -1}}, "two frames have the same offset"),
        *(({"v/4.jpg": {"v/3.jpg": offset}}, "not a whole number") for offset in ("x", None, 1.5, True, float("nan"))),
    ],
)
def test_anchors_that_do_not_fit(anchors: Any, message: str) -> None:
    refused(*boxed(), message, anchors)


def test_ids_in_a_file_of_anchors(tmp_path: Path) -> None:
    """The keys of a JSON object are texts."""
    (tmp_path / "anchors.json").write_text(json.dumps({4: {3: -1, 5: 1}}))
    truth, found = boxed()
    by_id, by_name = (
        detection_robustness(truth, {"net": found}, anchors=anchors, k=2, resamples=20)
        for anchors in (tmp_path / "anchors.json", {"v/4.jpg": {"v/3.jpg": -1, "v/5.jpg": 1}})
    )
    assert by_id.models == by_name.models


def test_a_crowd_that_is_written_as_a_text() -> None:
    truth, found = boxed()
    plain = detection_robustness(truth, {"net": found}, k=2, resamples=20)
    annotations = [one | {"iscrowd": "0", "ignore": "0"} for one in truth["annotations"]]
    same = detection_robustness(truth | {"annotations": annotations}, {"net": found}, k=2, resamples=20)
    assert same.models == plain.models


def test_a_damaged_archive_and_half_a_character(tmp_path: Path) -> None:
    truth, found = boxed()
    packed = gzip.compress(json.dumps(found).encode())
    path = tmp_path / "boxes.json.gz"
    path.write_bytes(packed[:14] + bytes(one ^ 255 for one in packed[14:40]) + packed[40:])
    refused(truth, path, "as JSON")
    truth["images"][3]["file_name"] = "v/\ud8003.jpg"
    (tmp_path / "truth.json").write_text(json.dumps(truth))
    refused(tmp_path / "truth.json", found, "as JSON")
