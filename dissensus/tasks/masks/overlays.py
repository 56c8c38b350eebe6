"""How annotators see maps: as overlays on photos to choose between, or as masks to start from or to check."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Bool, UInt8
from dissensus.backends import Unreadable, read_image
from dissensus.errors import StudyError
from dissensus.labeling.kinds.base import OTHER, left_of
from dissensus.labeling.kinds.choice import prediction_key
from dissensus.predictions.maps import map_at, resized
from dissensus.records import BACKGROUND, VOID, Question, class_colours
from dissensus.store.answers import AnswerLog
from dissensus.store.exchange.map_answers import answer_of, labels_of
from dissensus.store.files import write_whole
from dissensus.store.folder import Folder
from dissensus.store.tables import read_stamps
from dissensus.tasks.masks.columns import MapColumn
from dissensus.tasks.masks.sizes import image_size

OPACITY = 0.5
COLOURS = np.array(class_colours(), np.uint8)


class Overlays(Mapping[str, str | None]):
    """Paths of photos, by item, and of overlays of predictions, by `prediction_key`; overlays are made on demand."""

    def __init__(
        self, folder: Folder, models: Sequence[str], photos: Mapping[str, str | None], places: Mapping[str, int]
    ) -> None:
        self.folder, self.photos, self.places = folder, photos, places
        self.contents = {name: read_stamps(folder.predictions(name), "content")["content"] for name in models}
        self.columns = {name: MapColumn(folder, name) for name in models}
        self.keys_of = {prediction_key(item, name): (item, name) for item in photos for name in models}

    def __getitem__(self, key: str) -> str | None:
        if key in self.photos:
            return self.photos[key]
        item, model = self.keys_of[key]
        photo = self.photos[item]
        return None if photo is None else str(self._overlay(item, model, photo))

    def __iter__(self) -> Iterator[str]:
        return iter((*self.photos, *self.keys_of))

    def __len__(self) -> int:
        return len(self.photos) + len(self.keys_of)

    def map_of(self, item: str, model: str) -> UInt8[Array, "H W"]:
        """A model's map of an item in the questions."""
        return map_at(self.columns[model].at(np.array([self.places[item]])), 0)

    def _overlay(self, item: str, model: str, photo: str) -> Path:
        # the file name does not reveal the item or the model, in case the folder is served by mistake; changed
        # predictions of a model get other file names
        key = f"{self.contents[model]}\0{model}\0{item}".encode() + COLOURS.tobytes()  # other colours, other files
        name = hashlib.blake2b(key, digest_size=12).hexdigest()
        path = (self.folder.drawings / f"{name}.png").resolve()
        if not path.exists():
            image = read_image(photo)
            if isinstance(image, Unreadable):
                raise StudyError(f"{item} cannot be shown: {image.reason}")
            drawn = over_photo(image, self.map_of(item, model))
            write_whole(path, lambda unfinished: drawn.save(unfinished, "PNG"))
        return path


MATERIAL = {"mask": "mask", "check": "marks"}
"""Name of each answer in the page's data, by its key in `shown`."""


def _marked(labels: UInt8[Array, "H W"]) -> set[int]:
    return set(np.unique(labels).tolist()) - {BACKGROUND, VOID}


def material_of(overlays: Overlays, question: Question, shown: dict[str, Any], answers: AnswerLog) -> dict[str, Any]:
    """The mask and the errors marked in it; a model's map to start from; or the classes in two predictions."""
    body = question.body
    named = {body.get(side) for side in ("first", "second", "prefill")} - {None}
    if named and (body["item"] not in overlays.photos or not named <= overlays.columns.keys()):
        return {}  # one of the user's own questions
    if question.kind == "choice":
        left = left_of(shown)
        sides = {"left": body[left], "right": body[OTHER[left]]}
        marked = {where: _marked(overlays.map_of(body["item"], model)) for where, model in sides.items()}
        empty = [where for where, labels in marked.items() if not labels]
        every = sorted({label for labels in marked.values() for label in labels})
        return {"labels": every} | ({"empty": empty} if empty else {})
    if question.kind == "mask" and "prefill" in body:
        begun = overlays.map_of(body["item"], body["prefill"])
        return {"mask": answer_of(begun)} if begun.size else {}
    found = {name: answers.given(shown[key]) for key, name in MATERIAL.items() if key in shown}
    told = {name: answer for name, answer in found.items() if answer is not None}
    return told | ({"mask": _in_photos_size(overlays.photos.get(body["item"]), told["mask"])} if "mask" in told else {})


def _in_photos_size(uri: str | None, mask: dict[str, Any]) -> dict[str, Any]:
    """A mask resized to its photo: it may have been drawn in another tool at another size."""
    size = None if uri is None else image_size(uri)
    if size is None or isinstance(size, Unreadable) or size == (mask["height"], mask["width"]):
        return mask
    return answer_of(resized(labels_of(mask), *size))


def over_photo(photo: Image.Image, labels: UInt8[Array, "H W"]) -> Image.Image:
    """The photo with an overlay of the classes in their colours, each outlined; the background stays clear."""
    pixels = np.asarray(photo.convert("RGB"))
    shown = resized(labels, *pixels.shape[:2])
    strength = np.where(is_border(shown), 1.0, OPACITY) * (shown != BACKGROUND)
    mixed = pixels * (1 - strength[..., None]) + COLOURS[shown] * strength[..., None]
    return Image.fromarray(mixed.round().astype(np.uint8))


def is_border(labels: UInt8[Array, "H W"]) -> Bool[Array, "H W"]:
    """Pixels with a different label directly to the left, right, top or bottom."""
    border = np.zeros(labels.shape, bool)
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    border[:, 1:] |= across
    border[:, :-1] |= across
    border[1:] |= down
    border[:-1] |= down
    return border


def map_png(labels: UInt8[Array, "H W"], side: int) -> bytes:
    """An indexed PNG of a map with at most `side` pixels on its longer side and a transparent background."""
    scale = min(1.0, side / max(labels.shape))
    height, width = (max(1, round(length * scale)) for length in labels.shape)
    image = Image.fromarray(resized(labels, height, width)).convert("P")
    image.putpalette(COLOURS.tobytes())
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True, transparency=bytes([0] + [255] * 255))
    return buffer.getvalue()


def map_uri(labels: UInt8[Array, "H W"], side: int) -> str:
    """The same as a data URI."""
    return f"data:image/png;base64,{base64.b64encode(map_png(labels, side)).decode('ascii')}"
