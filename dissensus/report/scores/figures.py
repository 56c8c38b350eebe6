"""The pool as two models score it (Fig. 3): a small picture of how many items lie where, and four marked points."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image

from dissensus.arrays import Array, Int
from dissensus.report.galleries import duel_id
from dissensus.report.scores.data import DuelFigure, Marked

SHADES = 15
"""Steps of the shade: with nothing they fit four bits, so a figure is about a kilobyte."""

EDGE = 7.0
"""Points this close to a side of the figure have their letter beside them, where it stays inside."""

FIRST = 6
"""Figures that are seen at once; the others lie under a fold."""


@dataclass(frozen=True)
class Line:
    """The two points of one attack, each with the side that its letter stands on, and the attack's anchor."""

    attacker: str
    defender: str
    duel: str
    colour: str
    names: str
    points: tuple[tuple[Marked, str], ...]


@dataclass(frozen=True)
class Figure:
    """One figure; `mask` is a picture of opacities, to be filled with a colour of the page."""

    id: str
    first: str
    second: str
    mask: str
    items: int
    lines: tuple[Line, ...]


def figures(
    drawn: Sequence[DuelFigure], order: Sequence[str], linked: frozenset[tuple[int, int]]
) -> tuple[Figure, ...]:
    """All figures, those of the leading models first; a pair links to its attack where that is among `linked`."""
    place = {name: i for i, name in enumerate(order)}
    ranked = sorted(drawn, key=lambda figure: sorted((place[figure.first], place[figure.second])))
    return tuple(_figure(figure, place, linked) for figure in ranked)


def figure_id(first: int, second: int) -> str:
    """Anchor of a figure, from the two places in the order of the page."""
    return f"figure-{min(first, second)}-{max(first, second)}"


def density(counts: Int[Array, "S S"]) -> str:
    """Counts as a PNG of opacities, the first row at the bottom; shades follow the logarithm of the counts."""
    peak = max(1, int(counts.max(initial=0)))
    shade = np.ceil(np.log1p(counts) / np.log1p(peak) * SHADES).astype(np.uint8)
    image = Image.frombytes("P", shade.shape[::-1], np.flipud(shade).tobytes())
    image.putpalette([0] * (3 * (SHADES + 1)))
    # a single item must be seen: the faintest shade is well above nothing
    opacity = bytes([0, *(round(255 * (0.22 + 0.78 * step / (SHADES - 1))) for step in range(SHADES))])
    buffer = BytesIO()
    image.save(buffer, "PNG", optimize=True, bits=4, transparency=opacity)
    return f"data:image/png;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}"


def _figure(figure: DuelFigure, place: dict[str, int], linked: frozenset[tuple[int, int]]) -> Figure:
    def line(names: str, attacker: str, defender: str, colour: str) -> Line:
        found, places = [point for point in figure.points if point.name in names], (place[attacker], place[defender])
        points = tuple((point, _side(point, found)) for point in found)
        return Line(
            attacker, defender, duel_id(*places) if places in linked else "", colour, " and ".join(names), points
        )

    first, second = figure.first, figure.second
    lines = line("AB", second, first, "orange"), line("CD", first, second, "blue")
    return Figure(
        figure_id(place[first], place[second]),
        first,
        second,
        density(figure.counts),
        int(figure.counts.sum()),
        tuple(line for line in lines if line.points),
    )


def _side(point: Marked, pair: Sequence[Marked]) -> str:
    """Where the letter stands: outside of its pair, but inside of the figure."""
    other = next((other for other in pair if other is not point), point)
    if abs(point.x - other.x) > abs(point.y - other.y):
        if EDGE < point.x < 100 - EDGE:
            return "right" if point.x > other.x else "left"
        return "above" if point.y < 50 else "below"
    if EDGE < point.y < 100 - EDGE:
        return "above" if point.y >= other.y else "below"
    return "right" if point.x < 50 else "left"
