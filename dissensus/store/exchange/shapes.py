"""LabelMe's shapes and class maps: drawn by the rule of LabelMe's own `shapes_to_label`, and written so that it does.

A map begins as background, and every shape gives its pixels its own class: later shapes lie over earlier ones. Borders
belong to a shape. A shape of the type mask is a picture of bits in a box, whose two corners both belong to it.
"""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from dissensus.arrays import Array, UInt8
from dissensus.errors import ClassesError, JudgementError
from dissensus.labeling.kinds import class_number
from dissensus.records import BACKGROUND, VOID, Classes
from dissensus.store.exchange.bodies import class_word
from dissensus.store.exchange.documents import list_of, object_of
from dissensus.store.exchange.map_answers import refuse_enormous
from dissensus.store.exchange.pngs import bit_png, png_bits
from dissensus.store.exchange.reading import refuse

WORDS = {"__ignore__": VOID, "_ignore_": VOID, "void": VOID, "_background_": BACKGROUND}
"""What LabelMe's examples call labels that are no class of anybody's; a class of that name comes first."""
FAR = 10
"""A point lies at most this many times the image's size away: a line to it is drawn pixel by pixel."""

Point = tuple[float, float]
Shape = dict[str, Any]


def shapes_of(labels: UInt8[Array, "H W"], classes: Classes) -> list[Shape]:
    """One shape of the type mask for every label but the background."""
    found = [int(label) for label in np.unique(labels) if label != BACKGROUND]
    return [_mask_shape(labels == label, _label_word(label, classes)) for label in found]


def drawn_map(shapes: Any, height: Any, width: Any, classes: Classes, where: str) -> UInt8[Array, "H W"]:
    """The map that a file's shapes make of an image of this size.

    Raises:
        JudgementError: names the shape and what is wrong with it.
    """
    sizes = [size for size in (height, width) if isinstance(size, int) and not isinstance(size, bool) and size > 0]
    if len(sizes) < 2:
        refuse(where, "imageHeight and imageWidth are no sizes: open it in LabelMe and save it, which writes them")
    try:
        refuse_enormous(width, height)
    except JudgementError as error:
        refuse(where, str(error))
    canvas = Image.new("L", (width, height), BACKGROUND)
    for number, value in enumerate(list_of(shapes, "shapes", where), start=1):
        place = f"{where}, shape {number}"
        shape = object_of(value, "it", place)
        try:
            _draw(canvas, shape, _label(shape.get("label"), classes))
        except (JudgementError, ClassesError) as error:
            refuse(place, str(error))
    return np.array(canvas)


def _mask_shape(is_set: Array, label: str) -> Shape:
    rows, columns = np.flatnonzero(is_set.any(axis=1)), np.flatnonzero(is_set.any(axis=0))
    (top, bottom), (left, right) = (rows[0], rows[-1]), (columns[0], columns[-1])
    bits = is_set[top : bottom + 1, left : right + 1].astype(np.uint8)
    return {
        "label": label,
        "points": [[float(left), float(top)], [float(right), float(bottom)]],
        "group_id": None,
        "description": "",
        "shape_type": "mask",
        "flags": {},
        "mask": base64.b64encode(bit_png(bits)).decode("ascii"),
    }


def _label_word(label: int, classes: Classes) -> str:
    if label != VOID:
        return class_word(label, classes)
    for word, meant in WORDS.items():
        if meant == VOID and _class_of(word, classes) is None:
            return word
    raise JudgementError("classes are called by all of LabelMe's words for 'ignore': rename one in classes.json")


def _label(name: Any, classes: Classes) -> int:
    if not isinstance(name, str):
        raise JudgementError("its label is no text")
    number = _class_of(name, classes)
    if number is not None:
        return number
    word = name.strip().casefold()
    return WORDS[word] if word in WORDS else class_number(name, classes)


def _class_of(name: str, classes: Classes) -> int | None:
    try:
        return class_number(name, classes)
    except (ClassesError, JudgementError):
        return None


def _draw(canvas: Image.Image, shape: Shape, label: int) -> None:
    kind = shape.get("shape_type") or "polygon"
    points = _points(shape.get("points"), FAR * (canvas.width + canvas.height))
    draw = ImageDraw.Draw(canvas)
    if kind in ("polygon", "oriented_rectangle"):
        if len(points) < 3:
            raise JudgementError(f"its {kind} has {len(points)} points")
        draw.polygon(points, fill=label, outline=label)
        return
    if kind not in ("rectangle", "circle", "mask"):
        raise JudgementError(
            f"its type {str(kind)[:40]!r} covers no area: polygon, rectangle, circle and mask are read, remove others"
        )
    if len(points) != 2:
        raise JudgementError(f"its {kind} has {len(points)} points, not 2")
    (x0, y0), (x1, y1) = points
    if kind == "rectangle":
        draw.rectangle(((min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))), fill=label, outline=label)
    elif kind == "circle":
        radius = math.sqrt((x0 - x1) ** 2 + (y0 - y1) ** 2)
        draw.ellipse(((x0 - radius, y0 - radius), (x0 + radius, y0 + radius)), fill=label, outline=label)
    else:
        _paste(canvas, shape.get("mask"), (int(x0), int(y0), int(x1) + 1, int(y1) + 1), label)


def _paste(canvas: Image.Image, mask: Any, box: tuple[int, int, int, int], label: int) -> None:
    if not isinstance(mask, str):
        raise JudgementError("its mask is no text")
    try:
        bits = png_bits(base64.b64decode(mask))
    except ValueError:
        raise JudgementError("its mask is no base64") from None
    except JudgementError as error:
        raise JudgementError(f"its mask {error}") from None
    left, top, right, bottom = box
    is_within = left >= 0 and top >= 0 and right <= canvas.width and bottom <= canvas.height
    if not is_within or bits.shape != (bottom - top, right - left):
        height, width = bits.shape
        raise JudgementError(
            f"its mask of {width}×{height} pixels does not fill x {left} to {right - 1} and y {top} to {bottom - 1} of "
            f"an image of {canvas.width}×{canvas.height}"
        )
    canvas.paste(label, box, Image.fromarray(bits))


def _points(value: Any, far: int) -> list[Point]:
    points = []
    for point in value if isinstance(value, list) else [None]:
        if not isinstance(point, list) or len(point) != 2:
            raise JudgementError("its points are no list of [x, y]")
        x, y = point
        if not (_is_near(x, far) and _is_near(y, far)):
            raise JudgementError("a point of it is no place in the image, nor near it")
        points.append((x, y))
    return points


def _is_near(value: Any, far: int) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and -far <= value <= far
