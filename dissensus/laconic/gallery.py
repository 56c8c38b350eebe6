"""Pictures as people see them: the originals of a laconic test, what is left of them, and how many bytes that is."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from dissensus.arrays import Array, UInt8
from dissensus.backends import Unreadable
from dissensus.errors import StudyError
from dissensus.labeling import prediction_key
from dissensus.laconic.originals import Originals
from dissensus.records import as_text
from dissensus.reductions.entropy import png_bytes
from dissensus.reductions.pictures import Levels, reduction_named
from dissensus.reductions.revealing import levels_at
from dissensus.steps.workspace import Workspace
from dissensus.store.files import write_whole
from dissensus.store.settings.laconic import LaconicSettings

ROOM = 1 << 26
"""Bytes of originals that are kept in memory."""
SIZES = 1 << 14
"""Sizes that are remembered: measuring one takes as long as a hundred steps of a player."""


class Gallery:
    """The originals by item id, and their reduced versions; may be used from several threads."""

    def __init__(self, work: Workspace[Any], settings: LaconicSettings) -> None:
        self.work, self.settings = work, settings
        self._originals = Originals(work, settings)
        self._pixels = lru_cache(max(2, ROOM // (3 * settings.side**2)))(self._read)
        self._bytes = lru_cache(SIZES)(self._measured)

    def original(self, item: str) -> UInt8[Array, "h w 3"]:
        """The pixels of an image before it is reduced.

        Raises:
            StudyError: the study has no such image, or it cannot be read.
        """
        return self._pixels(item)

    def can_show(self, item: str) -> bool:
        """Whether the image can still be read."""
        try:
            self.original(item)
        except StudyError:
            return False
        return True

    def reduced(self, item: str, reduction: str, levels: Levels) -> UInt8[Array, "r s 3"]:
        return reduction_named(reduction)(self.original(item), levels)

    def levels(self, item: str, reduction: str, steps: Sequence[int]) -> Levels:
        """The levels of an image that somebody has uncovered by so many steps along each axis."""
        height, width = self.original(item).shape[:2]
        return levels_at(reduction_named(reduction), (height, width), steps, self.settings.spacing)

    def size(self, item: str, reduction: str, levels: Levels) -> int:
        """The bytes of a reduced image."""
        return self._bytes(item, reduction, levels)

    def share(self, item: str, reduction: str, levels: Levels) -> float:
        """The bytes of a reduced image as a share of the original's."""
        whole = reduction_named(reduction).original
        return self.size(item, reduction, levels) / self.size(item, reduction, whole)

    def _read(self, item: str) -> UInt8[Array, "h w 3"]:
        (place,) = self.work.pool.places([item]) if item in self.work.pool else (None,)
        if place is None:
            raise StudyError(f"item '{item}' is not in the pool of this study")
        pixels = self._originals.pixels(place)
        if isinstance(pixels, Unreadable):
            raise StudyError(f"{item} cannot be shown: {pixels.reason}")
        return pixels

    def _measured(self, item: str, reduction: str, levels: Levels) -> int:
        return png_bytes(self.reduced(item, reduction, levels))


def quick_png(pixels: UInt8[Array, "h w 3"]) -> bytes:
    """The image as a PNG file that is made quickly: people wait for it, and nobody measures it."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def mepi_key(item: str, reduction: str, levels: Levels) -> str:
    """A unique name for a reduced image, which no browser gets to see; models that share it are asked about once."""
    return prediction_key(item, as_text([reduction, list(levels)]))


class Paths(Mapping[str, str | None]):
    """Paths of originals, by item, and of reduced images, by `mepi_key`; these are made on demand."""

    def __init__(self, gallery: Gallery, ids: Sequence[str], mepis: Mapping[str, tuple[str, str, Levels]]) -> None:
        self.gallery, self.ids, self.mepis = gallery, ids, mepis

    @cached_property
    def photos(self) -> dict[str, str | None]:
        pool = self.gallery.work.pool
        return dict(zip(self.ids, pool.uris(pool.places(list(self.ids))), strict=True))

    def __getitem__(self, key: str) -> str | None:
        if key in self.mepis:
            return str(self._drawn(key))
        return self.photos[key]

    def __iter__(self) -> Iterator[str]:
        return iter((*self.photos, *self.mepis))

    def __len__(self) -> int:
        return len(self.photos) + len(self.mepis)

    def _drawn(self, key: str) -> Path:
        settings = self.gallery.settings
        named = f"{key}\0{settings.side}\0{settings.crop}"
        name = hashlib.blake2b(named.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()
        path = (self.gallery.work.folder.drawings / f"{name}.png").resolve()
        if not path.exists():
            data = quick_png(self.gallery.reduced(*self.mepis[key]))
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, lambda unfinished: unfinished.write_bytes(data))
        return path
