"""A path through a taxonomy: from one class up to what it has in common with another, and down to that one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from dissensus.plots.plot import Hints, Plot
from dissensus.plots.style import BLUE, INK, MUTED, ORANGE, THEME
from dissensus.plots.text import Table, cut

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ROW = 5.2
"""Height of one node, in millimetres."""
WIDTH = 100.0
ROOM = 0.75
"""Space for a name to the right of the deepest node, as a part of the range of depths."""


def path(
    name: str, title: str, nodes: Sequence[str], depths: Sequence[int], weights: Sequence[float], caption: str = ""
) -> Plot:
    """One row per node, the first class at the top and the second at the bottom, further right the deeper it is.

    `weights` belong to the edges between successive nodes. The node furthest left is what the two classes share. A
    class may have several parents, so a path may also turn elsewhere.
    """
    top = min(range(len(nodes)), key=lambda place: depths[place])
    span = max(max(depths) - min(depths), 1)

    def draw(axes: Axes, hints: Hints) -> None:
        end = max(depths) + ROOM * span
        for place, (one, other) in enumerate(pairwise(depths)):
            colour = BLUE if place < top else ORANGE
            drawn = axes.plot([one, other], [place, place + 1], color=colour, linewidth=1.6, zorder=2)[0]
            hints.add(drawn, f"{nodes[place]} – {nodes[place + 1]}: {weights[place]:.3g}")
            axes.text(end, place + 0.5, f"{weights[place]:.3g}", ha="right", va="center", fontsize=6.5, color=MUTED)
        for place, (node, depth) in enumerate(zip(nodes, depths, strict=True)):
            is_end = place in (0, len(nodes) - 1)
            colour = THEME["neutral"] if place == top else BLUE if place < top else ORANGE
            axes.plot(depth, place, "o", color=colour, markersize=6 if is_end else 4.5, zorder=3)
            axes.annotate(
                cut(node), (depth, place), xytext=(6, 0), textcoords="offset points", va="center", color=INK,
                fontweight="bold" if is_end or place == top else "normal", zorder=2.5,
                bbox={"facecolor": THEME["paper"], "linewidth": 0, "pad": 0.6},
            )  # fmt: skip
        axes.text(end, -0.5, "edge weight", ha="right", va="center", fontsize=6.5, color=MUTED)
        axes.set(xlim=(min(depths) - 0.04 * span, end), ylim=(len(nodes) - 0.5, -0.9), xlabel="depth in the taxonomy")
        axes.set_yticks([])
        axes.set_xticks(range(min(depths), max(depths) + 1, 1 + span // 7))
        for side in ("left", "bottom"):
            axes.spines[side].set_visible(False)

    table: Table = {"node": list(nodes), "depth": list(depths), "weight of the edge to the next": [*weights, None]}
    return Plot(name, title, caption, table, draw, ROW * len(nodes) + 9, WIDTH)
