"""Boxes from COCO-style JSON files or dicts, and anchors among their images."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from pathlib import PurePosixPath
from typing import Any

import numpy as np

from dissensus.errors import TemporalError, quoted, some
from dissensus.shift.video.memory import document
from dissensus.temporal.boxes import Detections, Truth
from dissensus.temporal.clips import clip_numbers
from dissensus.temporal.detecting import FrameSets

IGNORED_CATEGORY = "__ignore__"
"""A category of this name holds regions in which detections count neither way."""
LARGEST = 1e12
"""Pixels of a box that is surely a mistake, and whose area could not be computed."""


@dataclass(frozen=True)
class Images:
    """The images and categories of a COCO file by their ids, and its boxes."""

    names: list[str]
    place: dict[Any, int]
    categories: list[str]
    category_place: dict[Any, int]
    truth: Truth


def images_of(source: Any) -> Images:
    """Images, categories and boxes of a COCO file; images are in the order of their ids.

    A box with `iscrowd` is a crowd region. A box with `ignore` counts neither way, and neither does one of the category
    `__ignore__`, which is a region for all categories.

    Raises:
        TemporalError: the file is not in COCO format.
    """
    given = document(source)
    if not isinstance(given, Mapping) or not all(name in given for name in ("images", "annotations", "categories")):
        raise TemporalError("the truth is not in COCO format: it needs images, annotations and categories")
    try:
        listed = sorted(given["images"], key=lambda one: one["id"])
        place = {one["id"]: number for number, one in enumerate(listed)}
        names = [str(one.get("file_name", one["id"])) for one in listed]
        kinds = [one for one in given["categories"] if one["name"] != IGNORED_CATEGORY]
        regions = {one["id"] for one in given["categories"]} - {one["id"] for one in kinds}
        numbers = {one["id"]: number for number, one in enumerate(kinds)}
        rows = list(_spread(given["annotations"], regions, numbers))
        truth = Truth(
            len(names),
            len(kinds),
            np.array([place[one["image_id"]] for one, _, _ in rows], np.int64),
            np.array([category for _, category, _ in rows], np.int64),
            _boxes([one["bbox"] for one, _, _ in rows]),
            np.array([is_crowd for _, _, is_crowd in rows], bool),
            np.array([_is_so(one, "ignore") for one, _, _ in rows], bool),
        )
    except KeyError as error:
        raise TemporalError(
            f"the truth is not in COCO format: {quoted(error.args[0])} is missing or unknown"
        ) from error
    except (TypeError, ValueError, AttributeError, OverflowError) as error:
        raise TemporalError(f"the truth is not in COCO format: {error}") from error
    if len(place) < len(names):
        raise TemporalError("two images of the truth have the same id: give every image its own")
    if len(numbers) < len(kinds):
        raise TemporalError("two categories of the truth have the same id: give every category its own")
    return Images(names, place, [str(one["name"]) for one in kinds], numbers, truth)


def detections_of(source: Any, images: Images, name: str) -> tuple[Detections, list[str]]:
    """The boxes of one detector in COCO's result format, and notes about what was left out.

    Raises:
        TemporalError: they cannot be read, or are not about these images.
    """
    given = document(source)
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise TemporalError(f"{name}: expected a list of detections, each with image_id, category_id, bbox and score")
    try:
        unknown = sorted({str(one["image_id"]) for one in given if one["image_id"] not in images.place})
        if unknown:
            raise TemporalError(f"{name} has boxes in images that the truth does not list: {some(unknown)}")
        kept = [one for one in given if one["category_id"] in images.category_place]
        found = Detections(
            np.array([images.place[one["image_id"]] for one in kept], np.int64),
            np.array([images.category_place[one["category_id"]] for one in kept], np.int64),
            _boxes([one["bbox"] for one in kept]),
            np.array([one["score"] for one in kept], float),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise TemporalError(f"{name}: a detection is not in COCO's format: {error}") from error
    left = len(given) - len(kept)
    return found, [f"{name}: {left:,} boxes of categories that the truth does not list were left out."] if left else []


def frame_sets(images: Images, anchors: Any, k: int) -> FrameSets:
    """Anchors among the images with their frames within k.

    Args:
        images: All images; those whose file names have the same folder are a sequence, in the order of their names.
        anchors: Names or ids of the anchors; a dict from each to its frames with their offsets; or None: in every
            sequence, the middle of each 2k + 1 frames, so that no frame is near two anchors.
        k: The largest distance from an anchor, counted in images of the sequence.

    Raises:
        TemporalError: an anchor or one of its frames is not among the images, or offsets do not fit together.
    """
    if k < 0:
        raise TemporalError(f"k is {k}: it cannot be negative")
    # the keys of a JSON object are texts, even if the ids are numbers
    position = {str(one): place for one, place in images.place.items()}
    position |= {name: place for place, name in enumerate(images.names)} | images.place
    sequences = dict[str, list[int]]()
    for place in sorted(range(len(images.names)), key=lambda one: images.names[one]):
        sequences.setdefault(str(PurePosixPath(images.names[place]).parent), []).append(place)
    given_anchors = document(anchors)
    if isinstance(given_anchors, Mapping):
        sets = {
            _found(anchor, position): _offsets(anchor, others, position) for anchor, others in given_anchors.items()
        }
    elif isinstance(given_anchors, str) or not isinstance(given_anchors, Iterable | None):
        raise TemporalError("the anchors are neither a list of images nor an object that gives frames with offsets")
    else:
        at = {place: (row, step) for row in sequences.values() for step, place in enumerate(row)}
        chosen = (
            [row[step] for row in sequences.values() for step in _middles(len(row), k)]
            if given_anchors is None
            else [_found(anchor, position) for anchor in given_anchors]
        )
        sets = {place: _near(*at[place], k) for place in chosen}
    if not sets:
        raise TemporalError("there are no anchors: give at least one")
    rows = [
        sorted((offset, image) for image, offset in {**others, anchor: 0}.items() if abs(offset) <= k)
        for anchor, others in sets.items()
    ]
    return FrameSets(
        [images.names[anchor] for anchor in sets],
        np.concatenate([[0], np.cumsum([len(row) for row in rows])]),
        np.array([image for row in rows for _, image in row], np.int64),
        np.array([offset for row in rows for offset, _ in row], np.int64),
        clip_numbers([str(PurePosixPath(images.names[anchor]).parent) for anchor in sets]),
    )


def _middles(length: int, k: int) -> list[int]:
    """Steps of a sequence that are the middle of 2k + 1; the middle of a shorter one."""
    return list(range(k, length - k, 2 * k + 1)) or [length // 2]


def _near(row: Sequence[int], step: int, k: int) -> dict[int, int]:
    return {row[other]: other - step for other in range(max(step - k, 0), min(step + k + 1, len(row)))}


def _offsets(anchor: Any, others: Any, position: Mapping[Any, int]) -> dict[int, int]:
    """The frames of an anchor with their offsets, which are whole numbers, each of them once and 0 only its own."""
    if not isinstance(others, Mapping):
        raise TemporalError(f"anchor {quoted(anchor)}: expected an object that gives the offset of every frame")
    home, found = _found(anchor, position), dict[int, int]()
    for frame, offset in others.items():
        if isinstance(offset, bool) or not isinstance(offset, Integral):
            raise TemporalError(f"anchor {quoted(anchor)}: the offset of {quoted(frame)} is not a whole number")
        found[_found(frame, position)] = int(offset)
    found[home] = 0
    if len({*found.values()}) < len(found):
        raise TemporalError(f"anchor {quoted(anchor)}: two frames have the same offset (the anchor itself has 0)")
    return found


def _found(name: Any, position: Mapping[Any, int]) -> int:
    if not isinstance(name, Hashable) or name not in position:
        raise TemporalError(f"{quoted(name)} is not an image of the truth: use its file name or id")
    return position[name]


def _spread(annotations: Any, regions: set[Any], numbers: Mapping[Any, int]) -> Any:
    """Every box with its category and whether it is a crowd; a region to ignore belongs to every category."""
    for one in annotations:
        if one["category_id"] in regions:
            yield from ((one, category, True) for category in numbers.values())
        else:
            yield one, numbers[one["category_id"]], _is_so(one, "iscrowd")


def _is_so(one: Mapping[str, Any], claim: str) -> bool:
    """Whether a box claims to be a crowd or to be ignored: 0, 1, true, false, or a text of a number."""
    return bool(int(one.get(claim) or 0))


def _boxes(given: Sequence[Sequence[float]]) -> Any:
    made = np.array(given, float) if len(given) else np.zeros((0, 4))
    if made.ndim != 2 or made.shape[1] != 4 or not (np.abs(made) < LARGEST).all() or (made[:, 2:] < 0).any():
        raise ValueError("a box needs four numbers: left, top, width and height, which cannot be negative or enormous")
    return made
