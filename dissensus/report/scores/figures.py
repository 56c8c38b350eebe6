"""The pool as two models score it (Fig. 3): a small density picture and four marked points."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO

import numpy as np
from PIL import Image

from dissensus import plots
from dissensus.arrays import Array, Int
from dissensus.plots import Plot
from dissensus.report.galleries import duel_id
from dissensus.report.scores.data import DuelFigure, Marked

SHADES = 15
"""Number of shades: together with "empty" they fit in four bits, so a figure takes about a kilobyte."""

EDGE = 7.0
"""A point this close to the edge has its letter on a side where it stays inside the figure."""

FIRST = 6
"""Number of figures shown right away; the others are folded."""


@dataclass(frozen=True)
class Line:
    """The two points of one attack, each with the side its letter is on, and the attack's anchor."""

    attacker: str
    defender: str
    duel: str
    colour: str
    names: str
    points: tuple[tuple[Marked, str], ...]


@dataclass(frozen=True)
class Figure:
    """One figure; `mask` is an opacity picture that the page fills with a colour."""

    id: str
    first: str
    second: str
    mask: str
    items: int
    lines: tuple[Line, ...]


def figures(
    drawn: Sequence[DuelFigure], order: Sequence[str], linked: frozenset[tuple[int, int]]
) -> tuple[Figure, ...]:
    """All figures, those of the leading models first; a pair links to its attack if that is in `linked`."""
    place = {name: i for i, name in enumerate(order)}
    ranked = sorted(drawn, key=lambda figure: sorted((place[figure.first], place[figure.second])))
    return tuple(_figure(figure, place, linked) for figure in ranked)


def duel_plots(drawn: Sequence[DuelFigure]) -> tuple[Plot, ...]:
    """The same figures for a paper."""
    caption = "The pool as two models score it, darker where more items lie; lines join the pairs that were selected."
    return tuple(
        plots.density(
            f"duel-{number}", f"{one.first} and {one.second}", one.counts, (0, 100), (one.first, one.second),
            [(point.name, point.x, point.y, int(point.name in "CD")) for point in one.points], caption,
        )
        for number, one in enumerate(drawn, start=1)
    )  # fmt: skip


def figure_id(first: int, second: int) -> str:
    """Anchor of a figure, from the models' positions in the page's order."""
    return f"figure-{min(first, second)}-{max(first, second)}"


def density(counts: Int[Array, "S S"]) -> str:
    """Counts as a PNG of opacities, first row at the bottom, on a logarithmic scale."""
    peak = max(1, int(counts.max(initial=0)))
    shade = np.ceil(np.log1p(counts) / np.log1p(peak) * SHADES).astype(np.uint8)
    image = Image.frombytes("P", shade.shape[::-1], np.flipud(shade).tobytes())
    image.putpalette([0] * (3 * (SHADES + 1)))
    # even a single item must be visible, so the faintest shade is well above zero
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
    """Where to put the letter: outside the pair but inside the figure."""
    other = next((other for other in pair if other is not point), point)
    if abs(point.x - other.x) > abs(point.y - other.y):
        if EDGE < point.x < 100 - EDGE:
            return "right" if point.x > other.x else "left"
        return "above" if point.y < 50 else "below"
    if EDGE < point.y < 100 - EDGE:
        return "above" if point.y >= other.y else "below"
    return "right" if point.x < 50 else "left"
