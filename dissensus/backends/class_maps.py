"""From a model's output for one image to the class of each pixel."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dissensus.arrays import Array, Int, UInt8
from dissensus.backends.preprocess import Size, sides
from dissensus.errors import PredictionError
from dissensus.predictions.maps import checked_map

Axis = Literal["first", "last"]
LARGEST = 2**31
"""Floats beyond this are not labels, and could not be converted to integers."""


def class_map(
    output: Array, classes: int, axis: Axis | Literal["auto"], likely: Axis, *, seen: Size | None = None
) -> UInt8[Array, "h w"]:
    """The class of each pixel, from labels (H×W, 1×H×W, H×W×1) or from scores (C×H×W, H×W×C).

    Ties go to the lowest class. With axis 'auto', the classes are on the axis whose length fits, and on the `likely`
    one if both do. `seen` is the size of the model's input, to which its map must be proportional.

    Raises:
        PredictionError: the shape is wrong, a score is NaN, or a label is not a class.
    """
    if output.dtype.kind not in "iufb" or output.ndim not in (2, 3) or 0 in output.shape:
        raise PredictionError(
            f"got an array of {output.dtype} and shape {output.shape} for an image: return labels H×W or scores C×H×W"
        )
    labels = output
    if output.ndim == 3:
        scores = np.moveaxis(output, 0 if _axis(output.shape, classes, axis, likely, seen) == "first" else -1, 0)
        labels = scores[0] if len(scores) == 1 else _highest(scores)
    if not _is_proportional(labels.shape, seen):
        due = (
            "a square image: the map must be square"
            if isinstance(seen, int)
            else f"{_image(seen)}: the map must have the same proportions"
        )
        raise PredictionError(f"got a map of {labels.shape[0]}×{labels.shape[1]} for {due}")
    whole = _whole(labels)
    try:
        return checked_map(whole, classes)
    except PredictionError as error:
        raise PredictionError(f"{error}. If the model has other classes, name them: -p labels=voc, or a list") from None


def _axis(shape: tuple[int, ...], classes: int, axis: Axis | str, likely: Axis, seen: Size | None) -> Axis:
    """The axis that holds the classes, or a single label."""
    ends: dict[Axis, tuple[int, tuple[int, ...]]] = {"first": (shape[0], shape[1:]), "last": (shape[2], shape[:2])}
    fitting = [
        end
        for end, (length, rest) in ends.items()
        if axis in ("auto", end) and length in (1, classes) and _is_proportional(rest, seen)
    ]
    if not fitting:
        where = "no axis" if axis == "auto" else f"no {axis} axis"
        beside = " next to a height and a width of the same proportions" if isinstance(seen, tuple) else ""
        raise PredictionError(
            f"shape {'×'.join(map(str, shape))} for {_image(seen)} has {where} of {classes} classes{beside}: set labels"
            " to the meaning of its outputs, one name per output, or set classes_axis"
        )
    return likely if likely in fitting else fitting[0]


def _is_proportional(shape: tuple[int, ...], seen: Size | None) -> bool:
    """True if some stride makes a map of this shape from the input, allowing for the rounding of a rectangle.

    The stride s has |h − H/s| < 1 and |w − W/s| < 1; a square stays square however it is rounded.
    """
    if seen is None:
        return True
    (height, width), (rows, columns) = sides(seen), shape
    if height == width:
        return rows == columns
    return (rows - 1) * width < (columns + 1) * height and (columns - 1) * height < (rows + 1) * width


def _image(seen: Size | None) -> str:
    return f"an image of {seen[0]}×{seen[1]}" if isinstance(seen, tuple) else "an image"


def _highest(scores: Array) -> Int[Array, "h w"]:
    """Index of the highest score of each pixel; ties go to the lowest."""
    if np.isnan(scores).any():
        pixels = int(np.isnan(scores).any(axis=0).sum())
        raise PredictionError(f"{pixels:,} of {scores[0].size:,} pixels have a score that is NaN: check the model")
    return scores.argmax(axis=0)


def _whole(labels: Array) -> Array:
    """Labels as integers; floats are accepted if they are whole."""
    if labels.dtype.kind != "f":
        return labels
    is_whole = (np.abs(labels) < LARGEST) & (np.floor(labels) == labels)
    if not is_whole.all():
        raise PredictionError(
            f"{labels[~is_whole][0]:.4g} is not a label: return whole numbers, or one score per class for each pixel"
        )
    return labels.astype(np.int64)
