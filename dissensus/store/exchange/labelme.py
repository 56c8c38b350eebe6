"""LabelMe's JSON: one file per image, in a folder or a .zip.

The flags of an image are answers to 'does it contain …?': true is yes, false is no. In a study of masks, its shapes are
the mask, and the flag `unfit` says that there is none. All answers with all their fields are under `dissensus`, which
LabelMe preserves when it saves a file; anything edited in LabelMe becomes a new answer.

Shapes are drawn as LabelMe's own `shapes_to_label` does, and written so that it draws them the same way. A map starts
as background, and every shape paints its pixels with its class: later shapes cover earlier ones. A shape includes its
border. A shape of type mask is a bitmap in a box, both of whose corners belong to it.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from dissensus.arrays import Array, UInt8
from dissensus.errors import ClassesError, JudgementError
from dissensus.labeling.kinds import class_number
from dissensus.records import BACKGROUND, VOID, Classes, Response
from dissensus.store.exchange.answers import Reading, Writing, class_called, class_word, fields_of, refuse, said_of
from dissensus.store.exchange.files import (
    OURS,
    contents,
    item_at,
    object_of,
    objects_of,
    our_answers,
    own_name,
    parsed,
    refuse_kind,
    without_ending,
    write_together,
)
from dissensus.store.exchange.map_answers import (
    KIND,
    UNFIT,
    answer_of,
    bit_png,
    labels_of,
    png_bits,
    refuse_enormous,
)

VERSION = "5.5.0"
"""The version written into LabelMe files."""
ENDING = ".json"
WRITTEN = ("contains", "pick", "label", KIND, "check")
"""Kinds of questions about one image; a check becomes neither flag nor shape, only one of the answers."""
WORDS = {"__ignore__": VOID, "_ignore_": VOID, "void": VOID, "_background_": BACKGROUND}
"""Labels from LabelMe's examples that stand for no class; a class of the same name takes precedence."""
FAR = 10
"""How far out a point may lie, in image sizes: lines are drawn pixel by pixel, so distant points would be slow."""

Content = dict[str, Any]
Point = tuple[float, float]


def read_labelme(reading: Reading) -> Iterator[Response]:
    """Read the answers in a LabelMe file, a folder of them, or a .zip."""
    for _, where, file, data in contents(reading.path, ENDING):
        yield from _responses(reading.of(file), object_of(parsed(data, where), "it", where), where)


def write_labelme(to: Writing, responses: Iterable[Response]) -> int:
    """Write one file per image into a new folder or a .zip and return the number of answers.

    Raises:
        JudgementError: a question has no counterpart in LabelMe, or the folder is not empty.
    """
    by_item: dict[str, list[Response]] = {}
    for response in responses:
        if response.question.kind not in WRITTEN:
            refuse_kind(to.path, response.question, "LabelMe, whose files are about one image each")
        by_item.setdefault(response.question.body["item"], []).append(response)
    write_together(to.path, _files(by_item, to))
    return sum(map(len, by_item.values()))


def _files(by_item: dict[str, list[Response]], to: Writing) -> Iterator[tuple[str, bytes]]:
    taken: set[str] = set()
    for item, responses in by_item.items():
        # the latest mask or 'unfit', by anybody; masks drawn in training do not count
        masks = [one for one in responses if one.question.kind == KIND and one.role != "training"]
        is_unfit = bool(masks) and masks[-1].answer == UNFIT
        mask = masks[-1].answer if masks and not is_unfit else {}
        flags = _flags(responses, to.classes) | ({UNFIT: True} if is_unfit else {})
        answers = [fields_of(response, to.classes) for response in responses]
        content: Content = {
            "version": VERSION,
            "flags": flags,
            "shapes": _shapes(labels_of(mask), to.classes) if mask else [],
            "imagePath": to.uri_of(item) or item,
            "imageData": None,
            "imageHeight": mask.get("height"),
            "imageWidth": mask.get("width"),
            OURS: {"item": item, "flags": flags, "answers": answers} | ({"drawn": masks[-1].id} if masks else {}),
        }
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=2)
        name = without_ending(item.replace("\\", "/").split("/")[-1])  # LabelMe looks for it next to the image
        yield own_name(name, item, taken) + ENDING, text.encode()


def _flags(responses: list[Response], classes: Classes) -> dict[str, bool]:
    """The latest answer about each class, by anybody; 'unsure' and 'unfit' set no flag."""
    flags: dict[str, bool] = {}
    for response in responses:
        flags |= {class_word(label, classes): is_there for label, is_there in said_of(response).items()}
    return flags


def _responses(reading: Reading, content: Content, where: str) -> Iterator[Response]:
    if "flags" not in content and "shapes" not in content:
        refuse(where, "is not a LabelMe file: it has neither flags nor shapes")
    ours = object_of(content.get(OURS, {}), OURS, where)
    answers = our_answers(reading, ours, where)
    yield from answers
    flags = object_of(content.get("flags") or {}, "flags", where)
    for name, value in flags.items():
        if not isinstance(value, bool):
            refuse(where, f"the flag '{name}' must be true or false")
    if reading.task == "masks":
        changed = _changed_mask(reading, content, ours, answers, where)
    else:
        before = object_of(ours.get("flags") or {}, "flags", where)
        said = {name: "yes" if value else "no" for name, value in flags.items() if before.get(name) is not value}
        changed = [{"label": name, "answer": answer} for name, answer in said.items()]
    for fields in changed:
        if "question" not in fields:
            fields["item"] = ours.get("item") or item_at(content.get("imagePath"), reading, where)
        yield reading.response({**fields, "annotator": reading.annotator or "labelme"}, where)


def _changed_mask(
    reading: Reading, content: Content, ours: Content, answers: list[Response], where: str
) -> list[Content]:
    """The mask, if it differs from the one that we wrote; no shapes mean no mask if there was none before."""
    before = next((one for one in answers if one.question.kind == KIND and one.id == ours.get("drawn")), None)
    is_unfit = (content.get("flags") or {}).get(UNFIT, False)
    if before is None and ours and not is_unfit and not content.get("shapes"):
        return []
    answer = UNFIT if is_unfit else answer_of(_drawn_map(content, reading.classes, where))
    if before is None:
        return [{"kind": KIND, "answer": answer}]
    return [{"kind": KIND, "question": before.question.body, "answer": answer}] if answer != before.answer else []


def _shapes(labels: UInt8[Array, "H W"], classes: Classes) -> list[Content]:
    """One shape of type mask for every label except the background."""
    found = [int(label) for label in np.unique(labels) if label != BACKGROUND]
    return [_mask_shape(labels == label, _label_word(label, classes)) for label in found]


def _mask_shape(is_set: Array, label: str) -> Content:
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
        if meant == VOID and class_called(word, classes) is None:
            return word
    raise JudgementError("all of LabelMe's words for 'ignore' are names of classes: rename one in classes.json")


def _label(name: Any, classes: Classes) -> int:
    if not isinstance(name, str):
        raise JudgementError("its label is not a string")
    word = name.strip().casefold()
    return WORDS[word] if word in WORDS and class_called(name, classes) is None else class_number(name, classes)


def _drawn_map(content: Content, classes: Classes, where: str) -> UInt8[Array, "H W"]:
    """The map that a file's shapes draw."""
    sizes = [content.get(name) for name in ("imageWidth", "imageHeight")]
    width, height = (size if isinstance(size, int) and not isinstance(size, bool) else 0 for size in sizes)
    if width < 1 or height < 1:
        refuse(where, "imageHeight and imageWidth are missing or invalid: save the file in LabelMe to add them")
    try:
        refuse_enormous(width, height)
    except JudgementError as error:
        refuse(where, str(error))
    canvas = Image.new("L", (width, height), BACKGROUND)
    for place, shape in objects_of(content.get("shapes"), "shapes", where, "shape"):
        try:
            _draw(canvas, shape, _label(shape.get("label"), classes))
        except (JudgementError, ClassesError) as error:
            refuse(place, str(error))
    return np.array(canvas)


def _draw(canvas: Image.Image, shape: Content, label: int) -> None:
    kind = shape.get("shape_type") or "polygon"
    points = _points(shape.get("points"), FAR * (canvas.width + canvas.height))
    draw = ImageDraw.Draw(canvas)
    if kind in ("polygon", "oriented_rectangle"):
        if len(points) < 3:
            raise JudgementError(f"its {kind} has {len(points)} points: it needs at least 3")
        draw.polygon(points, fill=label, outline=label)
        return
    if kind not in ("rectangle", "circle", "mask"):
        raise JudgementError(
            f"its type {str(kind)[:40]!r} covers no area: remove it, or use polygon, rectangle, circle or mask"
        )
    if len(points) != 2:
        raise JudgementError(f"its {kind} has {len(points)} points: it needs 2")
    (x0, y0), (x1, y1) = points
    if kind == "rectangle":
        draw.rectangle(((min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))), fill=label, outline=label)
    elif kind == "circle":
        radius = math.hypot(x0 - x1, y0 - y1)
        draw.ellipse(((x0 - radius, y0 - radius), (x0 + radius, y0 + radius)), fill=label, outline=label)
    else:
        _paste(canvas, shape.get("mask"), (int(x0), int(y0), int(x1) + 1, int(y1) + 1), label)


def _paste(canvas: Image.Image, mask: Any, box: tuple[int, int, int, int], label: int) -> None:
    if not isinstance(mask, str):
        raise JudgementError("its mask is not a string")
    try:
        bits = png_bits(base64.b64decode(mask))
    except ValueError:
        raise JudgementError("its mask is not valid base64") from None
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
            raise JudgementError("its points are not a list of [x, y]")
        for place in point:
            if not isinstance(place, (int, float)) or isinstance(place, bool) or not -far <= place <= far:
                raise JudgementError("one of its points lies far outside the image")
        points.append((point[0], point[1]))
    return points
