"""Images with the MEPIs of every classifier and reduction side by side, and the paths that lead to them."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

from dissensus.images import open_image
from dissensus.report.galleries import Album
from dissensus.report.laconic.data import LaconicReport, Levels, Picture, Shown
from dissensus.report.pictures import data_uri

FRAMES = 7
"""Frames of a film strip, the first and the last included."""
SMALL = 24_000
"""PNG files of up to this many bytes are embedded as they are; larger pictures become JPEGs."""
SIDE = 192
"""Height and width of those JPEGs in pixels, at most."""
COARSE = 96
"""Pictures up to this many pixels on each side are shown with hard pixel edges."""
MOST_CHARACTERS = 40_000_000
"""Pictures on one page, together; further images are left out, and the page says so."""


@dataclass(frozen=True)
class Frame:
    """A picture by its number in the album, and whether it has few pixels, which then get hard edges."""

    number: int
    is_coarse: bool


@dataclass(frozen=True)
class Strip:
    """One MEPI: what is left of the image, and frames from the original to it."""

    classifier: str
    reduction: str
    ratio: float
    bytes: int
    steps: int
    frames: tuple[Frame, ...]

    @property
    def last(self) -> Frame:
        return self.frames[-1]


@dataclass(frozen=True)
class Card:
    """One image: its original, and a row of MEPIs for each classifier, one for each reduction (None without one)."""

    image: str
    label: str
    original: Frame
    rows: tuple[tuple[str, tuple[Strip | None, ...]], ...]

    @property
    def strips(self) -> tuple[Strip, ...]:
        return tuple(strip for _, row in self.rows for strip in row if strip is not None)


def cards(report: LaconicReport, album: Album) -> tuple[tuple[Card, ...], int]:
    """The images that fit on the page, in the given order, and how many are left out."""
    if report.picture is None:
        return (), 0
    by_image: dict[str, list[Shown]] = {}
    for shown in report.shown:
        by_image.setdefault(shown.image, []).append(shown)
    made: list[Card] = []
    for found in by_image.values():
        if album.spent > MOST_CHARACTERS:
            break
        made.append(_card(found, report, report.picture, album))
    return tuple(made), len(by_image) - len(made)


def _card(found: Sequence[Shown], report: LaconicReport, picture: Picture, album: Album) -> Card:
    first = found[0]
    original = _frame(first.image, first.path[0], first.reduction, picture, album)
    strips = {(one.classifier, one.reduction): _strip(one, picture, album) for one in found}
    names = [name for name in report.result.classifiers if any(classifier == name for classifier, _ in strips)]
    rows = tuple((name, tuple(strips.get((name, one)) for one in report.result.reductions)) for name in names)
    return Card(first.image, first.label, original, rows)


def _strip(shown: Shown, picture: Picture, album: Album) -> Strip:
    places = film_places(len(shown.path))
    frames = tuple(_frame(shown.image, shown.path[at], shown.reduction, picture, album) for at in places)
    return Strip(shown.classifier, shown.reduction, shown.ratio, shown.bytes, len(shown.path) - 1, frames)


def film_places(length: int) -> list[int]:
    """Places of a path to show: its ends and others between, closer towards the MEPI, where most changes."""
    shares = (1 - (1 - place / (FRAMES - 1)) ** 2 for place in range(FRAMES))
    return sorted({round(share * (length - 1)) for share in shares})


def _frame(image: str, levels: Levels, reduction: str, picture: Picture, album: Album) -> Frame:
    file = picture(image, levels, reduction)
    with open_image(BytesIO(file)) as opened:
        opened.load()
        is_coarse = max(opened.size) <= COARSE
        uri = (
            data_uri(opened, SIDE)[0]
            if len(file) > SMALL
            else f"data:image/png;base64,{base64.b64encode(file).decode()}"
        )
    number = album.add(image, uri)
    assert number is not None
    return Frame(number, is_coarse)
