"""Robustness along video: time of pm-k and of mAP against pycocotools, and coverage of the intervals.

python benchmarks/video.py            # 100 models, 1,109 anchors, 22,000 frames; mAP of real or random boxes
python benchmarks/video.py coverage   # intervals of accuracies, drops and mAP under planted flicker
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.proportions import LEVEL
from dissensus.shift.video.coco import detections_of, images_of
from dissensus.shift.video.memory import anchors_of
from dissensus.temporal.accuracy import accuracies, drop_pairs, drops, mean_drops, right_within
from dissensus.temporal.anchors import Anchors, right_frames
from dissensus.temporal.boxes import Detections, Truth
from dissensus.temporal.clips import far_out, resampled
from dissensus.temporal.detecting import FrameSets, measured
from dissensus.temporal.findings import result_of
from dissensus.temporal.frames import conditional_robustness
from dissensus.temporal.precision import average_precision, matched, mean_precision

KIT = Path(os.environ.get("DISSENSUS_KIT") or Path(__file__).resolve().parents[2] / "shared" / "data")
MODELS = 100
REPEATS = 3


def public_anchors() -> Anchors:
    """The anchors of ImageNet-Vid-Robust if the public metadata is there, else as many with all neighbours."""
    folder = KIT / "video"
    if folder.exists():
        made, _ = anchors_of(
            folder / "imagenet-vid-robust-pmsets.json.gz", folder / "imagenet-vid-robust-labels.json.gz"
        )
        return made
    return plain_anchors(1_109, 10)


def plain_anchors(anchors: int, reach: int) -> Anchors:
    """Anchors with all neighbours, all of class 0."""
    wide = 2 * reach + 1
    rows = anchors * wide
    return Anchors(
        [str(n) for n in range(anchors)], np.arange(anchors + 1) * wide, [str(n) for n in range(rows)],
        np.tile(np.arange(-reach, reach + 1), anchors), np.ones(rows, bool), np.arange(rows + 1),
        np.zeros(rows, np.int64),
    )  # fmt: skip


def pm_k() -> None:
    """Time of the parts and of the whole result."""
    anchors = public_anchors()
    rng = np.random.default_rng(0)
    start, label = anchors.labels_of_rows
    rows = len(anchors.offset)
    predicted = np.where(rng.random((MODELS, rows)) < 0.97, label[start[:-1]], rng.integers(0, 30, (MODELS, rows)))
    print(f"{MODELS} models, {len(anchors):,} anchors, {rows:,} frames; best of {REPEATS} runs")
    print(f"  pm-k for all k with Clopper–Pearson intervals: {best(lambda: pm_k_alone(predicted, anchors)):.3f} s")
    pairs = best(lambda: with_bootstrap(predicted, anchors))
    print(f"  and 2,000 resamples for the mean drop and all 4,950 pairs: {pairs:.3f} s")
    names = [f"model {n}" for n in range(MODELS)]
    print(f"  the whole result with words and tables: {best(lambda: result_of(names, anchors, predicted)):.3f} s")


def pm_k_alone(predicted: Any, anchors: Anchors) -> Any:
    """Accuracies and drops of all models at all k."""
    within = right_within(right_frames(predicted, anchors), anchors)
    accuracies(within)
    drops(within)
    return within


def with_bootstrap(predicted: Any, anchors: Anchors) -> None:
    """The same with means and differences on 2,000 resamples of the anchors."""
    within = pm_k_alone(predicted, anchors)
    weights = resampled(len(anchors), 2_000, 0)
    mean_drops(within)
    drop_pairs(within[:, :, -1], within[:, :, 0], weights)


def best(run: Any) -> float:
    """The shortest of a few runs, after one to warm up."""
    run()
    times = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        run()
        times.append(time.perf_counter() - started)
    return min(times)


def mean_average_precision() -> None:
    """Time of mAP over all images as a ratio to pycocotools, from loaded boxes to the number."""
    truth, boxes = real_boxes() if (KIT / "detection" / "kaist").exists() else random_boxes()
    images = images_of(truth)
    found, _ = detections_of(boxes, images, "detector")
    weights = np.ones((1, len(images.names)))

    def ours() -> float:
        return float(mean_precision(average_precision(matched(images.truth, found), weights))[0])

    scored = reference(truth, boxes)

    def theirs() -> float:
        with contextlib.redirect_stdout(io.StringIO()):
            scored.evaluate()
            scored.accumulate()
        known = scored.eval["precision"]
        return float(known[known > -1].mean())

    mine, other = best(ours), best(theirs)
    print(f"mAP of {len(boxes):,} boxes in {len(images.names):,} images: {ours():.6f}, pycocotools {theirs():.6f}")
    print(f"  difference {abs(ours() - theirs()):.1e}; {mine:.3f} s, {other / mine:.0f} times as fast as pycocotools")


def real_boxes() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One pedestrian detector and the people who are not to be ignored."""
    folder = KIT / "detection" / "kaist"
    truth, boxes = (
        json.loads(gzip.decompress((folder / f"{name}.json.gz").read_bytes())) for name in ("truth", "MBNet")
    )
    kept = [one for one in truth["annotations"] if not one["ignore"] and one["category_id"] == 1]
    kinds = [one for one in truth["categories"] if one["id"] == 1]
    return truth | {"annotations": kept, "categories": kinds}, boxes


def random_boxes() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Two boxes per image, each found with some noise."""
    rng = np.random.default_rng(0)
    rows = [(image, *rng.uniform(10, 200, 4)) for image in range(2_000) for _ in range(2)]
    truth = {
        "images": [{"id": n} for n in range(2_000)],
        "categories": [{"id": 1, "name": "thing"}],
        "annotations": [{"image_id": row[0], "category_id": 1, "bbox": list(row[1:])} for row in rows],
    }
    boxes = [
        {
            "image_id": row[0],
            "category_id": 1,
            "bbox": list(np.array(row[1:]) + rng.normal(0, 4, 4)),
            "score": rng.random(),
        }
        for row in rows
    ]
    return truth, boxes


def reference(truth: dict[str, Any], boxes: list[dict[str, Any]]) -> Any:
    """pycocotools with everything loaded; its ids start from 1, since it takes a match with 0 for none."""
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        coco.dataset = truth | {
            "annotations": [
                one | {"id": n + 1, "iscrowd": 0, "area": one["bbox"][2] * one["bbox"][3]}
                for n, one in enumerate(truth["annotations"])
            ]
        }
        coco.createIndex()
        scored = COCOeval(coco, coco.loadRes([dict(one) for one in boxes]), "bbox")
    scored.params.areaRng, scored.params.areaRngLbl, scored.params.maxDets = [[0, 1e10]], ["all"], [100]
    return scored


def coverage(trials: int = 1_000) -> None:
    """How often intervals hold the truth if anchors flicker with planted probabilities.

    An anchor is right with probability a; if it is, it flickers with probability f, on one frame at a random distance
    of 1 … 5, so that its expected drop is a · f, and P(right at exactly 5 | right) is 1 − f / 10. Anchors that are
    wrong stay wrong. Four models differ in f. Where clips have several anchors, every clip has its own a and f, which
    are Beta distributed with an intraclass correlation of one half.
    """
    print(f"{trials:,} trials at level {LEVEL:g}; coverage of accuracy, drop, mean drop of four models, differences of")
    print("drops, all six at once, and conditional robustness at exactly 5; then the same as if there were no clips")
    for clips, each, right_share, flicker in (
        (30, 1, 0.9, 0.2), (100, 1, 0.8, 0.15), (100, 1, 0.95, 0.02), (300, 1, 0.8, 0.15),
        (10, 5, 0.8, 0.15), (30, 5, 0.8, 0.15), (100, 5, 0.8, 0.15),
    ):  # fmt: skip
        rng, found = np.random.default_rng(clips), np.zeros((2, 6))
        plain = plain_anchors(clips * each, 5)
        ways = [replace(plain, clip=np.repeat(np.arange(clips), each)), plain] if each > 1 else [plain]
        for trial in range(trials):
            right, shares = planted(rng, plain, each, right_share, flicker)
            for way, made in enumerate(ways):
                found[way] += held(right, made, right_share, shares, trial)
        said = "  | ".join("  ".join(f"{100 * one:5.1f}" for one in found[way] / trials) for way in range(len(ways)))
        print(f"  {clips:4,} clips of {each}, accuracy {right_share:.2f}, flicker {flicker:.2f}: {said} %", flush=True)


def held(right: Any, made: Anchors, right_share: float, shares: Any, seed: int) -> list[float]:
    """Which intervals hold the truth; of six differences, how many do."""
    within, true = right_within(right, made), right_share * shares
    _, ends = accuracies(within, made.clip)
    _, drop_ends = drops(within, made.clip)
    _, mean_ends = mean_drops(within, made.clip)
    weights = resampled(len(made), 300, seed, made.clip)
    pairs, _, pair_ends, at_once = drop_pairs(within[:, :, -1], within[:, :, 0], weights, made.clip)
    _, near_ends, _, _ = conditional_robustness(right, made)
    apart = true[pairs[:, 0]] - true[pairs[:, 1]]
    return [
        ends[0][0, -1] <= right_share - true[0] <= ends[1][0, -1],
        drop_ends[0][0, -1] <= true[0] <= drop_ends[1][0, -1],
        mean_ends[0][-1] <= true.mean() <= mean_ends[1][-1],
        float(((pair_ends[0] <= apart) & (apart <= pair_ends[1])).mean()),
        bool(((at_once[0] <= apart) & (apart <= at_once[1])).all()),
        near_ends[0][0, -1] <= 1 - shares[0] / 10 <= near_ends[1][0, -1],
    ]


def planted(rng: Any, anchors: Anchors, each: int, right_share: float, flicker: float) -> tuple[Any, Any]:
    """Which frames four models get right, and how often each flickers."""
    count, shares = len(anchors), flicker * np.array([1.0, 1.0, 1.5, 2.0])

    def chance(mean: Any) -> Any:
        if each == 1:
            return np.broadcast_to(mean, (len(shares), count))
        return np.repeat(rng.beta(mean, 1 - mean, (len(shares), count // each)), each, axis=1)

    at_home = rng.random((len(shares), count)) < chance(np.full((len(shares), 1), right_share))
    flickers = at_home & (rng.random((len(shares), count)) < chance(shares[:, None]))
    right = at_home[:, anchors.anchor]
    offset = rng.integers(1, 6, at_home.shape) * rng.choice([-1, 1], at_home.shape)
    model, place = np.nonzero(flickers)
    right[model, anchors.home[place] + offset[model, place]] = False
    return right, shares


def precision_coverage(trials: int = 300) -> None:
    """How often intervals of mAP hold that of 20,000 anchors; every anchor has three frames with one or two boxes."""
    print(f"{trials:,} trials at level {LEVEL:g}; coverage of mAP on anchors, on worst frames, and of the drop")
    for anchors, categories, each in ((30, 1, 1), (100, 1, 1), (100, 5, 1), (300, 5, 1), (100, 1, 5)):
        rng, found = np.random.default_rng(anchors), np.zeros(3)
        whole = random_detector(rng, 20_000, categories, each)
        true = [one[0] for one in measured(*whole, np.ones((1, 20_000))).means(1.0)]
        clip = np.repeat(np.arange(anchors // each), each) if each > 1 else None
        for trial in range(trials):
            weights = np.concatenate([np.ones((1, anchors)), resampled(anchors, 300, trial, clip)])
            ends = measured(*random_detector(rng, anchors, categories, each), weights).means(
                far_out(LEVEL, anchors // each)
            )
            found += [low <= value <= high for value, (_, low, high) in zip(true, ends, strict=True)]
        said = "  ".join(f"{100 * one:5.1f}" for one in found / trials)
        print(f"  {anchors:4} anchors, {each} per clip, {categories} categories: {said} %", flush=True)


def random_detector(rng: Any, anchors: int, categories: int, each: int) -> tuple[Truth, Detections, FrameSets]:
    """Boxes that a detector finds the better the easier their anchor is; anchors of a clip are about equally easy."""
    clip = np.repeat(rng.normal(size=-(-anchors // each)), each)[:anchors]
    shared = 0.8 if each > 1 else 0.0
    easy = np.sqrt(shared) * clip + np.sqrt(1 - shared) * rng.normal(size=anchors)
    boxes = 1 + rng.integers(0, 2, anchors)
    anchor = np.repeat(np.arange(anchors), boxes)
    weight = np.arange(1, categories + 1) / np.arange(1, categories + 1).sum()
    kind = np.repeat(rng.choice(categories, len(anchor), p=weight), 3)
    image = (3 * np.repeat(anchor, 3).reshape(-1, 3) + np.arange(3)).ravel()
    left = 100.0 * np.repeat(np.concatenate([np.arange(one) for one in boxes]), 3)
    box = np.stack([left, np.zeros_like(left), np.full_like(left, 50), np.full_like(left, 50)], axis=1)
    ease = easy[image // 3] + 0.7 * rng.normal(size=len(image))
    seen = ease > -1.2
    named = np.where(rng.random(len(image)) < 0.9, kind, rng.integers(categories, size=len(image)))
    moved = box.copy()
    moved[:, :2] += rng.normal(size=(len(image), 2)) * 3 * np.exp(-0.5 * ease[:, None])
    score = 1 / (1 + np.exp(-ease - rng.normal(0, 0.5, len(ease))))
    false = np.flatnonzero(rng.random(3 * anchors) < 0.3)
    none = np.zeros(len(image), bool)
    return (
        Truth(3 * anchors, categories, image, kind, box, none, none),
        Detections(
            np.concatenate([image[seen], false]),
            np.concatenate([named[seen], rng.integers(categories, size=len(false))]),
            np.concatenate([moved[seen], np.tile([300.0, 300, 20, 20], (len(false), 1))]),
            np.concatenate([score[seen], 0.7 * rng.random(len(false))]),
        ),
        FrameSets([str(n) for n in range(anchors)], 3 * np.arange(anchors + 1), np.arange(3 * anchors),
                  np.tile([-1, 0, 1], anchors)),
    )  # fmt: skip


if __name__ == "__main__":
    if sys.argv[1:] == ["coverage"]:
        coverage()
        precision_coverage()
    else:
        pm_k()
        mean_average_precision()
