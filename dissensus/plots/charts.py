"""The kinds of figures: dots with intervals, heat maps, bars, curves, scatters, densities, strips and boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, COLUMN, INK, LINE, MUTED, ORANGE, SERIES, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = dict[str, Sequence[Any]]

ROW = 5.2
"""Height of a row in a figure that lists models, in millimetres."""
ROOM = 14.0
"""Height of an axis with its numbers and its title, in millimetres."""
KEY = 8.0
"""Height of a heat map's colour bar, in millimetres."""
FEW, MANY = 10, 30
"""Up to FEW names, the cells of a heat map are large; up to MANY, they show their numbers."""
MOST_BARS = 60
"""Maximum number of bars drawn; the table holds all of them."""
LOG_FROM = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic axis."""
GREY = (0.48, 0.52, 0.56)
LONGEST = 26
"""Names with more characters are shortened."""


def dots(
    name: str,
    title: str,
    names: Sequence[str],
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    axis: str,
    caption: str = "Dots are estimates, bars are confidence intervals.",
    prefixes: Sequence[str] | None = None,
    highlighted: Sequence[bool] = (),
    reference: tuple[float, str] | None = None,
    missing: str = "not comparable",
) -> Plot:
    """A dot with its interval for every name, the first on top.

    `prefixes` is text in front of the names, such as ranks. If `highlighted` is given, the other names are grey. Names
    without a value show the text `missing` instead. `reference` draws a dashed line at a value, with a label.
    """
    shown = [_cut(one) for one in names]
    if prefixes is not None:
        shown = [f"{rank}\u2002{one}" for rank, one in zip(prefixes, shown, strict=True)]

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, shown)
        beside = axes.get_yaxis_transform()
        for row, (value, low, high) in enumerate(zip(values, lows, highs, strict=True)):
            if value is None:
                axes.text(0.01, row, missing, transform=beside, va="center", color=MUTED, fontstyle="italic")
                continue
            colour = BLUE if not highlighted or highlighted[row] else THEME["neutral"]
            words = f"{names[row]}: {_number(value)}"
            if low is not None and high is not None:
                words += f", {_number(low)} to {_number(high)}"
                hints.add(axes.hlines(row, low, high, color=colour, linewidth=2.2, alpha=0.55), words)
            hints.add(axes.plot(value, row, "o", color=colour, markersize=5.5, zorder=3)[0], words)
            axes.text(1.02, row, _number(value), transform=beside, va="center", color=MUTED, fontsize=7)
        known = [value for value in (*values, *lows, *highs) if value is not None]
        if known and min(known) > 0 and max(known) / min(known) > LOG_FROM:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter(lambda tick, _place: f"{tick:g}")
        elif known and min(known) < 0 < max(known):
            axes.axvline(0, color=THEME["strong-line"], linewidth=1)
        if reference is not None:
            axes.axvline(reference[0], color=THEME["wrong"], linewidth=0.9, linestyle=(0, (4, 3)))
            axes.annotate(
                reference[1], (reference[0], 1), xycoords=axes.get_xaxis_transform(), ha="right", va="bottom",
                fontsize=7, color=MUTED,
            )  # fmt: skip
        axes.set_xlabel(axis)
        axes.margins(x=0.04)

    table: Table = {} if prefixes is None else {"rank": list(prefixes)}
    table |= {"name": list(names), "value": list(values), "low": list(lows), "high": list(highs)}
    return Plot(name, title, caption, table, draw, ROOM + ROW * len(names) + (4 if reference else 0))


@dataclass(frozen=True)
class Shade:
    """How the values of a heat map are written and coloured.

    `depth` maps a value to −1 … 1, from one end of the colour scale to the other, or to 0 … 1 if it has only one side;
    `ends` says what the ends mean.
    """

    write: Callable[[float], str]
    depth: Callable[[float], float]
    ends: tuple[str, str]
    is_diverging: bool = True


def heatmap(
    name: str,
    title: str,
    names: Sequence[str],
    values: Any,
    known: Any,
    shade: Shade,
    caption: str,
    words: Callable[[int, int], str] | None = None,
    link: Callable[[int, int], str] = lambda _row, _column: "",
    marked: Any = None,
) -> Plot:
    """A matrix over all pairs of names, row against column; cells that are not `known` are hatched.

    Cells also show their numbers if there is room. `words` and `link` return a cell's tooltip and the anchor that it
    links to. Cells that are `marked` have a red corner.
    """
    count = len(names)
    size = 7.0 if count <= FEW else 5.2
    letters = max(map(len, map(_cut, names)))
    width = max(COLUMN, size * count + 1.6 * letters + 6)
    height = size * count + 1.6 * letters + 6 + KEY

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.patches import Polygon, Rectangle

        def put(patch: Any, said: str, anchor: str = "") -> None:
            patch.set_in_layout(False)
            axes.add_artist(patch)
            hints.add(patch, said, anchor)

        axes.grid(visible=False)
        axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
        for row, column in (pair for pair in np.ndindex(count, count) if pair[0] != pair[1]):
            said = f"{names[row]} against {names[column]}"
            corner = (column - 0.48, row - 0.48)
            if not known[row, column]:
                empty = Rectangle(corner, 0.96, 0.96, facecolor="none", edgecolor=LINE, hatch="/////", linewidth=0)
                put(empty, f"{said}: unknown" if words is None else words(row, column))
                continue
            value = float(values[row, column])
            said = f"{said}: {shade.write(value)}" if words is None else words(row, column)
            colour = _shade(shade.depth(value), hints)
            put(Rectangle(corner, 0.96, 0.96, facecolor=colour), said, link(row, column))
            if marked is not None and marked[row, column]:
                x, y = column + 0.48, row - 0.48
                put(Polygon([(x - 0.25, y), (x, y), (x, y + 0.25)], facecolor=THEME["wrong"]), said, link(row, column))
            if count <= MANY:
                axes.text(
                    column, row, shade.write(value), ha="center", va="center", color=THEME["heat-ink"],
                    fontsize=7.0 if count <= FEW else 5.0, in_layout=False,
                )  # fmt: skip
        axes.set_xticks(range(count), [_cut(one) for one in names], rotation=90, color=INK)
        axes.set_yticks(range(count), [_cut(one) for one in names])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        _key(axes, shade, hints, width, KEY / height)

    pairs = [(i, j) for i in range(count) for j in range(count) if i != j and known[i, j]]
    table: Table = {
        "row": [names[i] for i, _ in pairs],
        "column": [names[j] for _, j in pairs],
        "value": [float(values[pair]) for pair in pairs],
    }
    return Plot(name, title, caption, table, draw, height, width)


def _key(axes: Axes, shade: Shade, hints: Hints, width: float, share: float) -> None:
    """Draw the colour bar below a heat map, in the given share of the figure's height."""
    from matplotlib.patches import Rectangle

    made: Any = axes.figure
    made.get_layout_engine().set(rect=(0, share, 1, 1 - share))
    key = made.add_axes((0, 0, 1, share), xlim=(0, width), ylim=(0, 1))
    key.set_in_layout(False)
    key.set_axis_off()
    steps = np.linspace(-1 if shade.is_diverging else 0, 1, 21)
    start, step = 0.27 * width, 0.23 * width / len(steps)
    for place, depth in enumerate(steps):
        colour = _shade(float(depth), hints)
        key.add_artist(
            Rectangle(
                (start + step * place, 0.25), step * (1.4 if place + 1 < len(steps) else 1), 0.4, facecolor=colour
            )
        )
    key.text(start - 1.5, 0.42, shade.ends[0], ha="right", va="center", fontsize=7, color=MUTED)
    key.text(start + step * len(steps) + 1.5, 0.42, shade.ends[1], ha="left", va="center", fontsize=7, color=MUTED)


def bars(
    name: str,
    title: str,
    names: Sequence[str],
    parts: Sequence[Sequence[float]],
    series: Sequence[str],
    axis: str,
    caption: str = "",
    fills: Sequence[str] = ("blue", "both", "neither", "orange"),
    opposite: Sequence[str] | None = None,
    links: Sequence[str] = (),
) -> Plot:
    """A stacked bar for every name, with one part per series, and a legend if there are several series.

    `opposite` are the names at the other end of the bars, `links` the anchors that the bars link to.
    """
    largest = max((sum(row) for row in parts), default=0) or 1
    count = min(MOST_BARS, len(names))
    if count < len(names):
        caption = f"{caption} Only the first {count} of {len(names):,} are drawn.".strip()

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, [_cut(one) for one in names[:count]])
        left = np.zeros(count)
        for place, part in enumerate(series):
            widths = np.array([row[place] for row in parts[:count]], float)
            drawn = axes.barh(
                range(count), widths, left=left, height=0.7, color=THEME[f"{fills[place]}-fill"],
                hatch="////" if fills[place] == "neither" else "", edgecolor="white", linewidth=0, label=part,
            )  # fmt: skip
            for row, patch in enumerate(drawn):
                who = names[row] if opposite is None else f"{names[row]} against {opposite[row]}"
                hints.add(patch, f"{who}, {part}: {widths[row]:,g}", links[row] if links else "")
                _count(axes, widths[row], left[row], row, fills[place], largest, len(series) == 1)
            left += widths
        axes.set_xlabel(axis)
        axes.set_xlim(0, largest * (1.15 if len(series) == 1 else 1.02))
        if opposite is not None:
            other = axes.secondary_yaxis("right")
            other.set_yticks(range(count), [_cut(one) for one in opposite[:count]])
            other.spines["right"].set_visible(False)
        if len(series) > 1:
            axes.figure.legend(loc="outside upper left", ncols=2, handlelength=1.2, columnspacing=1.2)

    table: Table = {"name": list(names)}
    table |= {} if opposite is None else {"against": list(opposite)}
    table |= {one: [row[place] for row in parts] for place, one in enumerate(series)}
    legend = 5.0 * ((len(series) + 1) // 2) if len(series) > 1 else 0.0
    return Plot(name, title, caption, table, draw, ROOM + ROW * count + legend)


def _count(axes: Axes, width: float, left: float, row: int, fill: str, largest: float, is_alone: bool) -> None:
    """Write a number on a part of a bar if it fits, or after a bar that has only one part."""
    if is_alone:
        axes.annotate(
            f"{width:,g}", (width, row), xytext=(3, 0), textcoords="offset points", va="center", fontsize=7, color=MUTED
        )
    elif width >= 0.08 * largest:
        colour = {"blue": THEME["on-blue"], "orange": THEME["on-orange"], "neither": THEME["on-orange"]}.get(fill, INK)
        box = {"boxstyle": "round,pad=0.15", "facecolor": THEME["neither-fill"], "linewidth": 0}
        axes.text(
            left + width / 2, row, f"{width:,g}", ha="center", va="center", fontsize=6.5, color=colour,
            bbox=box if fill == "neither" else None,
        )  # fmt: skip


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
            axes.annotate(
                reference[1], (1, reference[0]), xycoords=axes.get_yaxis_transform(), ha="right", va="bottom",
                fontsize=7, color=MUTED,
            )  # fmt: skip
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if limits is not None:
            axes.set_ylim(*limits)
        if all(float(at).is_integer() for at in x):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
        if len(lines) > 1:
            axes.legend(loc="lower right")

    return Plot(name, title, caption, {labels[0]: list(x)} | {k: list(v) for k, v in lines.items()}, draw, 58)


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
) -> Plot:
    """Points with their names; `fit` is the slope and intercept of a line, `band` the (x, low, high) around it."""

    def draw(axes: Axes, hints: Hints) -> None:
        if band:
            places, lows, highs = (list(column) for column in zip(*band, strict=True))
            axes.fill_between(places, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
        if fit is not None:
            ends = np.array([min(x), max(x)])
            axes.plot(ends, fit[0] * ends + fit[1], color=BLUE, linewidth=1)
        for right, up, label in zip(x, y, names, strict=True):
            hints.add(axes.plot(right, up, "o", color=BLUE, markersize=4.5)[0], f"{label}: {right:.3g}, {up:.3g}")
            axes.annotate(_cut(label), (right, up), xytext=(3, 3), textcoords="offset points", fontsize=6.5)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        axes.margins(0.12)

    table: Table = {"name": list(names), labels[0]: list(x), labels[1]: list(y)}
    return Plot(name, title, caption, table, draw, 64)


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
) -> Plot:
    """A two-dimensional histogram of a square, shaded on a logarithmic scale.

    `counts[i, j]` is the number of items in bin i of the y axis and bin j of the x axis. The two marks of a series are
    joined by a line.
    """

    def draw(axes: Axes, hints: Hints) -> None:
        axes.grid(visible=False)
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
        axes.set(xlabel=_cut(labels[0]), ylabel=_cut(labels[1]))

    steps = np.argwhere(counts > 0)
    width = (ends[1] - ends[0]) / len(counts)
    table: Table = {
        labels[0]: [ends[0] + width * (j + 0.5) for _, j in steps],
        labels[1]: [ends[0] + width * (i + 0.5) for i, _ in steps],
        "items": [int(counts[i, j]) for i, j in steps],
    }
    return Plot(name, title, caption, table, draw, 80)


def strip(
    name: str, title: str, names: Sequence[str], values: Sequence[Sequence[float]], axis: str, caption: str = ""
) -> Plot:
    """Every value as a thin line, in one row per name."""

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, [_cut(one) for one in names])
        for row, many in enumerate(values):
            if len(many):
                drawn = axes.vlines(many, row - 0.3, row + 0.3, color=BLUE, linewidth=0.7, alpha=0.7)
                hints.add(drawn, f"{names[row]}: {len(many)} values, median {np.median(many):.3g}")
        axes.set_xlabel(axis)

    rows = [(names[row], value) for row, many in enumerate(values) for value in many]
    table: Table = {"name": [row[0] for row in rows], "value": [row[1] for row in rows]}
    return Plot(name, title, caption, table, draw, ROOM + ROW * len(names))


def box(
    name: str,
    title: str,
    names: Sequence[str],
    groups: Mapping[str, Sequence[Sequence[float] | None]],
    axis: str,
    caption: str = "",
    limits: tuple[float, float] | None = None,
    reference: float | None = None,
) -> Plot:
    """Box plots of five numbers (minimum, quartiles, maximum) per name and group; None if a group has no values.

    The first group is drawn solid, the second hatched.
    """
    offset = np.linspace(-0.2, 0.2, len(groups)) if len(groups) > 1 else np.zeros(1)

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.patches import Patch, Rectangle

        _rows(axes, [_cut(one) for one in names])
        for place, (label, fives) in enumerate(groups.items()):
            colour, hatch = (BLUE, ORANGE)[place % 2], ("", "/////")[place % 2]
            for row, five in enumerate(fives):
                if five is None:
                    continue
                y = row + offset[place]
                axes.hlines(y, five[0], five[4], color=colour, linewidth=0.8)
                patch = Rectangle(
                    (five[1], y - 0.14), five[3] - five[1], 0.28, facecolor=colour, alpha=0.45, hatch=hatch,
                    edgecolor=colour, linewidth=0.6,
                )  # fmt: skip
                axes.add_patch(patch)
                axes.vlines(five[2], y - 0.17, y + 0.17, color=INK, linewidth=1.4)
                hints.add(patch, f"{names[row]}, {label}: median {five[2]:.3g}, quartiles {five[1]:.3g}, {five[3]:.3g}")
        if reference is not None:
            axes.axvline(reference, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
        axes.set_xlabel(axis)
        if limits is not None:
            axes.set_xlim(*limits)
        if len(groups) > 1:
            drawn = [Patch(facecolor=(BLUE, ORANGE)[n % 2], alpha=0.45, hatch=("", "/////")[n % 2]) for n in range(2)]
            axes.figure.legend(drawn, list(groups), loc="outside upper left", ncols=1, handlelength=1.4)

    rows = [
        (one, label, *five)
        for label, fives in groups.items()
        for one, five in zip(names, fives, strict=True)
        if five is not None
    ]
    heads = ("name", "group", "minimum", "first quartile", "median", "third quartile", "maximum")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(heads)
    table: Table = {head: list(column) for head, column in zip(heads, columns, strict=True)}
    return Plot(name, title, caption, table, draw, ROOM + 2 * ROW * len(names) * 0.8 + (9 if len(groups) > 1 else 0))


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Set up one row for every name, the first on top."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


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


def _number(value: float) -> str:
    return f"{value:#.3g}".removesuffix(".").replace("-", "−")


def _cut(name: str) -> str:
    """A name shortened to fit, with `$` escaped so that matplotlib does not read it as a formula."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return short.replace("$", r"\$")


def _shade(depth: float, hints: Hints) -> str:
    """The colour for a depth from −1 to 1: a mix of the neutral colour and one of the two ends."""
    end, share = "heat-plus" if depth >= 0 else "heat-minus", min(1.0, abs(depth))
    plain, full = ([int(THEME[name][i : i + 2], 16) for i in (1, 3, 5)] for name in ("heat-plain", end))
    mixed = "#{:02x}{:02x}{:02x}".format(*(round(a + share * (b - a)) for a, b in zip(plain, full, strict=True)))
    hints.colours[mixed] = f"color-mix(in srgb, var(--{end}) {100 * share:.0f}%, var(--heat-plain))"
    return mixed
