"""Average precision as COCO defines it: ten overlaps, 101 recalls, at most 100 detections per image and category.

The rules are those of the reference implementation, pycocotools, with which the results agree to the last digits. Each
detection is matched once (`matched`); any choice of images, with any weights, is then a cumulative sum.
"""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.temporal.boxes import MOST_DETECTIONS, Detections, Truth

OVERLAPS = np.linspace(0.5, 0.95, 10)
"""Overlaps (intersection over union) from which a detection matches a box."""
RECALLS = np.linspace(0.0, 1.0, 101)
MISS, HIT, NEITHER = 0, 1, 2
"""States of a detection: it matches no box, a box, or one that does not count."""
UNDEFINED = -1.0
"""Average precision where there is no box to find."""


@dataclass(frozen=True)
class Matched:
    """Detections in the order category, image, score; `state` says at every overlap what each of them is."""

    images: int
    categories: int
    image: Int[Array, " D"]
    category: Int[Array, " D"]
    score: Float[Array, " D"]
    state: Int[Array, "T D"]
    wanted: Int[Array, "C N"]
    """Boxes to find, by category and image."""


def matched(truth: Truth, found: Detections) -> Matched:
    """Match the detections of every image and category to its boxes: the best overlap first, by falling score.

    Of the detections of one image and category with the same score, the first given comes first.
    """
    key = found.category.astype(np.int64) * truth.images + found.image
    order = np.lexsort((-found.score, key))
    key = key[order]
    place = np.arange(len(key)) - np.searchsorted(key, key)
    order, key = order[place < MOST_DETECTIONS], key[place < MOST_DETECTIONS]
    own = truth.category.astype(np.int64) * truth.images + truth.image
    boxes = np.lexsort((~truth.counts, own))  # boxes that count are tried first
    own = own[boxes]
    state = np.zeros((len(OVERLAPS), len(order)), np.int8)
    _match(
        found.box[order].astype(np.float64), key, truth.box[boxes].astype(np.float64), own, truth.is_crowd[boxes],
        ~truth.counts[boxes], OVERLAPS, state,
    )  # fmt: skip
    wanted = np.bincount(own[truth.counts[boxes]], minlength=truth.categories * truth.images)
    return Matched(
        truth.images, truth.categories, found.image[order], found.category[order], found.score[order], state,
        wanted.reshape(truth.categories, truth.images),
    )  # fmt: skip


def average_precision(found: Matched, weights: Float[Array, "B N"]) -> Float[Array, "B C T"]:
    """Average precision at every overlap in every category, on images that count as often as `weights` say.

    Detections with the same score are in the order of their images. `UNDEFINED` where there is no box to find.
    """
    result = np.full((len(weights), found.categories, len(OVERLAPS)), UNDEFINED)
    ends = np.searchsorted(found.category, np.arange(found.categories + 1))
    for category in range(found.categories):
        rows = slice(ends[category], ends[category + 1])
        order = np.argsort(-found.score[rows], kind="stable")
        wanted = weights.astype(np.float64) @ found.wanted[category]
        _precision(
            found.state[:, rows][:, order], found.image[rows][order], weights.astype(np.float64), wanted, RECALLS,
            result[:, category],
        )  # fmt: skip
    return result


def mean_precision(found: Float[Array, "B C T"]) -> Float[Array, " B"]:
    """The mean over categories and overlaps (mAP); `UNDEFINED` if there is no box to find in any category."""
    known = found[:, :, 0] != UNDEFINED
    total = np.where(known, found.mean(axis=2), 0.0).sum(axis=1)
    return np.where(known.any(axis=1), total / np.maximum(known.sum(axis=1), 1), UNDEFINED)


def image_precision(found: Matched) -> tuple[Float[Array, " N"], Bool[Array, " N"]]:
    """The average precision of every image across the categories present in it, and whether it has a box to find."""
    total = np.zeros(found.images)
    _each_image(found.state, found.image, found.category, found.wanted, RECALLS, total)
    present = (found.wanted > 0).sum(axis=0)
    return total / np.maximum(present, 1), present > 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _match(boxes, key, truth, own, is_crowd, is_out, overlaps, state):  # type: ignore[no-untyped-def]
    """Fill in the state of every detection; both lists are sorted by key, and boxes that count come first."""
    steps, first, start = len(overlaps), 0, 0
    while first < len(key):
        last = first
        while last < len(key) and key[last] == key[first]:
            last += 1
        while start < len(own) and own[start] < key[first]:
            start += 1
        end = start
        while end < len(own) and own[end] == key[first]:
            end += 1
        shared = _overlaps(boxes[first:last], truth[start:end], is_crowd[start:end])
        for step in range(steps):
            taken = np.zeros(end - start, np.bool_)
            for one in range(last - first):
                best, at = min(overlaps[step], 1 - 1e-10), -1
                for box in range(end - start):
                    if taken[box] and not is_crowd[start + box]:
                        continue
                    if at >= 0 and not is_out[start + at] and is_out[start + box]:
                        break
                    if shared[one, box] < best:
                        continue
                    best, at = shared[one, box], box
                if at >= 0:
                    taken[at] = True
                    state[step, first + one] = 2 if is_out[start + at] else 1
        first, start = last, end


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _overlaps(boxes, truth, is_crowd):  # type: ignore[no-untyped-def]
    """Intersection over union of all boxes; for a crowd, over the area of the detection."""
    found = np.zeros((len(boxes), len(truth)))
    for i in range(len(boxes)):
        left, top, wide, high = boxes[i]
        for j in range(len(truth)):
            across = min(wide + left, truth[j, 2] + truth[j, 0]) - max(left, truth[j, 0])
            down = min(high + top, truth[j, 3] + truth[j, 1]) - max(top, truth[j, 1])
            if across <= 0 or down <= 0:
                continue
            both = across * down
            area = wide * high
            found[i, j] = both / (area if is_crowd[j] else area + truth[j, 2] * truth[j, 3] - both)
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _one_precision(state, weight, wanted, recalls, precision, recall):  # type: ignore[no-untyped-def]
    """Average precision from states in order of falling score; `precision` and `recall` are room to work in."""
    hits, misses, count = 0.0, 0.0, len(state)
    for row in range(count):
        if state[row] == 1:
            hits += weight[row]
        elif state[row] == 0:
            misses += weight[row]
        recall[row] = hits / wanted
        precision[row] = hits / (hits + misses + 2.220446049250313e-16)
    for row in range(count - 1, 0, -1):
        precision[row - 1] = max(precision[row - 1], precision[row])
    total, row = 0.0, 0
    for level in recalls:
        while row < count and recall[row] < level:
            row += 1
        if row == count:
            break
        total += precision[row]
    return total / len(recalls)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _precision(state, image, weights, wanted, recalls, result):  # type: ignore[no-untyped-def]
    """Average precision of one category for every set of weights and every overlap."""
    count = len(image)
    precision, recall, weight = np.empty(count), np.empty(count), np.empty(count)
    for draw in range(len(weights)):
        if wanted[draw] <= 0:
            continue
        for row in range(count):
            weight[row] = weights[draw, image[row]]
        for step in range(len(state)):
            result[draw, step] = _one_precision(state[step], weight, wanted[draw], recalls, precision, recall)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _each_image(state, image, category, wanted, recalls, total):  # type: ignore[no-untyped-def]
    """Add up the average precisions of each image over the categories that it shows."""
    ones, precision, recall = np.ones(len(image)), np.empty(len(image)), np.empty(len(image))
    first = 0
    while first < len(image):
        last = first
        while last < len(image) and image[last] == image[first] and category[last] == category[first]:
            last += 1
        boxes = wanted[category[first], image[first]]
        if boxes > 0:
            for step in range(len(state)):
                part = _one_precision(state[step, first:last], ones, float(boxes), recalls, precision, recall)
                total[image[first]] += part / len(state)
        first = last
