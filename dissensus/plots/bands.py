"""Several curves over the same places, with their intervals as bands, and others behind them in grey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import MUTED, SERIES, THEME
from dissensus.plots.text import Table, cut, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Values = Sequence[float | None]
MOST_SERIES = len(SERIES)
"""Curves that can be told apart without colour."""


def banded(
    name: str,
    title: str,
    x: Sequence[float],
    series: Mapping[str, tuple[Values, Values | None, Values | None]],
    labels: tuple[str, str],
    caption: str = "",
    faint: Mapping[str, Values] | None = None,
    others: str = "other models",
    has_marks: bool = True,
    limits: tuple[float | None, float | None] | None = None,
) -> Plot:
    """A curve for every one of up to `MOST_SERIES` series (values, lows, highs); those in `faint` are thin and grey.

    A series without lows and highs has no band. Places where a value is None are left out. `others` is the legend's
    word for faint curves.
    """
    faint = faint or {}

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.ticker import MaxNLocator

        for label, values in faint.items():
            at, up, _, _ = _known(x, values, None, None)
            hints.add(axes.plot(at, up, color=THEME["neutral"], linewidth=0.6, alpha=0.6)[0], label)
        for (label, (values, lows, highs)), (colour, marker, style) in zip(series.items(), SERIES, strict=False):
            at, up, low, high = _known(x, values, lows, highs)
            if lows is not None:
                axes.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)
            axes.plot(at, up, style, color=colour, label=cut(label))
            for one, value, least, most in zip(at, up, low, high, strict=True):
                said = f"{label}, {one:g}: {number(value)}"
                said += "" if lows is None else f" ({number(least)} to {number(most)})"
                mark = axes.plot(one, value, marker if has_marks else ".", color=colour, alpha=1.0 if has_marks else 0)
                hints.add(mark[0], said)
        if faint:
            axes.plot([], [], color=THEME["neutral"], linewidth=0.8, label=others)
        axes.set(xlabel=labels[0], ylabel=labels[1])
        if limits is not None:
            axes.set_ylim(*limits)
        if all(float(one).is_integer() for one in x):
            axes.xaxis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))
        if len(series) + bool(faint) > 1:
            axes.figure.legend(loc="outside upper left", ncols=2, handlelength=1.8, columnspacing=1.2)
        axes.tick_params(colors=MUTED)

    shown = len(series) + bool(faint)
    legend = 5.0 * ((shown + 1) // 2) if shown > 1 else 0.0
    return Plot(name, title, caption, _table(x, series, faint, labels[0]), draw, 60 + legend)


def _known(
    x: Sequence[float], values: Values, lows: Values | None, highs: Values | None
) -> tuple[list[float], list[float], list[float], list[float]]:
    """The places that have a value, with the value and its ends; the value itself where it has none."""
    known = [(place, value) for place, value in enumerate(values) if value is not None]

    def ends(given: Values | None) -> list[float]:
        found = [(value, None if given is None else given[place]) for place, value in known]
        return [value if end is None else end for value, end in found]

    return [x[place] for place, _ in known], [value for _, value in known], ends(lows), ends(highs)


def _table(
    x: Sequence[float], series: Mapping[str, tuple[Values, Values | None, Values | None]], faint: Mapping[str, Values],
    head: str,
) -> Table:  # fmt: skip
    """A row for every place of every series, so that all curves fit in one tidy table."""
    everything = {**series, **{label: (values, None, None) for label, values in faint.items()}}
    rows = [
        (label, at, values[place], lows and lows[place], highs and highs[place])
        for label, (values, lows, highs) in everything.items()
        for place, at in enumerate(x)
    ]
    heads = ("name", head, "value", "low", "high")
    table: Table = {one: [row[column] for row in rows] for column, one in enumerate(heads)}
    return table if any(lows for _, lows, _ in everything.values()) else {one: table[one] for one in heads[:3]}
