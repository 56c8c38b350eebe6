"""Figures with two axes: curves, ranks, scatters and densities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, INK, MUTED, ORANGE, SERIES, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from dissensus.plots.text import Table, cut

GREY = (0.48, 0.52, 0.56)


def curve(
    name: str,
    title: str,
    x: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    labels: tuple[str, str],
    caption: str = "",
    limits: tuple[float, float] | None = None,
    reference: tuple[float, str] | None = None,
) -> Plot:
    """A line for every series over the same x values; `reference` draws a dashed line at a value, with a label."""

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.ticker import MaxNLocator

        for (label, values), (colour, marker, style) in zip(lines.items(), SERIES, strict=False):
            axes.plot(x, values, style, color=colour, label=label)
            for at, value in zip(x, values, strict=True):
                hints.add(axes.plot(at, value, marker, color=colour)[0], f"{label}, {at:g}: {value:.3g}")
        if reference is not None:
            axes.axhline(reference[0], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
            side, above = _free_place(x, list(lines.values()), reference[0], limits)
            axes.annotate(
                reference[1], (side, reference[0]), xycoords=axes.get_yaxis_transform(),
                xytext=(0 if side else 3, 1 if above else -2), textcoords="offset points",
                ha="right" if side else "left", va="bottom" if above else "top", fontsize=7, color=MUTED,
            )  # fmt: skip
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if limits is not None:
            axes.set_ylim(*limits)
        if all(float(at).is_integer() for at in x):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
        if len(lines) > 1:
            axes.legend(loc="lower right")

    return Plot(name, title, caption, {labels[0]: list(x)} | {k: list(v) for k, v in lines.items()}, draw, 58)


def _free_place(
    x: Sequence[float], lines: Sequence[Sequence[float]], value: float, limits: tuple[float, float] | None
) -> tuple[int, bool]:
    """Where the label of a reference line meets no other line: at its end (1) or beginning (0), above it or below."""
    every = [one for line in lines for one in line]
    if not every:
        return 1, True
    low, high = limits or (min(every), max(every))
    height = 0.09 * (high - low)
    for side, above in ((1, True), (0, True), (1, False), (0, False)):
        part = np.linspace(0.65, 1, 40) if side else np.linspace(0, 0.35, 40)
        at = x[0] + part * (x[-1] - x[0])
        bottom = value if above else value - height
        seen = [np.interp(at, x, line) for line in lines]
        if not any(((bottom <= line) & (line <= bottom + height)).any() for line in seen):
            return side, above
    return 1, True


def ranks(
    name: str, title: str, columns: Sequence[str], rows: Mapping[str, Sequence[int | None]], caption: str = ""
) -> Plot:
    """The rank of every name in several orders, one column each, joined by lines; blue if the rank changes."""

    def draw(axes: Axes, hints: Hints) -> None:
        axes.grid(visible=False)
        for label, places in rows.items():
            known = [(x, place) for x, place in enumerate(places) if place is not None]
            if not known:
                continue
            colour = BLUE if len({place for _, place in known}) > 1 else THEME["neutral"]
            axes.plot(*zip(*known, strict=True), color=colour, zorder=2)
            for x, place in known:
                said = f"{label}: rank {place} by {columns[x]}"
                hints.add(axes.plot(x, place, "o", color=colour, markersize=8.5, zorder=3)[0], said)
                axes.text(
                    x, place, str(place), ha="center", va="center_baseline", color=THEME["on-blue"], fontsize=6.5,
                    zorder=4,
                )  # fmt: skip
        first = [(places[0], cut(label)) for label, places in rows.items() if places[0] is not None]
        axes.set_yticks([place for place, _ in first], [label for _, label in first])
        axes.set_xticks(range(len(columns)), [one.replace(" of ", "\nof ") for one in columns])
        axes.xaxis.tick_top()
        axes.set(xlim=(-0.35, len(columns) - 0.65), ylim=(len(rows) + 0.6, 0.4))
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    table: Table = {"name": list(rows)} | {
        column: [places[place] for places in rows.values()] for place, column in enumerate(columns)
    }
    return Plot(name, title, caption, table, draw, 6.0 * len(rows) + 12)


def scatter(
    name: str,
    title: str,
    x: Sequence[float],
    y: Sequence[float],
    labels: tuple[str, str],
    names: Sequence[str],
    fit: tuple[float, float] | None = None,
    band: Sequence[tuple[float, float, float]] = (),
    caption: str = "",
    spans: Sequence[tuple[float | None, float | None]] = (),
) -> Plot:
    """Points with their names; `fit` is the slope and intercept of a line, `band` the (x, low, high) around it.

    `spans` are intervals of the y values, (None, None) for points without one.
    """

    def draw(axes: Axes, hints: Hints) -> None:
        if band:
            places, lows, highs = (list(column) for column in zip(*band, strict=True))
            axes.fill_between(places, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
        if fit is not None:
            ends = np.array([min(x), max(x)])
            axes.plot(ends, fit[0] * ends + fit[1], color=BLUE, linewidth=1)
        for right, (low, high) in zip(x, spans, strict=False):
            if low is not None and high is not None:
                axes.vlines(right, low, high, color=BLUE, linewidth=2.2, alpha=0.4)
        heights = [*y, *(end for span in spans for end in span if end is not None)]
        reach = 0.3 * (max(x) - min(x)), 0.1 * (max(heights) - min(heights))
        for right, up, label in zip(x, y, names, strict=True):
            hints.add(axes.plot(right, up, "o", color=BLUE, markersize=4.5)[0], f"{label}: {right:.3g}, {up:.3g}")
            is_crowded = _has_neighbour((right, up), x, y, reach)
            axes.annotate(
                cut(label), (right, up), xytext=(-3 if is_crowded else 3, 3), textcoords="offset points", fontsize=6.5,
                ha="right" if is_crowded else "left",
            )  # fmt: skip
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.margins(0.12)

    table: Table = {"name": list(names), labels[0]: list(x), labels[1]: list(y)}
    if spans:
        table |= {"low": [low for low, _ in spans], "high": [high for _, high in spans]}
    return Plot(name, title, caption, table, draw, 64)


def _has_neighbour(
    point: tuple[float, float], x: Sequence[float], y: Sequence[float], reach: tuple[float, float]
) -> bool:
    """Whether another point is where the label to the right of this one would be."""
    wide, high = reach
    return any(0 < a - point[0] < wide and abs(b - point[1]) < high for a, b in zip(x, y, strict=True))


@dataclass(frozen=True)
class Mark:
    """A point labelled with a letter; `series` is 0 or 1, and `words` is its tooltip."""

    name: str
    x: float
    y: float
    series: int
    words: str


def density(
    name: str,
    title: str,
    counts: Any,
    ends: tuple[float, float],
    labels: tuple[str, str],
    marks: Sequence[Mark] = (),
    caption: str = "",
    bands: Mapping[int, tuple[float, float]] | None = None,
) -> Plot:
    """A two-dimensional histogram of a square, shaded on a logarithmic scale.

    `counts[i, j]` is the number of items in bin i of the y axis and bin j of the x axis. The two marks of a series are
    joined by a line. `bands` shade a range behind a series: of x for series 0, of y for series 1.
    """

    def draw(axes: Axes, hints: Hints) -> None:
        axes.grid(visible=False)
        for series, (low, high) in (bands or {}).items():
            shaded = (axes.axvspan, axes.axhspan)[series](
                low, high, color=(ORANGE, BLUE)[series], alpha=0.16, linewidth=0
            )
            hints.add(shaded, f"one level of {labels[series]}: {low:.0f} to {high:.0f}")
        # a single grey of varying opacity is visible on light and dark backgrounds
        share = np.log1p(counts) / max(np.log1p(counts).max(initial=0), 1e-9)
        opacity = np.clip(np.where(counts > 0, 0.2 + 0.8 * share, 0.0), 0.0, 1.0)
        shade = np.dstack([np.broadcast_to(GREY, (*opacity.shape, 3)), opacity])
        axes.imshow(shade, origin="lower", extent=(*ends, *ends), interpolation="none", aspect="equal")
        for series, colour in enumerate((ORANGE, BLUE)):
            points = [(mark.x, mark.y) for mark in marks if mark.series == series]
            if len(points) == 2:
                axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.5)
        for mark in marks:
            drawn = axes.plot(
                mark.x, mark.y, "os"[mark.series], color=(ORANGE, BLUE)[mark.series], markeredgecolor="white",
                markersize=6, clip_on=False,
            )[0]  # fmt: skip
            hints.add(drawn, f"{mark.words}, {labels[0]} {mark.x:.0f}, {labels[1]} {mark.y:.0f}")
            others = [(other.x, other.y) for other in marks if other.series == mark.series and other is not mark]
            axes.annotate(
                mark.name, (mark.x, mark.y), xytext=_outward((mark.x, mark.y), others, ends),
                textcoords="offset points", ha="center", va="center", fontweight="bold", color=INK,
            )  # fmt: skip
        middle = (ends[0] + ends[1]) / 2
        axes.set(xlim=ends, ylim=ends, xticks=(ends[0], middle, ends[1]), yticks=(ends[0], middle, ends[1]))
        axes.set(xlabel=cut(labels[0]), ylabel=cut(labels[1]))

    steps = np.argwhere(counts > 0)
    width = (ends[1] - ends[0]) / len(counts)
    table: Table = {
        labels[0]: [ends[0] + width * (j + 0.5) for _, j in steps],
        labels[1]: [ends[0] + width * (i + 0.5) for i, _ in steps],
        "items": [int(counts[i, j]) for i, j in steps],
    }
    return Plot(name, title, caption, table, draw, 80)


def _outward(
    point: tuple[float, float], others: Sequence[tuple[float, float]], ends: tuple[float, float]
) -> tuple[float, float]:
    """Offset of a mark's letter from the mark, in points: away from the other mark, but inside the frame."""
    other, edge = others[0] if others else point, 0.07 * (ends[1] - ends[0])
    is_level = abs(point[0] - other[0]) > abs(point[1] - other[1])
    along = point[0] - other[0] if is_level else point[1] - other[1]
    at, across = point if is_level else point[::-1]
    if ends[0] + edge < at < ends[1] - edge:
        step = 9.0 if along >= 0 else -9.0
        return (step, 0.0) if is_level else (0.0, step)
    step = 9.0 if across < (ends[0] + ends[1]) / 2 else -9.0
    return (0.0, step) if is_level else (step, 0.0)
