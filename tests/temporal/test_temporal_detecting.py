"""Average precision against pycocotools, and the frame where a detector does worst."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
from typing import Any

import numpy as np
import pytest
from data_kit import KIT, WHY_SKIPPED
from hypothesis import given, settings
from hypothesis import strategies as st

import dissensus
from dissensus.errors import TemporalError
from dissensus.shift.video.coco import detections_of, frame_sets, images_of
from dissensus.temporal.detecting import FrameSets, worst_rows
from dissensus.temporal.precision import average_precision, image_precision, matched, mean_precision
from dissensus.temporal.words import detection_answer

KAIST = KIT / "detection" / "kaist"
OUTSIDE = 1e11
"""An area beyond COCO's largest: pycocotools ignores such a box, as it should ignore one that says `ignore`."""


def reference(truth: dict[str, Any], boxes: list[dict[str, Any]], images: list[int] | None = None) -> tuple[float, ...]:
    """mAP and AP50 by pycocotools; −1 where there is no box to find.

    It reads a match as none if the id of the box is 0, overwrites `ignore` with `iscrowd`, and cannot load no boxes.
    """
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = {
            "images": truth["images"],
            "categories": truth["categories"],
            "annotations": [
                one
                | {
                    "id": number + 1,
                    "iscrowd": one.get("iscrowd", 0),
                    "area": OUTSIDE if one.get("ignore", 0) else one["bbox"][2] * one["bbox"][3],
                }
                for number, one in enumerate(truth["annotations"])
            ],
        }
        coco.createIndex()
        found = coco.loadRes([dict(one) for one in boxes]) if boxes else _nothing(truth)
        scored = COCOeval(coco, found, "bbox")
        scored.params.imgIds = images if images is not None else sorted(one["id"] for one in truth["images"])
        scored.evaluate()
        scored.accumulate()
        scored.summarize()
    return tuple(scored.stats[:2])


def _nothing(truth: dict[str, Any]) -> Any:
    from pycocotools.coco import COCO

    empty = COCO()
    empty.dataset = {"images": truth["images"], "categories": truth["categories"], "annotations": []}
    empty.createIndex()
    return empty


def random_boxes(seed: int, images: int = 4, categories: int = 2) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Boxes that overlap, crowds, boxes to ignore, ties in scores, images and categories without any."""
    rng = np.random.default_rng(seed)
    boxes, found = [], []
    for image in range(images):
        for _ in range(rng.integers(0, 5)):
            box = [*rng.integers(0, 30, 2).tolist(), *rng.integers(1, 30, 2).tolist()]
            kind = rng.random()
            category = int(rng.integers(categories))
            boxes.append(
                {"image_id": image, "category_id": category, "bbox": box, "iscrowd": int(kind < 0.15),
                 "ignore": int(0.15 <= kind < 0.3)}
            )  # fmt: skip
            for _ in range(rng.integers(0, 3)):
                moved = [float(side + step) for side, step in zip(box, rng.normal(0, 1.5, 4), strict=True)]
                moved[2:] = [max(side, 0.5) for side in moved[2:]]
                named = category if rng.random() < 0.8 else int(rng.integers(categories))
                found.append(
                    {"image_id": image, "category_id": named, "bbox": moved, "score": float(rng.integers(1, 6)) / 5}
                )
    truth = {
        "images": [{"id": image, "file_name": f"clip/{image:03}"} for image in range(images)],
        "categories": [{"id": category, "name": f"c{category}"} for category in range(categories)],
        "annotations": boxes,
    }
    return truth, found


def ours(truth: dict[str, Any], boxes: list[dict[str, Any]]) -> tuple[Any, Any, Any]:
    images = images_of(truth)
    matches = matched(images.truth, detections_of(boxes, images, "net")[0])
    found = average_precision(matches, np.ones((1, len(images.names))))
    return matches, mean_precision(found)[0], mean_precision(found[:, :, :1])[0]


@settings(max_examples=40)
@given(st.integers(0, 10**6))
def test_map_agrees_with_pycocotools_on_random_boxes(seed: int) -> None:
    truth, boxes = random_boxes(seed)
    matches, whole, half = ours(truth, boxes)
    assert (whole, half) == pytest.approx(reference(truth, boxes), abs=1e-9)
    each, is_known = image_precision(matches)
    for image in range(len(truth["images"])):
        alone = reference(truth, boxes, [image])[0]
        assert (each[image] if is_known[image] else -1) == pytest.approx(alone, abs=1e-9)


def test_no_detections_no_boxes_and_more_than_a_hundred() -> None:
    truth, boxes = random_boxes(3)
    assert ours(truth, [])[1:] == reference(truth, []) == (0, 0)
    empty = truth | {"annotations": []}
    assert ours(empty, boxes)[1:] == reference(empty, boxes) == (-1, -1)
    box = {"image_id": 0, "category_id": 0, "bbox": [0, 0, 10, 10]}
    many = [box | {"score": 0.9 - n / 1000, "bbox": [100, 100, 5, 5]} for n in range(105)] + [box | {"score": 0.1}]
    one = truth | {"annotations": [box]}
    assert ours(one, many)[1:] == reference(one, many) == (0, 0)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_weights_are_copies_of_images(seed: int) -> None:
    """An image of weight two counts like two images; scores differ, since copies have ties of their own."""
    truth, boxes = random_boxes(seed)
    boxes = [one | {"score": 1 / (n + 2)} for n, one in enumerate(boxes)]
    images = images_of(truth)
    matches = matched(images.truth, detections_of(boxes, images, "net")[0])
    weights = np.random.default_rng(seed).integers(0, 3, len(images.names))
    copies = [(n, image) for image, weight in enumerate(weights) for n in range(weight)]
    number = {pair: place for place, pair in enumerate(copies)}
    copied = {
        "images": [{"id": place} for place in number.values()],
        "categories": truth["categories"],
        "annotations": [
            one | {"image_id": place} for one in truth["annotations"] for (_, image), place in number.items()
            if image == one["image_id"]
        ],
    }  # fmt: skip
    spread = [one | {"image_id": place} for one in boxes for (_, image), place in number.items()
              if image == one["image_id"]]  # fmt: skip
    if copied["annotations"]:
        mean = mean_precision(average_precision(matches, weights[None].astype(float)))[0]
        assert mean == pytest.approx(reference(copied, spread)[0], abs=1e-9)


@settings(max_examples=15)
@given(st.integers(0, 10**6))
def test_worst_frames_agree_with_pycocotools(seed: int) -> None:
    """Every anchor's worst frame by pycocotools on single images, and mAP of these frames as a set of their own."""
    truth, boxes = random_boxes(seed, images=9)
    counts = {one["image_id"] for one in truth["annotations"] if not one["iscrowd"] and not one["ignore"]}
    if 1 not in counts:
        return
    found = dissensus.detection_robustness(truth, {"net": boxes}, k=1, resamples=5)
    worst = []
    for anchor in (1, 4, 7):
        each = [
            (reference(truth, boxes, [image])[0], abs(image - anchor), image) for image in range(anchor - 1, anchor + 2)
        ]
        known = [(round(one[0], 9), *one[1:]) for one in each if one[0] >= 0]
        worst.append(min(known)[2] if known else anchor)
    for images, value, half in (
        ([1, 4, 7], found.models[0].original, found.models[0].original_50),
        (worst, found.models[0].perturbed, found.models[0].perturbed_50),
    ):
        assert (value, half) == pytest.approx(reference(truth, boxes, images), abs=1e-9)
    merged = truth | {"annotations": [one | {"category_id": 0} for one in truth["annotations"]]}
    located = reference(merged, [one | {"category_id": 0} for one in boxes], [1, 4, 7])[0]
    assert found.models[0].located == pytest.approx(located, abs=1e-9)


def test_frames_without_boxes_are_never_the_worst() -> None:
    sets = FrameSets(["a", "b"], np.array([0, 3, 5]), np.array([0, 1, 2, 3, 4]), np.array([-1, 0, 1, 0, 1]))
    each = np.array([0.0, 0.8, 0.8, 0.0, 0.0])
    is_known = np.array([False, True, True, False, False])
    assert worst_rows(each, is_known, sets).tolist() == [1, 3]
    assert worst_rows(np.array([0.3, 0.8, 0.3, 1.0, 0.5]), np.ones(5, bool), sets).tolist() == [0, 4]
    nearly = np.array([0.1 + 0.2, 0.3, 0.3, 0.3, 0.1 + 0.2 - 1e-16])  # the same, but for the order of addition
    assert worst_rows(nearly, np.ones(5, bool), sets).tolist() == [1, 3]


def test_a_gain_of_map_is_told_as_one_and_a_single_anchor_tells_nothing() -> None:
    box = {"category_id": 1, "bbox": [0, 0, 10, 10]}
    truth = {
        "images": [{"id": n, "file_name": f"{'ab'[n // 2]}/{n}"} for n in range(4)],
        "categories": [{"id": 1, "name": "dog"}],
        "annotations": [box | {"image_id": n} for n in range(4)],
    }
    false = {"category_id": 1, "bbox": [50, 50, 10, 10]}
    found = dissensus.detection_robustness(
        truth,
        {"net": [
            box | {"image_id": 0, "score": 0.5}, false | {"image_id": 0, "score": 0.4},
            false | {"image_id": 1, "score": 0.1}, box | {"image_id": 2, "score": 0.2},
            false | {"image_id": 0, "score": 0.45}, false | {"image_id": 2, "score": 0.3},
        ]},
        {0: {}, 2: {3: 1}}, k=1,
    )  # fmt: skip
    assert found.models[0].drop > 0
    flipped = detection_answer([found.models[0].model_copy(update={"drop": -0.02, "drop_low": -0.05})], 1)
    assert "its mAP is 2.0 points higher (" in flipped[0]
    assert " to 5.0) than on the anchors, for net and 2 anchors." in flipped[0]
    assert "only 2 anchors with boxes" in flipped[-1]
    alone = dissensus.detection_robustness(truth, {"net": []}, {0: {1: 1}}, k=1).models[0]
    assert (alone.original_low, alone.original_high, alone.drop_low, alone.drop_high) == (0, 1, -1, 1)
    for wrong in (5, {0: [1]}):
        with pytest.raises(TemporalError, match=r"expected|neither"):
            dissensus.detection_robustness(truth, {"net": []}, wrong, k=1)


def test_anchors_without_names_are_the_middles_of_the_frames_of_a_folder() -> None:
    images = images_of(random_boxes(0, images=9)[0])
    sets = frame_sets(images, None, 1)
    assert list(sets.names) == ["clip/001", "clip/004", "clip/007"]
    assert sets.image.tolist() == list(range(9))
    named = frame_sets(images, ["clip/000", 8], 2)
    assert named.offset.tolist() == [0, 1, 2, -2, -1, 0]
    given_offsets = frame_sets(images, {0: {3: -1, 5: 4}}, 2)
    assert (given_offsets.image.tolist(), given_offsets.offset.tolist()) == ([3, 0], [-1, 0])


@pytest.mark.parametrize(
    ("truth", "boxes", "words"),
    [
        ({}, [], "needs images"),
        (
            random_boxes(1)[0],
            [{"image_id": 99, "category_id": 0, "bbox": [0, 0, 1, 1], "score": 1}],
            "does not list: 99",
        ),
        (random_boxes(1)[0], [{"image_id": 0, "category_id": 0, "bbox": [0, 0, -1, 1], "score": 1}], "negative"),
        (random_boxes(1)[0], [{"image_id": 0}], "format"),
        (random_boxes(1)[0] | {"annotations": []}, [], "mAP is undefined"),
    ],
)
def test_boxes_that_cannot_be_read_are_refused_in_one_line(truth: Any, boxes: Any, words: str) -> None:
    with pytest.raises(TemporalError, match=words):
        dissensus.detection_robustness(truth, {"net": boxes}, k=1)


@pytest.mark.skipif(not KAIST.exists(), reason=f"{WHY_SKIPPED} there")
def test_real_detectors_agree_with_pycocotools() -> None:
    truth = json.loads(gzip.decompress((KAIST / "truth.json.gz").read_bytes()))
    paths = {path.name.partition(".")[0]: path for path in KAIST.glob("*.json.gz") if path.name != "truth.json.gz"}
    found = dissensus.detection_robustness(KAIST / "truth.json.gz", paths, k=5, resamples=10)
    place = {one["file_name"]: one["id"] for one in truth["images"]}
    anchors = set(frame_sets(images_of(truth), None, 5).names)
    people = {one["id"] for one in truth["categories"] if one["name"] != "__ignore__"}
    region = next(one["id"] for one in truth["categories"] if one["name"] == "__ignore__")
    plain = truth | {
        "categories": [one for one in truth["categories"] if one["id"] in people],
        "annotations": [
            copy
            for one in truth["annotations"]
            for copy in (
                [one | {"category_id": other, "iscrowd": 1} for other in sorted(people)]
                if one["category_id"] == region
                else [one]
            )
        ],
    }
    for model in found.models:
        rows = [one for one in found.worst if one.model == model.model]
        alone = anchors - {one.anchor for one in rows}  # no box near them: they stand for themselves
        boxes = json.loads(gzip.decompress(paths[model.model].read_bytes()))
        for names, value in (
            (anchors, model.original),
            (alone | {one.frame for one in rows}, model.perturbed),
        ):
            assert value == pytest.approx(reference(plain, boxes, sorted(place[one] for one in names))[0], abs=1e-9)
