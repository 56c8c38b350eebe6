"""How well class maps agree: all pairs of models on all items at once, and each model with the ground truth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.discrepancy.joint_kernel import FINE, NO_CLASS, concord_arrays, concord_runs
from dissensus.discrepancy.measures import MEASURES, Measure, Values, confusion
from dissensus.errors import PredictionError
from dissensus.records import MOST_CLASSES, VOID, Maps

__all__ = [
    "MEASURES",
    "Concordances",
    "Measure",
    "Values",
    "agreements",
    "concordances",
    "confusion",
    "dense_concordances",
]

ITEMS_OF_A_SPAN = 32  # the most that one thread processes at a time

Found = tuple[Float[Array, "n R M"], Bool[Array, "n R M"], Bool[Array, "n R M"]]
"""For every reference and every model: values, whether they are comparable, and whether the maps differ."""


@dataclass(frozen=True)
class Concordances:
    """How well the maps of every two models agree on every item.

    Row: the reference, that is, the defender; column: the attacker. The diagonal is 1. `is_comparable` is False if a
    map is missing or no pixel counts; the value is then 0. `differs` is False if the maps are the same on all pixels
    that count.
    """

    value: Float[Array, "n M M"]
    is_comparable: Bool[Array, "n M M"]
    differs: Bool[Array, "n M M"]

    def __len__(self) -> int:
        return len(self.value)


def concordances(maps: Sequence[Maps], classes: int, measure: str, threads: int = 2) -> Concordances:
    """How well the stored maps of every two models agree; independent of chunks and threads.

    Error messages number items and models from 0, as they are here.

    Raises:
        PredictionError: maps of an item differ in size, are damaged, or have labels that are not classes.
    """
    return _concordances(_of_stored(maps, classes, measure, threads, is_truth=False))


def dense_concordances(labels: UInt8[Array, "n M H W"], classes: int, measure: str, threads: int = 2) -> Concordances:
    """The same for maps held as arrays.

    Raises:
        PredictionError: they are not uint8, or have labels that are not classes.
    """
    items, models, height, width = labels.shape
    code = _code(measure, classes)
    if labels.dtype != np.uint8 or models == 0:
        raise PredictionError(f"got maps of {models} models as {labels.dtype}: pass uint8 maps of at least one model")
    flat = np.ascontiguousarray(labels).reshape(items, models, height * width)
    found, names = _room(items, models, models), [f"model {number}" for number in range(models)]

    def fill(start: int, stop: int) -> None:
        out = (one[start:stop] for one in found)
        _refuse(concord_arrays(flat[start:stop], classes, code, *out), start, classes, names)

    _in_spans(fill, items, threads)
    return _concordances(found)


def agreements(
    maps: Sequence[Maps], truth: Maps, classes: int, measure: str, threads: int = 2
) -> tuple[Float[Array, "n M"], Bool[Array, "n M"]]:
    """How well every model agrees with the ground truth on every item, and whether they can be compared.

    Pixels that the ground truth leaves VOID do not count; a pixel that only the prediction leaves VOID is wrong. The
    value is 0 if there is nothing to compare.

    Raises:
        PredictionError: as for `concordances`.
    """
    value, is_comparable, _ = _of_stored((truth, *maps), classes, measure, threads, is_truth=True)
    is_there = np.array([one.heights > 0 for one in maps], bool).reshape(len(maps), len(truth)).T
    is_known = is_there & is_comparable[:, 0, 1:]
    return np.where(is_known, value[:, 0, 1:], 0.0), is_known


def _of_stored(maps: Sequence[Maps], classes: int, measure: str, threads: int, is_truth: bool) -> Found:
    """Compare the first with all if it is the ground truth; otherwise all with all."""
    names = [
        *(["the ground truth"] if is_truth else []),
        *(f"model {number}" for number in range(len(maps) - is_truth)),
    ]
    code, pixels = _code(measure, classes), _pixels(maps, names)
    items, references = pixels.shape[1], 1 if is_truth else len(maps)
    found = _room(items, references, len(maps))

    def fill(start: int, stop: int) -> None:
        runs = [one.data[one.offsets[start] : one.offsets[stop]] for one in maps]
        begins = np.cumsum([0, *(len(one) for one in runs[:-1])])
        starts = np.stack([one.offsets[start : stop + 1] - one.offsets[start] for one in maps]) + begins[:, None]
        parts = np.concatenate(runs), starts, np.ascontiguousarray(pixels[:, start:stop])  # one layout: compiles once
        out = (one[start:stop] for one in found)
        _refuse(concord_runs(*parts, classes, references, code, is_truth, *out), start, classes, names)

    _in_spans(fill, items, threads)
    return found


def _in_spans(fill: Callable[[int, int], None], items: int, threads: int) -> None:
    """Fill in a few items at a time; if several spans fail, the error of the first one is raised."""
    threads = max(1, threads)
    size = min(
        ITEMS_OF_A_SPAN, max(1, -(-items // (4 * threads)))
    )  # small enough that a slow thread leaves work to others
    spans = [(start, min(start + size, items)) for start in range(0, items, size)]
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda span: fill(*span), spans):
            pass


def _room(items: int, references: int, models: int) -> Found:
    shape = (items, references, models)
    return np.empty(shape), np.empty(shape, bool), np.empty(shape, bool)


def _concordances(found: Found) -> Concordances:
    value, is_comparable, differs = found
    models = np.arange(value.shape[1])
    value[:, models, models] = 1.0
    return Concordances(value, is_comparable, differs)


def _code(measure: str, classes: int) -> int:
    if measure not in MEASURES:
        raise PredictionError(f"unknown measure '{measure}': choose one of {', '.join(MEASURES)}")
    if not 1 <= classes <= MOST_CLASSES:
        raise PredictionError(f"there are {classes} classes: maps can have 1 to {MOST_CLASSES}")
    return MEASURES[measure].code


def _pixels(maps: Sequence[Maps], names: Sequence[str]) -> Int[Array, "M n"]:
    """The number of pixels of every map, 0 if there is none; rejects maps that cannot be compared."""
    if not maps or len({len(one) for one in maps}) > 1:
        counts = ", ".join(str(len(one)) for one in maps) or "no"
        raise PredictionError(f"maps of {counts} items cannot be compared: pass maps of the same items for each model")
    for name, one in zip(names, maps, strict=True):
        gaps = np.diff(one.offsets, prepend=0, append=len(one.data))
        if len(one.offsets) != len(one) + 1 or len(one.widths) != len(one) or (gaps < 0).any():
            raise PredictionError(
                f"the maps of {name} are damaged, as their offsets do not fit their data: predict again"
            )
    heights, widths = (
        np.stack([getattr(one, side) for one in maps]).astype(np.int64) for side in ("heights", "widths")
    )
    is_there = heights > 0
    first = is_there.argmax(axis=0)[None]
    is_other = is_there & (
        (heights != np.take_along_axis(heights, first, 0)) | (widths != np.take_along_axis(widths, first, 0))
    )
    for item in np.flatnonzero(is_other.any(axis=0))[:1]:
        pair = int(first[0, item]), int(is_other[:, item].argmax())
        sizes = " and ".join(f"{heights[one, item]}×{widths[one, item]} ({names[one]})" for one in pair)
        raise PredictionError(f"the maps of item {item} differ in size, {sizes}: resize them to the size of the image")
    return np.maximum(heights * widths, 0) * is_there


def _refuse(state: tuple[int, int, int], start: int, classes: int, names: Sequence[str]) -> None:
    problem, model, item = state
    if problem == NO_CLASS:
        raise PredictionError(
            f"the map of item {start + item} by {names[model]} has a label that is not a class: there are {classes}, "
            f"0 to {classes - 1}; use {VOID} for 'ignore'"
        )
    if problem != FINE:
        raise PredictionError(
            f"the map of item {start + item} by {names[model]} is damaged, as its runs do not fill it: predict again"
        )
