"""Shares that rise in steps, such as performance profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, INK, MUTED, ORANGE, SERIES, THEME
from dissensus.plots.text import Table, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes


CURVES = (*((colour, style) for colour, _, style in SERIES), (INK, "-."), (BLUE, ":"), (ORANGE, "-."))
"""Colour and line style of the curves that are named."""


def steps(
    name: str,
    title: str,
    series: Mapping[str, tuple[Sequence[float], Sequence[float]]],
    labels: tuple[str, str],
    caption: str = "",
) -> Plot:
    """Step curves of fractions, drawn in per cent; those after the first six are grey, and several share a name."""
    widest = max((places[-1] for places, _ in series.values() if places), default=0.0) or 0.01

    def draw(axes: Axes, hints: Hints) -> None:
        styles = [*CURVES, *[(THEME["neutral"], "-")] * max(len(series) - len(CURVES), 0)]
        for rank, ((label, (places, shares)), (colour, style)) in enumerate(zip(series.items(), styles, strict=False)):
            at, up = [100 * one for one in (*places, widest)], [100 * one for one in (*shares, shares[-1])]
            is_faint = rank >= len(CURVES)
            is_one_of_many = is_faint and len(series) > len(CURVES) + 1
            shown = cut(label) if not is_one_of_many else "others" if rank == len(CURVES) else "_"
            drawn = axes.step(
                at, up, style, where="post", color=colour, label=shown, linewidth=0.6 if is_faint else 1.3,
                zorder=2 if is_faint else 3,
            )  # fmt: skip
            within = sum(share for place, share in zip(places, shares, strict=True) if place == 0)
            hints.add(drawn[0], f"{label}: best on {100 * within:.0f} % of data sets")
        axes.set(xlabel=labels[0], ylabel=labels[1], xlim=(0, 100 * widest), ylim=(0, 103))
        axes.figure.legend(loc="outside upper left", ncols=2, handlelength=1.8, columnspacing=1.2)
        axes.tick_params(colors=MUTED)

    rows = [
        (label, place, share)
        for label, (places, shares) in series.items()
        for place, share in zip(places, shares, strict=True)
    ]
    table: Table = {head: [row[column] for row in rows] for column, head in enumerate(("name", "tau", "share"))}
    return Plot(name, title, caption, table, draw, 60 + 5.0 * ((min(len(series), len(CURVES) + 1) + 1) // 2))
