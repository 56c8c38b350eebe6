"""Predictions of segmentation models: run lengths of every item's map, at the size of the item's image."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL.Image import Image

from dissensus.arrays import Array, UInt8
from dissensus.backends import MapFolder, Segmenter, Unreadable, map_preprocess, open_segmenter
from dissensus.errors import PredictionError, StudyError
from dissensus.predictions.maps import class_pixels, packed, resized
from dissensus.records import BACKGROUND
from dissensus.steps.pooling import pool_ids, pool_size
from dissensus.steps.pools import open_pool
from dissensus.steps.predicting import Batches, Parted, Source
from dissensus.steps.workspace import Workspace
from dissensus.store.files import column_fingerprint
from dissensus.store.folder import Folder
from dissensus.store.tables import write_pieces
from dissensus.tasks.masks.columns import MAP_GROUP, maps_in
from dissensus.tasks.masks.sizes import image_size

SCHEMA = pa.schema(
    [
        pa.field("height", pa.int32(), nullable=False),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("runs", pa.binary(), nullable=False),
        pa.field("problem", pa.string()),
    ]
)

Mapped = UInt8[Array, "h w"] | Unreadable
"""A map, or the reason why there is none."""


class MaskSource(Source):
    """Reads the maps of one model from a folder, or runs the model; both work part by part."""

    segmenter: Segmenter | None = None
    maps: MapFolder | None = None
    fits_in_memory = False

    def __init__(self, work: Workspace[Any], name: str) -> None:
        super().__init__(work, name)
        self.is_folder, self.is_whole = self.is_whole, False
        self.inputs["preprocess"] = self.preprocess  # labels in a folder may mean other classes
        self.ids: list[str] = []

    def open(self) -> None:
        """Load the model, or open its folder."""
        if self.work.folder.enumeration.exists():
            raise StudyError("maps need a pool of images, not an enumerated pool: start a new study with images")
        self.ids = pool_ids(self.work.folder).to_pylist()
        preprocess = map_preprocess(self.preprocess)
        if self.is_folder:
            self.maps = MapFolder(self.model.target, self.work.classes, preprocess.labels)
            self.maps.check_covers(self.ids)
        else:
            self.segmenter = open_segmenter(self.model.backend, self.model.target, preprocess, self.work.classes)
            _ = self.images  # fails early if the pool has no files

    def part(self, rows: Sequence[int], batches: Batches | None = None) -> pa.Table:
        """The maps of some items; empty with the reason for items that have none."""
        maps = self._read_maps(rows) if self.segmenter is None else self._made_maps(rows, batches)
        return pa.table(
            {
                "height": [0 if isinstance(one, Unreadable) else one.shape[0] for one in maps],
                "width": [0 if isinstance(one, Unreadable) else one.shape[1] for one in maps],
                "runs": [b"" if isinstance(one, Unreadable) else packed(one) for one in maps],
                "problem": [one.reason if isinstance(one, Unreadable) else None for one in maps],
            },
            schema=SCHEMA,
        )

    def _made_maps(self, rows: Sequence[int], batches: Batches | None) -> list[Mapped]:
        maps: list[Mapped] = []
        for _, images in self.images.batches(rows) if batches is None else batches:
            maps += self._segmented(images)
        return maps

    def _segmented(self, images: list[Image | Unreadable]) -> list[Mapped]:
        """A map of each image at its own size, or the reason why there is none."""
        assert self.segmenter is not None, "open first"
        readable = [image for image in images if not isinstance(image, Unreadable)]
        made = iter(self.segmenter(readable) if readable else ())
        return [
            image if isinstance(image, Unreadable) else resized(next(made), image.height, image.width)
            for image in images
        ]

    def _read_maps(self, rows: Sequence[int]) -> list[Mapped]:
        """Maps in a folder, resized to their images if the pool has images."""
        assert self.maps is not None, "open first"
        sizes = _image_sizes(self.work.folder, rows)
        return [self._read_map(self.ids[row], size) for row, size in zip(rows, sizes, strict=True)]

    def _read_map(self, item: str, size: tuple[int, int] | Unreadable | None) -> Mapped:
        assert self.maps is not None, "open first"
        if isinstance(size, Unreadable):
            return size
        found = self.maps.get(item)
        return found if size is None or isinstance(found, Unreadable) else resized(found, *size)

    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        """Write the maps, problems if there are any, and a fingerprint of the maps.

        Raises:
            PredictionError: there are no maps, or all of them are background.
        """
        summary = _Summary(len(self.work.classes))
        content = column_fingerprint(
            pool_size(self.work.folder), (piece for part in parts() for piece in summary.add(part))
        )
        if summary.unreadable == pool_size(self.work.folder):
            raise PredictionError(f"{self.name}: no item has a map ({summary.reason})")
        if not summary.has_category:
            raise PredictionError(
                f"{self.name}: every map is entirely background or ignored, so there is nothing to compare: check its "
                "labels and preprocessing"
            )
        stamps = stamps | {"content": content, "unreadable": summary.unreadable}
        write_pieces(path, SCHEMA, parts(), stamps, MAP_GROUP)


class _Summary:
    """Summary of all maps, gathered part by part."""

    def __init__(self, classes: int) -> None:
        self.classes = classes
        self.unreadable = 0
        self.reason: str | None = None
        self.has_category = False

    def add(self, part: pa.Table) -> list[memoryview]:
        """Add a part, and return its maps as bytes."""
        maps = maps_in(part)
        self.unreadable += int((maps.heights == 0).sum())
        self.reason = self.reason or next((one for one in part["problem"].to_pylist() if one), None)
        self.has_category |= bool(class_pixels(maps, self.classes)[:, BACKGROUND + 1 :].any())
        return [maps.heights.astype(np.int32).data, maps.widths.astype(np.int32).data, maps.data.data]


def _image_sizes(folder: Folder, rows: Sequence[int]) -> list[tuple[int, int] | Unreadable | None]:
    """Height and width of the upright images of some items; None for items without a file."""
    return [None if uri is None else image_size(uri) for uri in open_pool(folder).uris(rows)]
