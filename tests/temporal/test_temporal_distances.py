"""Distances between frames, drops of classes and frame rates, and what dicts, arrays and files give."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from data_kit import KIT, WHY_SKIPPED
from made_anchors import plain_anchors

import dissensus
from dissensus.errors import TemporalError
from dissensus.study.robustness import write_video_page
from dissensus.temporal.distances import distance_groups, distribution, largest_difference
from dissensus.temporal.findings import result_of

VIDEO = KIT / "video"


def test_the_largest_difference_of_two_pictures() -> None:
    first = np.zeros((4, 5, 3), np.uint8)
    second = first.copy()
    second[1, 2, 0] = 200
    assert largest_difference(first, second) == largest_difference(second, first) == 200
    assert largest_difference(first, first) == 0
    with pytest.raises(TemporalError, match="differ in size"):
        largest_difference(first, second[:2])


def test_distances_of_all_pairs_reviewed_pairs_and_mistakes() -> None:
    anchors = plain_anchors(2, 1)
    is_similar = anchors.is_similar.copy()
    is_similar[0] = False
    made = replace(anchors, is_similar=is_similar, distance=np.array([9.0, 0, 3, 5, 0, -1]))
    right = np.array([[False, True, False, True, True, False]])
    groups = distance_groups(made, right, {"net": 0})
    assert {name: sorted(one.tolist()) for name, one in groups.items()} == {
        "all pairs": [3, 5, 9], "reviewed pairs": [3, 5], "mistakes of net": [3],
    }  # fmt: skip
    shares = distribution(groups["all pairs"])
    assert shares[[2, 3, 4, 5, 8, 9, 255]] == pytest.approx([0, 1 / 3, 1 / 3, 2 / 3, 2 / 3, 1, 1])
    assert not distance_groups(anchors, right, {"net": 0})


def test_drops_of_classes_and_frame_rates_add_up() -> None:
    rng = np.random.default_rng(0)
    anchors = plain_anchors(60, 2)
    labels = np.repeat(rng.integers(0, 3, 60), 5)
    made = replace(anchors, label=labels, rate=np.repeat([24.9, 30.0, 0.0], 20))
    predicted = np.where(rng.random((2, 300)) < 0.9, labels, 5)
    found = result_of(["a", "b"], made, predicted, ["x", "y", "z"])
    own = [one for one in found.classes if one.model == "a"]
    assert [one.group for one in own] == ["x", "y", "z"]
    total = next(one for one in found.models if one.model == "a")
    assert sum(one.drop * one.anchors for one in own) / 60 == pytest.approx(total.drop)
    assert [(one.group, one.anchors) for one in found.rates if one.model == "b"] == [("25 fps", 20), ("30 fps", 20)]


def test_dicts_arrays_and_files_give_the_same(tmp_path: Path) -> None:
    anchors = {"v/f-010.jpg": ["v/f-009.jpg", "v/f-012.jpg"], "w/7": {"w/late": 3}}
    labels = {"v/f-010.jpg": "cat", "v/f-012.jpg": ["dog", "fox"], "w/7": "cat"}
    predicted = {"v/f-009.jpg": "cat", "v/f-010.jpg": "cat", "v/f-012.jpg": "fox", "w/7": "cat", "w/late": "cow"}
    found = dissensus.video_robustness({"net": predicted}, anchors, labels)
    assert (found.k, found.models[0].original, found.models[0].perturbed) == (3, 1, 0.5)
    for name, content in (("anchors", anchors), ("labels", labels), ("net", predicted)):
        (tmp_path / f"{name}.json.gz").write_bytes(gzip.compress(json.dumps(content).encode()))
    paths = {name: tmp_path / f"{name}.json.gz" for name in ("anchors", "labels", "net")}
    assert dissensus.video_robustness({"net": paths["net"]}, paths["anchors"], paths["labels"]) == found
    order = list(predicted)
    listed = dissensus.video_robustness({"net": list(predicted.values())}, anchors, labels, frames=order)
    assert listed.models == found.models
    assert dissensus.video_robustness({"net": list(predicted.values())}, anchors, labels).models == found.models
    partly = dissensus.video_robustness({"net": {"v/f-010.jpg": "cat"}}, anchors, labels, similar={"v/f-010.jpg": []})
    assert (partly.models[0].anchors, partly.models[0].drop) == (1, 0)
    assert "no prediction for 4 frames" in partly.notes[0]


@pytest.mark.parametrize(
    ("anchors", "labels", "words"),
    [
        ({}, {"a1": 0}, "anchors: expected"),
        ({"a": ["b"]}, {"a": 0}, "no frame number"),
        ({"a1": "a2"}, {"a1": 0}, "list of names"),
        ({"a1": ["a2"]}, {"a2": 0}, "without a label: a1"),
        ("missing.json", {"a": 0}, "missing.json: no such file"),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(anchors: object, labels: dict, words: str) -> None:
    with pytest.raises(TemporalError, match=words):
        dissensus.video_robustness({"net": {"a1": 0}}, anchors, labels)


def test_numbers_as_names_and_predictions_that_are_missing() -> None:
    """Frames may be numbers everywhere, labels may be 1 or 1.0, and None or NaN is no prediction and no label."""
    anchors, labels = {10: [9, 11], 20: [21]}, {10: frozenset([1, 2]), 20: [3], 11: None}
    predicted = {9: 1.0, 10: np.int64(2), 11: 1, 20: 3, 21: float("nan")}
    found = dissensus.video_robustness(
        {"net": predicted}, anchors, labels, similar={10: [9, 11], 20: [21]}, rates={10: 30, 20: float("nan")},
        distances={(10, 11): 7.0},
    )  # fmt: skip
    assert (found.models[0].original, found.models[0].perturbed) == (1, 0.5)
    assert found.notes == ("net has no prediction for 1 frame, which counts as wrong: 21.",)
    assert [(one.group, one.anchors) for one in found.rates] == [("30 fps", 1)]
    assert {one.pairs for one in found.distances} == {1}
    as_list = dissensus.video_robustness({"net": [1, 2, 1, 3, None]}, anchors, labels)
    assert as_list.models[0].perturbed == 0.5
    for wrong in ({"rates": {10: float("inf")}}, {"distances": {(10, 11): 300.0}}):
        with pytest.raises(TemporalError, match="too large"):
            dissensus.video_robustness({"net": predicted}, anchors, labels, **wrong)


def test_the_result_is_words_frames_json_and_a_page(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    anchors = plain_anchors(30, 3)
    is_similar = rng.random(210) < 0.9
    is_similar[anchors.home] = True
    made = replace(
        anchors, is_similar=is_similar, label=np.repeat(rng.integers(0, 3, 30), 7),
        distance=rng.integers(0, 256, 210).astype(float), rate=np.repeat([25.0, 30.0], 15),
    )  # fmt: skip
    predicted = np.where(rng.random((5, 210)) < 0.9, made.label, 3)
    found = result_of([f"<net {n}>" for n in range(5)], made, predicted)
    assert type(found).model_validate_json(found.model_dump_json()) == found
    assert repr(found).startswith("On the worst of the frames within 3 of the anchor, accuracy is ")
    assert "&lt;net 0&gt;" in found._repr_html_()
    for what in ("models", "points", "pairs", "conditional", "offsets", "review", "worst", "distances", "classes"):
        assert len(found.to_frame(what)), what
    assert len(found.to_frame("strips")) == sum(len(one.frames) * len(one.rows) for one in found.strips)
    with pytest.raises(ValueError, match="unknown frame 'x'"):
        found.to_frame("x")
    write_video_page(found, tmp_path / "page.html", tmp_path / "figures")
    text = (tmp_path / "page.html").read_text()
    assert "<net 0>" not in text
    assert 'id="strips"' in text
    names = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert names <= {path.stem for path in (tmp_path / "figures").glob("*.csv")}  # tables have no SVG
    assert {"drop-over-k", "video-accuracies", "conditional", "offsets", "distances", "classes", "rates"} <= names
    with pytest.raises(TemporalError, match="nothing to show"):
        write_video_page(None, tmp_path / "none.html")


def test_a_page_of_one_anchor_and_of_detectors_alone(tmp_path: Path) -> None:
    one = dissensus.video_robustness({"net": {"a": 0}}, {"a": []}, {"a": 0})
    write_video_page(one, tmp_path / "one.html")
    box = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 4, 4]}
    truth = {"images": [{"id": 1}], "categories": [{"id": 1, "name": "dog"}], "annotations": [box]}
    found = dissensus.detection_robustness(truth, {"net": [box | {"score": 1.0}]}, k=1)
    assert (found.models[0].original, found.models[0].drop) == pytest.approx((1, 0))
    write_video_page(None, tmp_path / "boxes.html", tmp_path / "figures", found)
    assert "Detectors" in (tmp_path / "boxes.html").read_text()


@pytest.mark.skipif(not VIDEO.exists(), reason=f"{WHY_SKIPPED} there")
def test_the_public_metadata_is_read_as_it_is() -> None:
    labels = VIDEO / "imagenet-vid-robust-labels.json.gz"
    right = {frame: own[-1] for frame, own in json.loads(gzip.decompress(labels.read_bytes())).items()}
    found = dissensus.video_robustness({"oracle": right}, VIDEO / "imagenet-vid-robust-pmsets.json.gz", labels)
    assert (found.models[0].anchors, found.k, found.models[0].perturbed) == (1_109, 10, 1)
