"""Two orders of the same names side by side, joined by lines, with the ranks that tests leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, COLUMN, INK, MUTED, ORANGE, THEME
from dissensus.plots.text import Table, cut, number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 3.9
"""Height of a row, in millimetres."""
ROOM = 12.0
Ends = tuple[int, int]


@dataclass(frozen=True)
class Slope:
    """One name in two orders: its ranks, the ranks left open in each, and its values.

    `is_marked` draws the name in bold, such as people among models; `is_clear` says that the change is more than
    chance, and draws the line strongly.
    """

    name: str
    ranks: tuple[int, int]
    open_ranks: tuple[Ends, Ends]
    values: tuple[float, float]
    is_clear: bool = False
    is_marked: bool = False


def slopes(name: str, title: str, rows: Sequence[Slope], columns: tuple[str, str], caption: str = "") -> Plot:
    """Names in two orders, best on top; blue lines rise in the second order, orange dashed ones fall.

    Names with the same rank are drawn below each other. A grey bar beside each column spans the ranks that are open.
    """
    left = {row.name: place for place, row in enumerate(sorted(rows, key=lambda one: (one.ranks[0], one.name)), 1)}
    right = {
        row.name: place for place, row in enumerate(sorted(rows, key=lambda one: (one.ranks[1], left[one.name])), 1)
    }

    def draw(axes: Axes, hints: Hints) -> None:
        axes.grid(visible=False)
        for row in rows:
            ends = left[row.name], right[row.name]
            step = row.ranks[0] - row.ranks[1]
            colour = BLUE if step > 0 else ORANGE if step < 0 else THEME["neutral"]
            style = (0, (4, 2)) if step < 0 else "-"
            line = axes.plot(
                (0, 1), ends, color=colour, linestyle=style, linewidth=1.5 if row.is_clear else 0.8,
                alpha=1.0 if row.is_clear else 0.55, zorder=3 if row.is_clear else 2,
            )[0]  # fmt: skip
            hints.add(line, _words(row, columns))
            for x, place, (low, high), value, side in zip(
                (0, 1), ends, row.open_ranks, row.values, ("right", "left"), strict=True
            ):
                axes.plot(x, place, "o", color=colour, markersize=3.0, zorder=4)
                axes.text(
                    x + (-0.06 if x == 0 else 0.06), place, _label(row, value, low, high, side), ha=side,
                    va="center_baseline", fontsize=6.8, color=INK, fontweight="bold" if row.is_marked else "normal",
                )  # fmt: skip
        for x, column in enumerate(columns):
            axes.text(x, 0.05, column, ha="center", va="bottom", fontsize=7.5, color=MUTED)
        axes.set(xlim=(-1.35, 2.35), ylim=(len(rows) + 0.6, -0.6), xticks=[], yticks=[])
        for spine in axes.spines.values():
            spine.set_visible(False)

    return Plot(name, title, caption, _table(rows, columns), draw, ROOM + ROW * len(rows), 1.3 * COLUMN)


def _label(row: Slope, value: float, low: int, high: int, side: str) -> str:
    """Name, value and the open ranks, the value next to the line."""
    span = f"{low}" if low == high else f"{low}–{high}"
    parts = [cut(row.name), f"({span})", f"{value:.1f}"]
    return "  ".join(parts if side == "right" else parts[::-1])


def _words(row: Slope, columns: tuple[str, str]) -> str:
    each = ", ".join(
        f"{column} {number(value)}, rank {rank}"
        for column, value, rank in zip(columns, row.values, row.ranks, strict=True)
    )
    return f"{row.name}: {each}{'; more than chance' if row.is_clear else ''}"


def _table(rows: Sequence[Slope], columns: tuple[str, str]) -> Table:
    table: Table = {"name": [row.name for row in rows]}
    for side, column in enumerate(columns):
        table |= {
            column: [row.values[side] for row in rows],
            f"rank, {column}": [row.ranks[side] for row in rows],
            f"lowest rank, {column}": [row.open_ranks[side][0] for row in rows],
            f"highest rank, {column}": [row.open_ranks[side][1] for row in rows],
        }
    return table | {"more than chance": ["yes" if row.is_clear else "no" for row in rows]}
