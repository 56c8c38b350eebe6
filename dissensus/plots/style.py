"""How figures look: sizes for print, and colours that people with any colour vision can tell apart."""

from __future__ import annotations

from typing import Any

COLUMN = 85.0
"""Width of one column of a two-column paper, in millimetres."""

THEME = {
    "ink": "#1a1e24",
    "muted": "#59626e",
    "line": "#e2e4e1",
    "strong-line": "#c3c8cc",
    "blue-fill": "#2f78c4",
    "orange-fill": "#e5892f",
    "both-fill": "#ccd6e0",
    "neither-fill": "#a4abb5",
    "none-fill": "#e9ebee",
    "neutral": "#7b8490",
    "on-blue": "#fffffe",
    "on-orange": "#14181d",
    "wrong": "#b3261e",
    "heat-plain": "#f4f6f7",
    "heat-plus": "#4a8edb",
    "heat-minus": "#e58a35",
    "heat-ink": "#0c0f13",
    "paper": "#fffffd",
}
"""Colours in print, by the names of the page's custom properties. All differ: themed SVG replaces them by value."""

INK, MUTED, LINE = THEME["ink"], THEME["muted"], THEME["line"]
BLUE, ORANGE = THEME["blue-fill"], THEME["orange-fill"]
SERIES = ((BLUE, "o", "-"), (ORANGE, "s", "--"), (MUTED, "^", ":"))
"""Colour, marker and line style of each series, so that nothing depends on colour alone."""

SETTINGS: dict[str, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "dissensus",
    "pdf.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"],
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": THEME["strong-line"],
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": INK,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 8.0,
    "xtick.major.size": 2.0,
    "ytick.major.size": 0.0,
    "text.color": INK,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.0,
    "legend.frameon": False,
    "legend.fontsize": 7.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
