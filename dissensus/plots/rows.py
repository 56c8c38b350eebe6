"""Figures with one row for every name: dots with intervals, bars, strips and boxes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, COLUMN, INK, MUTED, ORANGE, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from dissensus.plots.text import Table, cut, number

ROW = 5.2
"""Height of a row in a figure that lists models, in millimetres."""
ROOM = 14.0
"""Height of an axis with its numbers and its title, in millimetres."""
MOST_BARS = 60
"""Maximum number of bars drawn; the table holds all of them."""
LOG_FROM = 100.0
"""Positive values that span more than this factor are drawn on a logarithmic axis."""


def dots(
    name: str,
    title: str,
    names: Sequence[str],
    values: Sequence[float | None],
    lows: Sequence[float | None],
    highs: Sequence[float | None],
    axis: str,
    caption: str = "",
    prefixes: Sequence[str] | None = None,
    highlighted: Sequence[bool] = (),
    reference: tuple[float, str] | None = None,
    missing: str = "not comparable",
    is_whole: bool = False,
    limits: tuple[float, float] | None = None,
    decimals: int | None = None,
) -> Plot:
    """A dot with its interval for every name, the first on top.

    `prefixes` is text in front of the names, such as ranks. If `highlighted` is given, the other names are grey. Names
    without a value show the text `missing` instead. `reference` draws a dashed line at a value, with a label. If
    `is_whole`, values are whole numbers, such as ranks. Intervals are cut off at the `limits` of the axis. Values have
    three digits, or this number of `decimals`.
    """
    digits = 0 if is_whole else decimals
    written = number if digits is None else (lambda value: f"{value:z.{digits}f}".replace("-", "−"))
    shown = [cut(one) for one in names]
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
            words = f"{names[row]}: {written(value)}"
            if low is not None and high is not None:
                words += f", {written(low)} to {written(high)}"
                hints.add(axes.hlines(row, low, high, color=colour, linewidth=2.2, alpha=0.55), words)
            hints.add(axes.plot(value, row, "o", color=colour, markersize=5.5, zorder=3)[0], words)
            axes.text(1.02, row, written(value), transform=beside, va="center", color=MUTED, fontsize=7)
        if is_whole:
            axes.locator_params(axis="x", integer=True)
        known = [value for value in (*values, *lows, *highs) if value is not None]
        if known and not is_whole and min(known) > 0 and max(known) / min(known) > LOG_FROM:
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
        if limits is not None:
            axes.set_xlim(*limits)

    table: Table = {} if prefixes is None else {"rank": list(prefixes)}
    table |= {"name": list(names), "value": list(values), "low": list(lows), "high": list(highs)}
    return Plot(name, title, caption, table, draw, ROOM + ROW * len(names) + (4 if reference else 0))


def dots_over(
    name: str,
    title: str,
    names: Sequence[str],
    points: Mapping[str, Sequence[tuple[float | None, float | None, float | None]]],
    axis: str,
    caption: str = "",
    targets: Sequence[float | None] = (),
) -> Plot:
    """For every name, a dot with its interval (value, low, high) at each of several stages, the first on top.

    Earlier stages are grey, the last one is blue. `targets` are values that a tick marks across all stages of a name.
    """
    step = min(ROW, 3.0)
    offset = (np.arange(len(points)) - (len(points) - 1) / 2) * 0.7 / max(len(points), 2)

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, [cut(one) for one in names])
        for place, (label, found) in enumerate(points.items()):
            is_last = place == len(points) - 1
            colour, strength = (BLUE, 1.0) if is_last else (THEME["neutral"], 0.45 + 0.4 * place / len(points))
            for row, (value, low, high) in enumerate(found):
                if value is None or low is None or high is None:
                    continue
                y, words = row + offset[place], f"{names[row]}, {label}: {number(value)}"
                words += f", {number(low)} to {number(high)}"
                hints.add(axes.hlines(y, low, high, color=colour, linewidth=1.6, alpha=0.55 * strength), words)
                dot = axes.plot(value, y, "o", color=colour, markersize=3.8, alpha=strength, zorder=3)[0]
                hints.add(dot, words)
                if not any(before[0] is not None for before in found[:row]):
                    dot.set_label(label)
        is_drawn = False
        for row, target in enumerate(targets):
            if target is not None:
                tick = axes.vlines(target, row - 0.45, row + 0.45, color=INK, linewidth=0.9, zorder=2)
                tick.set_label("" if is_drawn else "all answers")
                is_drawn = True
                hints.add(tick, f"{names[row]}, all answers: {number(target)}")
        axes.set_xlabel(axis)
        axes.margins(x=0.04)
        axes.figure.legend(loc="outside upper left", ncols=2, handlelength=1.2, columnspacing=1.2)

    rows = [(label, names[row], *one) for label, found in points.items() for row, one in enumerate(found)]
    rows += [("all answers", one, target, None, None) for one, target in zip(names, targets, strict=False)]
    heads = ("stage", "name", "value", "low", "high")
    table: Table = {head: [one[place] for one in rows] for place, head in enumerate(heads)}
    legend = 5.0 * ((len(points) + 2) // 2)
    return Plot(name, title, caption, table, draw, ROOM + max(ROW, step * len(points)) * len(names) + legend)


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
        _rows(axes, [cut(one) for one in names[:count]])
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
            other.set_yticks(range(count), [cut(one) for one in opposite[:count]])
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


def strip(
    name: str, title: str, names: Sequence[str], values: Sequence[Sequence[float]], axis: str, caption: str = ""
) -> Plot:
    """Every value as a thin line, in one row per name."""

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, [cut(one) for one in names])
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

        _rows(axes, [cut(one) for one in names])
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


@dataclass(frozen=True)
class Box:
    """Five numbers (minimum, quartiles, maximum) and their mean; `is_other` draws it in the second colour, hatched."""

    five: Sequence[float]
    mean: float
    is_other: bool = False


def boxes(
    name: str,
    title: str,
    names: Sequence[str],
    panels: Mapping[str, Sequence[Box | None]],
    axis: str,
    caption: str = "",
    missing: str = "nothing found",
) -> Plot:
    """Box plots for every name, in one panel after another on the same axis; the mean is a diamond."""
    shown = [label for panel in panels for label in (panel, *(cut(one) for one in names))]

    def draw(axes: Axes, hints: Hints) -> None:
        _rows(axes, shown)
        beside = axes.get_yaxis_transform()
        for place, (panel, found) in enumerate(panels.items()):
            top = place * (len(names) + 1)
            axes.axhline(top - 0.5, color=THEME["strong-line"], linewidth=0.6, clip_on=False)
            for row, one in enumerate(found, start=top + 1):
                if one is None:
                    axes.text(0.01, row, missing, transform=beside, va="center", color=MUTED, fontstyle="italic")
                    continue
                said = f"{names[row - top - 1]}, {panel}: mean {number(one.mean)}, median {number(one.five[2])}, "
                said += f"classes from {number(one.five[0])} to {number(one.five[4])}"
                _box(axes, hints, one, row, said)
                axes.text(1.02, row, number(one.mean), transform=beside, va="center", color=MUTED, fontsize=7)
        for place, label in enumerate(axes.get_yticklabels()):
            if place % (len(names) + 1) == 0:
                label.set_fontweight("bold")
        axes.set_xlabel(axis)
        axes.set_xlim(left=0)

    rows = [
        (panel, one, *found.five, found.mean)
        for panel, column in panels.items()
        for one, found in zip(names, column, strict=True)
        if found is not None
    ]
    heads = ("panel", "name", "minimum", "first quartile", "median", "third quartile", "maximum", "mean")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(heads)
    table: Table = {head: list(column) for head, column in zip(heads, columns, strict=True)}
    return Plot(name, title, caption, table, draw, ROOM + 0.9 * ROW * len(shown), 1.2 * COLUMN)


def _box(axes: Axes, hints: Hints, one: Box, y: float, said: str) -> None:
    from matplotlib.patches import Rectangle

    colour, hatch = (ORANGE, "/////") if one.is_other else (BLUE, "")
    low, first, middle, third, high = one.five
    axes.hlines(y, low, high, color=colour, linewidth=0.8)
    axes.vlines((low, high), y - 0.12, y + 0.12, color=colour, linewidth=0.8)
    patch = Rectangle(
        (first, y - 0.27), third - first, 0.54, facecolor=colour, alpha=0.45, hatch=hatch, edgecolor=colour,
        linewidth=0.6,
    )  # fmt: skip
    axes.add_patch(patch)
    axes.vlines(middle, y - 0.3, y + 0.3, color=INK, linewidth=1.2)
    axes.plot(one.mean, y, "D", color=INK, markersize=2.6, zorder=4)
    hints.add(patch, said)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """Set up one row for every name, the first on top."""
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_yticks(range(len(names)), names)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
