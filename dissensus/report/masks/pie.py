"""A pie as paths of an SVG, with labels beside it that do not run into each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from dissensus.report.wording import percent

CENTRE = (160.0, 120.0)
"""Of the drawing, which is twice as wide and as high."""
RADIUS = 84.0
LABEL_AT = 102.0
APART = 34.0
"""Between the lines of two labels on one side."""
EDGE = 20.0


@dataclass(frozen=True)
class Slice:
    """One part: its path, the line that leads to its label, and the label's two lines."""

    kind: int
    path: str
    line: str
    x: float
    y: float
    anchor: str
    share: str
    name: str


def slices(shares: Sequence[float], names: Sequence[str]) -> tuple[Slice, ...]:
    """Slices clockwise from the top, for shares that sum to one; an empty share has none."""
    made, turned = [], 0.0
    for kind, share in enumerate(shares):
        if share > 0:
            made.append(_slice(kind, turned, share, names[kind]))
        turned += share
    return tuple(one for side in ("start", "end") for one in _spread([one for one in made if one.anchor == side]))


def _slice(kind: int, turned: float, share: float, name: str) -> Slice:
    middle = _point(LABEL_AT, turned + share / 2)
    anchor = "start" if middle[0] >= CENTRE[0] else "end"
    inner = _point(RADIUS - 4, turned + share / 2)
    line = f"M{inner[0]} {inner[1]}"
    return Slice(kind, _path(turned, share), line, *middle, anchor, percent(share, 1), name)


def _path(turned: float, share: float) -> str:
    """From the centre along an arc; a share of all is two arcs, since one cannot end where it began."""
    if share > 0.9999:
        top, bottom = _point(RADIUS, 0.0), _point(RADIUS, 0.5)
        half = f"A{RADIUS} {RADIUS} 0 0 1"
        return f"M{top[0]} {top[1]}{half} {bottom[0]} {bottom[1]}{half} {top[0]} {top[1]}Z"
    start, end = _point(RADIUS, turned), _point(RADIUS, turned + share)
    arc = f"A{RADIUS} {RADIUS} 0 {int(share > 0.5)} 1 {end[0]} {end[1]}"
    return f"M{CENTRE[0]} {CENTRE[1]}L{start[0]} {start[1]}{arc}Z"


def _spread(labels: Sequence[Slice]) -> list[Slice]:
    """Labels of one side moved apart from the top down, then back up where they leave the drawing."""
    ordered = sorted(labels, key=lambda label: label.y)
    heights = [label.y for label in ordered]
    for i in range(len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + APART if i else EDGE)
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], heights[i + 1] - APART if i + 1 < len(heights) else 2 * CENTRE[1] - EDGE)
    return [_moved(label, round(height, 1)) for label, height in zip(ordered, heights, strict=True)]


def _moved(label: Slice, height: float) -> Slice:
    """The label at another height, as close to the pie as its circle allows."""
    away = math.sqrt(max(0.0, LABEL_AT**2 - (height - CENTRE[1]) ** 2))
    side = 1 if label.anchor == "start" else -1
    x = round(CENTRE[0] + side * max(away, 24.0), 1)
    return replace(label, x=x, y=height, line=f"{label.line}L{round(x - side * 4, 1)} {height}")


def _point(radius: float, turned: float) -> tuple[float, float]:
    angle = 2 * math.pi * turned
    return round(CENTRE[0] + radius * math.sin(angle), 2), round(CENTRE[1] - radius * math.cos(angle), 2)
