"""The kinds of figures: dots with intervals, heat maps, bars, curves, scatters, densities, strips and boxes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, COLUMN, INK, MUTED, ORANGE, SERIES, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Table = dict[str, Sequence[Any]]

ROW = 5.2
"""Millimetres of a row of a figure that lists models."""
ROOM = 14.0
"""Millimetres for an axis, its numbers and its title."""
LOG_FROM = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic axis."""
GREY = (0.48, 0.52, 0.56)
LONGEST = 26
"""Letters of a name before it is cut."""


def dots(
    name: str,
    title: str,
    names: Sequence[str],
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    axis: str,
    caption: str = "Dots are estimates, bars are confidence intervals.",
    before: Sequence[str] | None = None,
) -> Plot:
    """One dot with its interval for every name, the first on top; `before` stands in front of the names, as ranks do.

    A name without a value is listed as not comparable.
    """
    shown = [_cut(one) for one in names]
    if before is not None:
        shown = [f"{rank}  {one}" for rank, one in zip(before, shown, strict=True)]

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, shown)
        for row, (value, low, high) in enumerate(zip(values, lows, highs, strict=True)):
            if value is None:
                axes.text(0.01, row, "not comparable", transform=axes.get_yaxis_transform(), va="center", color=MUTED)
                continue
            words = f"{names[row]}: {value:.3g}"
            if low is not None and high is not None:
                words += f", {low:.3g} to {high:.3g}"
                hints.add(axes.hlines(row, low, high, color=BLUE, linewidth=2.2, alpha=0.55), words)
            hints.add(axes.plot(value, row, "o", color=BLUE, markersize=5.5, zorder=3)[0], words)
        known = [value for value in (*values, *lows, *highs) if value is not None]
        if known and min(known) > 0 and max(known) / min(known) > LOG_FROM:
            axes.set_xscale("log")
        axes.set_xlabel(axis)
        axes.margins(x=0.04)

    table: Table = {"name": list(names), "value": list(values), "low": list(lows), "high": list(highs)}
    table |= {} if before is None else {"rank": list(before)}
    return Plot(name, title, caption, table, draw, ROOM + ROW * len(names))


def heat(
    name: str,
    title: str,
    names: Sequence[str],
    values: Any,
    known: Any,
    depth: Callable[[float], float],
    write: Callable[[float], str],
    caption: str,
    words: Callable[[int, int], str] | None = None,
) -> Plot:
    """A matrix of all pairs of names: row against column; cells that are not `known` stay empty.

    `depth` maps a value to −1 … 1, which are the two ends of the colours; every cell also has its number.
    """
    count = len(names)
    size = 7.0 if count <= 10 else 5.2
    letters = max(map(len, map(_cut, names)))
    width = max(COLUMN, size * count + 1.6 * letters + 6)

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.patches import Rectangle

        axes.grid(visible=False)
        for row in range(count):
            for column in range(count):
                if row == column or not known[row, column]:
                    continue
                value = float(values[row, column])
                patch = Rectangle((column - 0.48, row - 0.48), 0.96, 0.96, facecolor=_shade(depth(value), hints))
                axes.add_patch(patch)
                said = f"{names[row]} against {names[column]}: {write(value)}" if words is None else words(row, column)
                hints.add(patch, said)
                axes.text(
                    column, row, write(value), ha="center", va="center", color=THEME["heat-ink"],
                    fontsize=7.0 if count <= 10 else 5.0,
                )  # fmt: skip
        axes.set(xlim=(-0.5, count - 0.5), ylim=(count - 0.5, -0.5), aspect="equal")
        axes.set_xticks(range(count), [_cut(one) for one in names], rotation=90, color=INK)
        axes.set_yticks(range(count), [_cut(one) for one in names])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    pairs = [(i, j) for i in range(count) for j in range(count) if i != j and known[i, j]]
    table: Table = {
        "row": [names[i] for i, _ in pairs],
        "column": [names[j] for _, j in pairs],
        "value": [float(values[pair]) for pair in pairs],
    }
    return Plot(name, title, caption, table, draw, size * count + 1.6 * letters + 6, width)


def bars(
    name: str,
    title: str,
    names: Sequence[str],
    parts: Sequence[Sequence[float]],
    series: Sequence[str],
    axis: str,
    caption: str = "",
    colours: Sequence[str] = ("blue-fill", "both-fill", "neither-fill", "orange-fill"),
) -> Plot:
    """One bar for every name, made of one part for every series, with a legend where there are several."""

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, [_cut(one) for one in names])
        left = np.zeros(len(names))
        for place, part in enumerate(series):
            widths = np.array([row[place] for row in parts], float)
            drawn = axes.barh(
                range(len(names)), widths, left=left, height=0.66, color=THEME[colours[place]],
                hatch=("", "", "////", "")[place % 4], edgecolor="white", linewidth=0, label=part,
            )  # fmt: skip
            for row, patch in enumerate(drawn):
                hints.add(patch, f"{names[row]}, {part}: {widths[row]:g}")
            left += widths
        axes.set_xlabel(axis)
        if len(series) > 1:
            axes.figure.legend(loc="outside upper left", ncols=2, handlelength=1.2, columnspacing=1.2)

    table: Table = {"name": list(names)} | {one: [row[place] for row in parts] for place, one in enumerate(series)}
    legend = 5.0 * ((len(series) + 1) // 2) if len(series) > 1 else 0.0
    return Plot(name, title, caption, table, draw, ROOM + ROW * len(names) + legend)


def curve(
    name: str,
    title: str,
    across: Sequence[float],
    lines: Mapping[str, Sequence[float]],
    axes_titles: tuple[str, str],
    caption: str = "",
    limits: tuple[float, float] | None = None,
    level: tuple[float, str] | None = None,
) -> Plot:
    """One line for every series over common points; `level` is a dashed line at a value, with its meaning."""

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.ticker import MaxNLocator

        for (label, values), (colour, marker, style) in zip(lines.items(), SERIES, strict=False):
            axes.plot(across, values, style, color=colour, label=label)
            for x, y in zip(across, values, strict=True):
                hints.add(axes.plot(x, y, marker, color=colour)[0], f"{label}, {x:g}: {y:.3g}")
        if level is not None:
            axes.axhline(level[0], color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
            axes.annotate(
                level[1], (1, level[0]), xycoords=axes.get_yaxis_transform(), ha="right", va="bottom",
                fontsize=7, color=MUTED,
            )  # fmt: skip
        axes.set(xlabel=axes_titles[0], ylabel=axes_titles[1])
        if limits is not None:
            axes.set_ylim(*limits)
        if all(float(x).is_integer() for x in across):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
        if len(lines) > 1:
            axes.legend(loc="lower right")

    return Plot(name, title, caption, {axes_titles[0]: list(across)} | {k: list(v) for k, v in lines.items()}, draw, 58)


def scatter(
    name: str,
    title: str,
    across: Sequence[float],
    upward: Sequence[float],
    axes_titles: tuple[str, str],
    names: Sequence[str],
    fit: tuple[float, float] | None = None,
    band: Sequence[tuple[float, float, float]] = (),
    caption: str = "",
) -> Plot:
    """Points with their names; `fit` is the slope and the intercept of a line, `band` its (x, low, high)."""

    def draw(axes: Axes, hints: Hints) -> None:
        if band:
            places, lows, highs = (list(column) for column in zip(*band, strict=True))
            axes.fill_between(places, lows, highs, color=BLUE, alpha=0.15, linewidth=0)
        if fit is not None:
            ends = np.array([min(across), max(across)])
            axes.plot(ends, fit[0] * ends + fit[1], color=BLUE, linewidth=1)
        for x, y, label in zip(across, upward, names, strict=True):
            hints.add(axes.plot(x, y, "o", color=BLUE, markersize=4.5)[0], f"{label}: {x:.3g}, {y:.3g}")
            axes.annotate(_cut(label), (x, y), xytext=(3, 3), textcoords="offset points", fontsize=6.5)
        axes.set(xlabel=axes_titles[0], ylabel=axes_titles[1])
        axes.margins(0.12)

    table: Table = {"name": list(names), axes_titles[0]: list(across), axes_titles[1]: list(upward)}
    return Plot(name, title, caption, table, draw, 64)


def density(
    name: str,
    title: str,
    counts: Any,
    ends: tuple[float, float],
    axes_titles: tuple[str, str],
    marks: Sequence[tuple[str, float, float, int]] = (),
    caption: str = "",
) -> Plot:
    """How many items lie where in a square, by shade on a logarithmic scale; `marks` are (name, x, y, series).

    `counts[i, j]` lie in step i upward and step j across. The two marks of a series are joined by a line.
    """

    def draw(axes: Axes, hints: Hints) -> None:
        axes.grid(visible=False)
        # one grey, more or less opaque: it can be seen on light and on dark paper
        opacity = np.where(counts > 0, 0.2 + 0.8 * np.log1p(counts) / max(np.log1p(counts).max(initial=0), 1e-9), 0.0)
        shade = np.dstack([np.broadcast_to(GREY, (*opacity.shape, 3)), opacity])
        axes.imshow(shade, origin="lower", extent=(*ends, *ends), interpolation="nearest", aspect="equal")
        for series, colour in ((0, ORANGE), (1, BLUE)):
            points = [(x, y) for _, x, y, of in marks if of == series]
            if len(points) == 2:
                axes.plot(*zip(*points, strict=True), color=colour, linewidth=1.5)
        for label, x, y, series in marks:
            colour = (ORANGE, BLUE)[series]
            drawn = axes.plot(x, y, "os"[series], color=colour, markeredgecolor="white", markersize=6)[0]
            hints.add(drawn, f"{label}: {x:.0f} across, {y:.0f} up")
            axes.annotate(label, (x, y), xytext=(4, 4), textcoords="offset points", fontweight="bold", color=colour)
        axes.set(xlabel=_cut(axes_titles[0]), ylabel=_cut(axes_titles[1]))

    steps = np.argwhere(counts > 0)
    width = (ends[1] - ends[0]) / len(counts)
    table: Table = {
        axes_titles[0]: [ends[0] + width * (j + 0.5) for _, j in steps],
        axes_titles[1]: [ends[0] + width * (i + 0.5) for i, _ in steps],
        "items": [int(counts[i, j]) for i, j in steps],
    }
    return Plot(name, title, caption, table, draw, 80)


def strip(
    name: str, title: str, names: Sequence[str], values: Sequence[Sequence[float]], axis: str, caption: str = ""
) -> Plot:
    """Every value as a thin line beside its name."""

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
    level: float | None = None,
) -> Plot:
    """Five numbers (extremes, quartiles, median) of every name and group; None where a group has no value.

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
        if level is not None:
            axes.axvline(level, color=MUTED, linewidth=0.8, linestyle=(0, (4, 3)))
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
    """One row for every name, the first on top."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)


def _cut(name: str) -> str:
    """A name that fits, without signs that matplotlib would take for a formula."""
    short = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    return short.replace("$", r"\$")


def _shade(depth: float, hints: Hints) -> str:
    """The colour of a depth from −1 to 1: between plain and one of the two ends."""
    end, share = "heat-plus" if depth >= 0 else "heat-minus", min(1.0, abs(depth))
    plain, full = ([int(THEME[name][i : i + 2], 16) for i in (1, 3, 5)] for name in ("heat-plain", end))
    mixed = "#{:02x}{:02x}{:02x}".format(*(round(a + share * (b - a)) for a, b in zip(plain, full, strict=True)))
    hints.colours[mixed] = f"color-mix(in srgb, var(--{end}) {100 * share:.0f}%, var(--heat-plain))"
    return mixed
