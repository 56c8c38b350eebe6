"""Pictures of the page: each is embedded once, up to a limit, and known by its number."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from dissensus.report.galleries import picture_number
from dissensus.report.masks.data import ShownImage
from dissensus.report.pictures import width_over_height

NARROW, WIDE = 0.6, 2.2
"""Shapes, width over height, between which pictures are shown as they are; others get margins."""


@dataclass
class Album:
    """Data URIs with their numbers; `limit` is how many characters of them a page may hold."""

    limit: int
    numbers: dict[str, int] = field(default_factory=dict)
    spent: int = 0
    _shapes: dict[str, float] = field(default_factory=dict)

    def has_room_for(self, pictures: Iterable[str | None]) -> bool:
        """True where the pictures that are not there yet fit below the limit."""
        fresh = {picture for picture in pictures if picture is not None and picture not in self.numbers}
        return self.spent + sum(map(len, fresh)) <= self.limit

    def number(self, item: str, picture: str | None) -> int | None:
        """The picture's number, to which it is added; None without a picture.

        Raises:
            ValueError: the picture is not a base64 data URI of a bitmap, so it must not enter the page's style sheet.
        """
        if picture is not None and picture not in self.numbers:
            self.spent += len(picture)
        return picture_number(item, picture, self.numbers)

    def shape(self, image: ShownImage) -> float:
        """Width over height of an image, held between narrow and wide."""
        known = image.photo or image.truth or next(iter(image.maps.values()), None)
        if known is None:
            return 1.5
        if known not in self._shapes:
            self._shapes[known] = round(min(WIDE, max(NARROW, width_over_height(known))), 2)
        return self._shapes[known]
