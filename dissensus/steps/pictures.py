"""Thumbnails of items for self-contained pages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from dissensus.backends import Unreadable, read_image
from dissensus.progress import Progress
from dissensus.report.pictures import data_uri
from dissensus.report.scores.pairs import WIDE
from dissensus.steps.pools import Pool


def thumbnails(pool: Pool, items: Sequence[str], side: int, progress: Progress) -> dict[str, str]:
    """Thumbnails as data URIs by item; items without an image that can be read are left out."""
    places = pool.places(items)
    pictures = Pictures(pool, places, side, progress)
    made = {item: pictures.of(place)[0] for item, place in zip(items, places, strict=True)}
    return {item: uri for item, uri in made.items() if uri is not None}


class Pictures:
    """Thumbnails of items as data URIs, each made once."""

    def __init__(self, pool: Pool, items: Sequence[int], side: int, progress: Progress) -> None:
        """Look up the files of some items; thumbnails are at most `side` pixels wide and high.

        Strips may be twice as wide, since pages stack them.
        """
        self.side = side
        self.tell = progress
        self.made = 0
        self.uris = dict(zip(items, pool.uris(items), strict=True))
        self.of = lru_cache(maxsize=None)(self._make)

    def _make(self, item: int) -> tuple[str | None, bool]:
        """Data URI of an item's thumbnail (None without an image), and whether to show it pixelated."""
        self.made += 1
        self.tell("pictures", self.made, 0)
        uri = self.uris[item]
        image = read_image(uri) if uri else Unreadable("no path")
        if isinstance(image, Unreadable):
            return None, False
        is_wide = image.width >= WIDE * image.height
        return data_uri(image, self.side * 2 if is_wide else self.side)
