"""A row of cells for every name, one cell per step: what is said at each, and whether it is right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import COLUMN, LINE, THEME
from dissensus.plots.text import Table, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CELL = 5.0
"""Width of a cell, in millimetres."""
MOST_LISTED = 8
"""Words that the caption explains."""


def cells(
    name: str,
    title: str,
    names: Sequence[str],
    steps: Sequence[str],
    words: Sequence[Sequence[str]],
    is_right: Sequence[Sequence[bool]],
    is_in: Sequence[bool],
    axis: str,
    caption: str = "",
) -> Plot:
    """What every name says at every step, as a number that the caption explains: blue if right, orange if wrong.

    Steps that are not `is_in` do not count and are hatched. A thick line marks every change of words.
    """
    order = list(dict.fromkeys(one for row in words for one in row))
    key = ", ".join(f"{place} {one}" for place, one in enumerate(order[:MOST_LISTED], start=1))
    more = f" and {len(order) - MOST_LISTED} more" if len(order) > MOST_LISTED else ""
    width = max(COLUMN, CELL * len(steps) + 1.6 * max(len(cut(one)) for one in names) + 6)

    def draw(axes: Axes, hints: Hints) -> None:
        from matplotlib.patches import Rectangle

        axes.grid(visible=False)
        axes.set(xlim=(-0.5, len(steps) - 0.5), ylim=(len(names) - 0.5, -0.5))
        for row, said in enumerate(words):
            for step, word in enumerate(said):
                good = is_right[row][step]
                fill = THEME["heat-plus" if good else "heat-minus"] if is_in[step] else "none"
                cell = Rectangle(
                    (step - 0.48, row - 0.42), 0.96, 0.84, facecolor=fill, edgecolor=LINE, linewidth=0,
                    hatch="" if is_in[step] else "/////",
                )  # fmt: skip
                axes.add_patch(cell)
                state = ("right" if good else "wrong") + ("" if is_in[step] else ", does not count")
                hints.add(cell, f"{names[row]}, {steps[step]}: {word} ({state})")
                axes.text(
                    step, row, str(order.index(word) + 1), ha="center", va="center", fontsize=6, color=THEME["heat-ink"]
                )
                if step and word != said[step - 1]:
                    axes.vlines(step - 0.5, row - 0.46, row + 0.46, color=THEME["ink"], linewidth=1.4)
        axes.set_yticks(range(len(names)), [cut(one) for one in names])
        axes.set_xticks(range(len(steps)), steps)
        axes.set_xlabel(axis)
        axes.tick_params(length=0)
        for spine in axes.spines.values():
            spine.set_visible(False)

    rows = [(one, steps[n], words[row][n], is_right[row][n], is_in[n]) for row, one in enumerate(names)
            for n in range(len(steps))]  # fmt: skip
    heads = ("name", axis, "says", "right", "counts")
    table: Table = {head: [row[column] for row in rows] for column, head in enumerate(heads)}
    return Plot(name, title, f"{caption} {key}{more}.".strip(), table, draw, 14 + 5.5 * len(names), width)
