"""Maps laid over their photos: what people choose between, and what a report shows."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Bool, UInt8
from dissensus.backends import Unreadable, read_image
from dissensus.errors import StudyError
from dissensus.labeling.kinds.choice import prediction_key
from dissensus.predictions.maps import map_at, resized
from dissensus.records import BACKGROUND, class_colours
from dissensus.steps.masks.columns import MapColumn
from dissensus.store.files import write_whole
from dissensus.store.folder import Folder
from dissensus.store.tables import read_stamps

OPACITY = 0.5
COLOURS = np.array(class_colours(), np.uint8)


class Overlays(Mapping[str, str | None]):
    """Where photos lie, by item, and predictions over photos, by `prediction_key`; these are made when asked for."""

    def __init__(
        self, folder: Folder, models: Sequence[str], photos: Mapping[str, str | None], places: Mapping[str, int]
    ) -> None:
        """Name the models, the photos of the items that are asked about, and their places in the pool."""
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
        """What a model says of an item that is asked about."""
        return map_at(self.columns[model].at(np.array([self.places[item]])), 0)

    def _overlay(self, item: str, model: str, photo: str) -> Path:
        # the name says nothing of the item or the model: whoever serves the folder by mistake gives nothing away; other
        # predictions of the same name are other pictures
        name = hashlib.blake2b(f"{self.contents[model]}\0{model}\0{item}".encode(), digest_size=12).hexdigest()
        path = (self.folder.drawings / f"{name}.png").resolve()
        if not path.exists():
            image = read_image(photo)
            if isinstance(image, Unreadable):
                raise StudyError(f"{item} cannot be shown: {image.reason}")
            drawn = over_photo(image, self.map_of(item, model))
            write_whole(path, lambda unfinished: drawn.save(unfinished, "PNG"))
        return path


def over_photo(photo: Image.Image, labels: UInt8[Array, "H W"]) -> Image.Image:
    """The photo with the classes in their colours over it, each with a line around it; the background stays clear."""
    pixels = np.asarray(photo.convert("RGB"))
    shown = resized(labels, *pixels.shape[:2])
    strength = np.where(is_border(shown), 1.0, OPACITY) * (shown != BACKGROUND)
    mixed = pixels * (1 - strength[..., None]) + COLOURS[shown] * strength[..., None]
    return Image.fromarray(mixed.round().astype(np.uint8))


def is_border(labels: UInt8[Array, "H W"]) -> Bool[Array, "H W"]:
    """Pixels that have another label beside or below them, or before or above."""
    border = np.zeros(labels.shape, bool)
    across, down = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    border[:, 1:] |= across
    border[:, :-1] |= across
    border[1:] |= down
    border[:-1] |= down
    return border


def map_uri(labels: UInt8[Array, "H W"], side: int) -> str:
    """A small indexed PNG of a map as a data URI, clear where there is background."""
    scale = min(1.0, side / max(labels.shape))
    height, width = (max(1, round(length * scale)) for length in labels.shape)
    image = Image.fromarray(resized(labels, height, width)).convert("P")
    image.putpalette(COLOURS.tobytes())
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True, transparency=bytes([0] + [255] * 255))
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"
