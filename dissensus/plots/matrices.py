"""Figures of all pairs of names: heat maps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import COLUMN, INK, LINE, MUTED, THEME

if TYPE_CHECKING:
    from matplotlib.axes import Axes
from dissensus.plots.text import Table, cut

KEY = 8.0
"""Height of a heat map's colour bar, in millimetres."""
FEW, MANY = 10, 30
"""Up to FEW names, the cells of a heat map are large; up to MANY, they show their numbers."""


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
    has_diagonal: bool = False,
) -> Plot:
    """A matrix over all pairs of names, row against column; cells that are not `known` are hatched.

    The diagonal is drawn only if it means something (`has_diagonal`).

    Cells also show their numbers if there is room. `words` and `link` return a cell's tooltip and the anchor that it
    links to. Cells that are `marked` have a red corner.
    """
    count = len(names)
    size = 7.0 if count <= FEW else 5.2
    letters = max(map(len, map(cut, names)))
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
        for row, column in (pair for pair in np.ndindex(count, count) if has_diagonal or pair[0] != pair[1]):
            said = f"{names[row]} against {names[column]}"
            corner = (column - 0.48, row - 0.48)
            if not known[row, column]:
                empty = Rectangle(corner, 0.96, 0.96, facecolor="none", edgecolor=LINE, hatch="/////", linewidth=0)
                put(empty, f"{said}: unknown" if words is None else words(row, column))
                continue
            value = float(values[row, column])
            said = f"{said}: {shade.write(value)}" if words is None else words(row, column)
            colour = _colour(shade.depth(value), hints)
            put(Rectangle(corner, 0.96, 0.96, facecolor=colour), said, link(row, column))
            if marked is not None and marked[row, column]:
                x, y = column + 0.48, row - 0.48
                put(Polygon([(x - 0.25, y), (x, y), (x, y + 0.25)], facecolor=THEME["wrong"]), said, link(row, column))
            if count <= MANY:
                axes.text(
                    column, row, shade.write(value), ha="center", va="center", color=THEME["heat-ink"],
                    fontsize=7.0 if count <= FEW else 5.0, in_layout=False,
                )  # fmt: skip
        axes.set_xticks(range(count), [cut(one) for one in names], rotation=90, color=INK)
        axes.set_yticks(range(count), [cut(one) for one in names])
        axes.xaxis.tick_top()
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)
        _key(axes, shade, hints, width, KEY / height)

    pairs = [(i, j) for i in range(count) for j in range(count) if (has_diagonal or i != j) and known[i, j]]
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
        colour = _colour(float(depth), hints)
        key.add_artist(
            Rectangle(
                (start + step * place, 0.25), step * (1.4 if place + 1 < len(steps) else 1), 0.4, facecolor=colour
            )
        )
    key.text(start - 1.5, 0.42, shade.ends[0], ha="right", va="center", fontsize=7, color=MUTED)
    key.text(start + step * len(steps) + 1.5, 0.42, shade.ends[1], ha="left", va="center", fontsize=7, color=MUTED)


def _colour(depth: float, hints: Hints) -> str:
    """The colour for a depth from −1 to 1: a mix of the neutral colour and one of the two ends."""
    end, share = "heat-plus" if depth >= 0 else "heat-minus", min(1.0, abs(depth))
    plain, full = ([int(THEME[name][i : i + 2], 16) for i in (1, 3, 5)] for name in ("heat-plain", end))
    mixed = "#{:02x}{:02x}{:02x}".format(*(round(a + share * (b - a)) for a, b in zip(plain, full, strict=True)))
    hints.colours[mixed] = f"color-mix(in srgb, var(--{end}) {100 * share:.0f}%, var(--heat-plain))"
    return mixed
