"""Two shares of every name against each other, such as accuracies on two test sets, on linear or probit axes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import NormalDist
from typing import TYPE_CHECKING, Literal

from dissensus.plots.labels import LETTER, Frame, label_frames
from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, COLUMN, INK, MUTED, ORANGE, THEME
from dissensus.plots.text import Table, cut, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Scale = Literal["linear", "probit"]
Ends = tuple[float, float]

FEW, MANY = 60, 400
"""Up to FEW names, marks are large and all have error bars; beyond MANY, marks are small and faint."""
ROOM_LEFT, ROOM_BELOW = 34.0, 28.0
"""Points beside and below the frame, for the numbers and titles of the axes."""
HEIGHT = 78.0
"""Height of the figure, in millimetres."""
WIDE, HIGH = COLUMN / 25.4 * 72 - ROOM_LEFT, HEIGHT / 25.4 * 72 - ROOM_BELOW
"""The frame, in points."""
KEY = 11.0
"""Height of a row of the legend, in points."""
DENSE = 24
"""Points that stand for one part of a line where labels look for room."""
GAP = 0.1
"""Share of a probit axis that lies between two of its ticks, at least."""
ROUND = (
    (50,),
    (10, 90, 1, 99, 0.1, 99.9),
    (20, 80, 30, 70, 40, 60, 5, 95, 2, 98),
    (25, 75, 15, 85, 35, 65, 45, 55),
    tuple(range(1, 100)),
    (0.01, 0.02, 0.05, 0.2, 0.5, 99.5, 99.8, 99.95, 99.98, 99.99),
)
"""Percentages to write on a probit axis, the roundest first."""
FINE = (tuple(place / 10 for place in range(1, 1000)), tuple(place / 100 for place in range(1, 10_000)))
"""Percentages for axes that have fewer than ENOUGH round ones."""
ENOUGH = 4


@dataclass(frozen=True)
class Pair:
    """Two shares between 0 and 1 of one name, with their intervals if they have any.

    `words` is the end of its tooltip; `is_named` writes the name beside the mark, `is_other` draws it in the second
    colour and shape.
    """

    name: str
    x: float
    y: float
    x_ends: Ends | None = None
    y_ends: Ends | None = None
    words: str = ""
    is_named: bool = False
    is_other: bool = False


def paired(
    name: str,
    title: str,
    pairs: Sequence[Pair],
    labels: tuple[str, str],
    line: Sequence[tuple[float, float]] = (),
    band: Sequence[tuple[float, float, float]] = (),
    scale: Scale = "linear",
    caption: str = "",
    keys: tuple[str, str, str] = ("no change", "fit", ""),
) -> Plot:
    """A mark for every pair with the line y = x, and a fitted line in the given (x, low, high) band.

    All numbers are shares; the axes are in per cent. On probit axes a share p lies at Φ⁻¹(p), and shares of 0 and 1 lie
    on the edge of the frame. `keys` are the legend's words for y = x, the fitted line and marks of the second kind.
    """
    place = _probit if scale == "probit" else float
    across, up = frame_ends(pairs, scale)

    def draw(axes: Axes, hints: Hints) -> None:
        is_few = len(pairs) <= FEW

        def inside(value: float, ends: Ends) -> float:
            return min(max(place(value), ends[0]), ends[1])

        low, high = max(across[0], up[0]), min(across[1], up[1])
        axes.plot([low, high], [low, high], color=MUTED, linewidth=0.9, linestyle=(0, (4, 3)), label=keys[0])
        if band:
            places, lows, highs = (list(column) for column in zip(*band, strict=True))
            axes.fill_between(
                [inside(x, across) for x in places], [inside(y, up) for y in lows], [inside(y, up) for y in highs],
                color=BLUE, alpha=0.18, linewidth=0,
            )  # fmt: skip
        if line:
            axes.plot(
                *zip(*((place(x), place(y)) for x, y in line), strict=True),
                color=INK,
                linewidth=1.1,
                label=keys[1],
                zorder=2.4 if is_few else 3.2,
            )
        size = 4.2 if is_few else 3.0 if len(pairs) <= MANY else 2.2
        for is_other, colour in ((False, BLUE), (True, ORANGE)):
            drawn = [one for one in pairs if one.is_other == is_other]
            barred = [one for one in drawn if is_few or one.is_named]
            _bars(axes, barred, colour, lambda value: inside(value, across), lambda value: inside(value, up))
            for one in drawn:
                mark = axes.plot(inside(one.x, across), inside(one.y, up), "s" if is_other else "o", color=colour)[0]
                mark.set(markersize=max(size, 3.2) if is_other else size, markeredgewidth=0, zorder=3, clip_on=False)
                mark.set_alpha(1.0 if is_few or is_other or one.is_named else 0.5)
                hints.add(mark, _words(one))
            if is_other and drawn and keys[2]:
                axes.plot([], [], "s", color=ORANGE, markersize=4.2, label=keys[2])
        axes.set(xlim=across, ylim=up, xlabel=labels[0], ylabel=labels[1])
        _ticks(axes, across, up, scale)
        lines = [[(low, low), (high, high)], [(inside(x, across), inside(y, up)) for x, y in line]]
        barred = [one for one in pairs if is_few or one.is_named]
        arms = _arms(barred, lambda value: inside(value, across), lambda value: inside(value, up))
        rows = 1 + bool(line) + any(one.is_other for one in pairs)
        marks = [(inside(one.x, across), inside(one.y, up)) for one in pairs]
        corner, key = _corner([*marks, *arms], (across, up), rows)
        axes.legend(loc=corner, handlelength=1.6)
        _label(axes, pairs, marks, lines, (across, up), key)

    return Plot(name, title, caption, _table(pairs, labels), draw, HEIGHT, COLUMN)


def frame_ends(pairs: Sequence[Pair], scale: Scale) -> tuple[Ends, Ends]:
    """The ends of both axes in their own units; the y axis also covers the x axis, so that all of y = x is visible."""
    place = _probit if scale == "probit" else float
    room = 0.02

    def reach(values: Sequence[float]) -> Ends:
        known = [place(value) for value in values if scale == "linear" or 0 < value < 1] or [place(0.5)]
        more = max(0.06 * (max(known) - min(known)), room if scale == "linear" else 0.08)
        return min(known) - more, max(known) + more

    def spread(values: Sequence[float], intervals: Sequence[Ends | None]) -> list[float]:
        shown = [end for ends in intervals if ends is not None for end in ends] if len(pairs) <= FEW else []
        return [*values, *shown]

    across = reach(spread([one.x for one in pairs], [one.x_ends for one in pairs]))
    up = reach(spread([one.y for one in pairs], [one.y_ends for one in pairs]))
    up = min(across[0], up[0]), max(across[1], up[1])
    return (_shares(across), _shares(up)) if scale == "linear" else (across, up)


def _shares(ends: Ends) -> Ends:
    """Ends of a linear axis, which shows nothing far outside 0 … 100 %."""
    return max(ends[0], -0.02), min(ends[1], 1.02)


def _probit(share: float) -> float:
    return -math.inf if share <= 0 else math.inf if share >= 1 else NormalDist().inv_cdf(share)


def probit_ticks(ends: Ends) -> list[float]:
    """Percentages for a probit axis: the roundest ones that keep their distance, in order."""
    least, found = GAP * (ends[1] - ends[0]), dict[float, float]()
    for level, percents in enumerate((*ROUND, *FINE)):
        if len(found) >= ENOUGH and level >= len(ROUND):
            break
        for percent in percents:
            at = _probit(percent / 100)
            if ends[0] <= at <= ends[1] and all(abs(at - other) >= least for other in found.values()):
                found[percent] = at
    return sorted(found)


def _ticks(axes: Axes, across: Ends, up: Ends, scale: Scale) -> None:
    from matplotlib.ticker import MaxNLocator

    for axis, ends in ((axes.xaxis, across), (axes.yaxis, up)):
        if scale == "probit":
            percents = probit_ticks(ends)
            axis.set_ticks([_probit(percent / 100) for percent in percents], [f"{one:g}" for one in percents])
        else:
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
            axis.set_major_formatter(lambda share, _place: f"{100 * share:.4g}")


def _bars(
    axes: Axes, pairs: Sequence[Pair], colour: str, across: Callable[[float], float], up: Callable[[float], float]
) -> None:
    """Draw the intervals of the pairs as thin crosses."""
    for one in pairs:
        x, y = across(one.x), up(one.y)
        if one.x_ends is not None:
            axes.plot([across(end) for end in one.x_ends], [y, y], color=colour, linewidth=0.7, alpha=0.5)
        if one.y_ends is not None:
            axes.plot([x, x], [up(end) for end in one.y_ends], color=colour, linewidth=0.7, alpha=0.5)


def _arms(
    pairs: Sequence[Pair], across: Callable[[float], float], up: Callable[[float], float]
) -> list[tuple[float, float]]:
    """Points along the intervals of the pairs."""
    arms = [
        ends
        for one in pairs
        for ends in (
            [(across(x), up(one.y)) for x in one.x_ends or ()],
            [(across(one.x), up(y)) for y in one.y_ends or ()],
        )
    ]
    return [point for arm in arms for point in _dense(arm)]


def _corner(drawn: Sequence[tuple[float, float]], ends: tuple[Ends, Ends], rows: int) -> tuple[str, Frame]:
    """The corner off y = x in which a legend of these rows hides least, the lower right one if both are as good."""
    tall = 6 + KEY * rows
    corners: dict[str, Frame] = {
        "lower right": (0.55 * WIDE, 0.0, WIDE, tall),
        "upper left": (0.0, HIGH - tall, 0.45 * WIDE, HIGH),
    }
    points = [_point(one, ends) for one in drawn]

    def hidden(frame: Frame) -> int:
        return sum(frame[0] < x < frame[2] and frame[1] < y < frame[3] for x, y in points)

    best = min(corners, key=lambda name: hidden(corners[name]))
    return best, corners[best]


def _point(mark: tuple[float, float], ends: tuple[Ends, Ends]) -> tuple[float, float]:
    """Where a mark lies within the frame, in points."""
    across, up = ends
    return WIDE * (mark[0] - across[0]) / (across[1] - across[0]), HIGH * (mark[1] - up[0]) / (up[1] - up[0])


def _words(one: Pair) -> str:
    first, second = (
        f"{number(100 * value)} %" + (f" ({number(100 * ends[0])} to {number(100 * ends[1])})" if ends else "")
        for value, ends in ((one.x, one.x_ends), (one.y, one.y_ends))
    )
    return f"{one.name}: {first} → {second}{f'. {one.words}' if one.words else ''}"


def _label(
    axes: Axes,
    pairs: Sequence[Pair],
    marks: Sequence[tuple[float, float]],
    lines: Sequence[Sequence[tuple[float, float]]],
    ends: tuple[Ends, Ends],
    key: Frame,
) -> None:
    """Write the names of the named pairs beside their marks, off the legend."""

    def point(mark: tuple[float, float]) -> tuple[float, float]:
        return _point(mark, ends)

    drawn = [point(mark) for mark in marks]
    dense = [[point(at) for at in _dense(line)] for line in lines]
    named = [place for place, one in enumerate(pairs) if one.is_named]
    paper = {"boxstyle": "square,pad=0.1", "facecolor": THEME["paper"], "alpha": 0.75, "linewidth": 0}
    words = [cut(pairs[place].name) for place in named]
    for place, word, frame in zip(
        named,
        words,
        label_frames(words, [drawn[n] for n in named], drawn, dense, [key], (WIDE, HIGH)),
        strict=True,
    ):
        if frame is None:
            continue
        x, y = drawn[place]
        left, bottom, right, top = frame
        edge = min(max(x, left), right), min(max(y, bottom), top)
        if math.dist((x, y), edge) > 7:
            axes.annotate(
                "", marks[place], xytext=(edge[0] - x, edge[1] - y), textcoords="offset points",
                arrowprops={"arrowstyle": "-", "color": MUTED, "linewidth": 0.5, "shrinkA": 0, "shrinkB": 2},
            ).set_in_layout(False)  # fmt: skip
        axes.annotate(
            word, marks[place], xytext=(left - x, (bottom + top) / 2 - y), textcoords="offset points", ha="left",
            va="center", fontsize=LETTER, color=INK, zorder=2.6, bbox=paper,
        ).set_in_layout(False)  # fmt: skip


def _dense(line: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Points along a line, close enough that no label hides between them."""
    steps = [step / DENSE for step in range(DENSE)]
    return [(a + t * (c - a), b + t * (d - b)) for (a, b), (c, d) in pairwise(line) for t in steps]


def _table(pairs: Sequence[Pair], labels: tuple[str, str]) -> Table:
    table: Table = {"name": [one.name for one in pairs]}
    for label, values, ends in (
        (labels[0], [one.x for one in pairs], [one.x_ends for one in pairs]),
        (labels[1], [one.y for one in pairs], [one.y_ends for one in pairs]),
    ):
        table |= {label: [100 * value for value in values]}
        if any(one is not None for one in ends):
            table |= {
                f"{label}, {end}": [None if e is None else 100 * e[n] for e in ends]
                for n, end in enumerate(("low", "high"))
            }
    return table
