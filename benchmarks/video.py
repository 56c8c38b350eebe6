"""Robustness along video: time of pm-k and of mAP against pycocotools, and coverage of the intervals.

python benchmarks/video.py            # 100 models, 1,109 anchors, 22,000 frames; mAP of real or random boxes
python benchmarks/video.py coverage   # intervals of accuracies and drops under planted flicker
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.proportions import LEVEL
from dissensus.shift.video.coco import detections_of, images_of
from dissensus.shift.video.memory import anchors_of
from dissensus.temporal.accuracy import accuracies, drop_pairs, drops, mean_drops, resampled, right_within
from dissensus.temporal.anchors import Anchors, right_frames
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
    drops(within, np.zeros((0, len(anchors))))
    return within


def with_bootstrap(predicted: Any, anchors: Anchors) -> None:
    """The same with means and differences on 2,000 resamples of the anchors."""
    within = pm_k_alone(predicted, anchors)
    weights = resampled(len(anchors), 2_000, 0)
    mean_drops(within, weights)
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


def coverage(trials: int = 2_000) -> None:
    """How often intervals hold the truth if anchors flicker with planted probabilities.

    An anchor is right with probability a; if it is, it flickers with probability f, on one frame at a random distance
    of 1 … 5, so that its expected drop is a · f, and P(right at exactly 5 | right) is 1 − f / 10. Anchors that are
    wrong stay wrong. Two models differ in f.
    """
    print(f"{trials:,} trials at level {LEVEL:g}; coverage of accuracy, drop, its percentiles, the mean drop of two")
    print("models, the difference of their drops, and conditional robustness at exactly 5")
    reach = 5
    for anchors, right_share, flicker in (
        (30, 0.9, 0.2), (100, 0.8, 0.15), (100, 0.95, 0.02), (300, 0.8, 0.15), (1_109, 0.85, 0.17),
    ):  # fmt: skip
        rng = np.random.default_rng(anchors)
        made, shares = plain_anchors(anchors, reach), np.array([flicker, 2 * flicker])
        held = np.zeros(6)
        for trial in range(trials):
            right = planted(rng, made, right_share, shares, reach)
            within = right_within(right, made)
            weights = resampled(anchors, 500, trial)
            _, ends = accuracies(within)
            _, drop_ends = drops(within, weights)
            lost = within[0, :, 0].astype(np.float32) - within[0, :, -1]
            low, high = np.quantile(weights @ lost / anchors, (0.025, 0.975))
            _, mean_ends = mean_drops(within, weights)
            _, _, pair_ends, _ = drop_pairs(within[:, :, -1], within[:, :, 0], weights)
            _, near_ends, _, _ = conditional_robustness(right, made)
            true = right_share * shares
            held += [
                ends[0][0, -1] <= right_share - true[0] <= ends[1][0, -1],
                drop_ends[0][0, -1] <= true[0] <= drop_ends[1][0, -1],
                low <= true[0] <= high,
                mean_ends[0][-1] <= true.mean() <= mean_ends[1][-1],
                pair_ends[0][0] <= true[0] - true[1] <= pair_ends[1][0],
                near_ends[0][0, -1] <= 1 - shares[0] / 10 <= near_ends[1][0, -1],
            ]
        said = "  ".join(f"{100 * one:5.1f}" for one in held / trials)
        print(f"  {anchors:5,} anchors, accuracy {right_share:.2f}, flicker {flicker:.2f}: {said} %")


def planted(rng: Any, anchors: Anchors, right_share: float, flicker: Any, reach: int) -> Any:
    """Which frames two models get right; both have the same accuracy, but are right about different anchors."""
    count = len(anchors)
    at_home = rng.random((2, count)) < right_share
    right = at_home[:, anchors.anchor]
    flickers = at_home & (rng.random((2, count)) < flicker[:, None])
    offset = rng.integers(1, reach + 1, (2, count)) * rng.choice([-1, 1], (2, count))
    model, place = np.nonzero(flickers)
    right[model, anchors.home[place] + offset[model, place]] = False
    return right


if __name__ == "__main__":
    if sys.argv[1:] == ["coverage"]:
        coverage()
    else:
        pm_k()
        mean_average_precision()
