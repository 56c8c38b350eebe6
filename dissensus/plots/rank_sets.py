"""Ranks with the sets of ranks that are possible: small enough to stand beside the sentence that names the winner."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import COLUMN, MUTED, SERIES
from dissensus.plots.text import Table, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ranks = tuple[int, int, int]
"""A name's rank, and the lowest and the highest rank that it may have."""

MOST = 10
"""Names drawn; the table has all of them."""
ROW, ROOM = 5.2, 12.0
"""Heights of a row and of the axis with its title, in millimetres."""
KEYS = 5.0
"""Height of the legend."""


def rank_sets(
    name: str,
    title: str,
    names: Sequence[str],
    orders: Mapping[str, Sequence[Ranks | None]],
    caption: str = "",
    most: int = MOST,
) -> Plot:
    """Each name's rank as a mark on the bar of the ranks that are possible, by one order or two; None: not comparable.

    Only the first `most` names are drawn, and the title of the axis says how many there are.
    """
    shown = names[:most]
    apart = (np.arange(len(orders)) - (len(orders) - 1) / 2) * 0.36
    last = max((high for found in orders.values() for _, _, high in filter(None, found)), default=1)

    def draw(axes: Axes, hints: Hints) -> None:
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_yticks(range(len(shown)), [cut(one) for one in shown])
        axes.spines["left"].set_visible(False)
        axes.grid(visible=False, axis="y")
        for (label, found), y, (colour, marker, _) in zip(orders.items(), apart, SERIES, strict=False):
            axes.plot([], [], marker, color=colour, label=label, markersize=5)
            for row, one in enumerate(found[:most]):
                if one is None:
                    axes.text(1, row + y, "not comparable", va="center", color=MUTED, fontsize=7, fontstyle="italic")
                    continue
                place, low, high = one
                ranks = str(low) if low == high else f"{low}–{high}"
                words = f"{shown[row]}, {label}: rank {place}, possible {ranks}"
                bar = axes.hlines(row + y, low, high, color=colour, linewidth=4.5, alpha=0.35, capstyle="round")
                hints.add(bar, words)
                hints.add(axes.plot(place, row + y, marker, color=colour, markersize=5, zorder=3)[0], words)
        axes.set_xlim(0.6, last + 0.4)
        axes.locator_params(axis="x", integer=True, nbins=8)
        axes.set_xlabel("rank" if len(names) <= most else f"rank ({most} of {len(names):,} models)")
        if len(orders) > 1:
            axes.figure.legend(loc="outside upper right", ncols=2, handlelength=1.2, columnspacing=1.4)

    rows = [
        (label, one, *(ranks or (None, None, None)))
        for label, found in orders.items()
        for one, ranks in zip(names, found, strict=True)
    ]
    heads = ("order", "name", "rank", "lowest rank", "highest rank")
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(heads)
    table: Table = {head: list(column) for head, column in zip(heads, columns, strict=True)}
    height = ROOM + ROW * len(shown) + (KEYS if len(orders) > 1 else 0)
    return Plot(name, title, caption, table, draw, height, COLUMN)
