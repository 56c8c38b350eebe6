"""Figures for reports, notebooks and papers, all drawn with matplotlib.

Every function returns a `Plot`: a figure with the table it was drawn from. It becomes self-contained SVG whose text
stays text (`svg`), a matplotlib figure (`figure`), or files for a paper (`write`).
"""

from dissensus.plots.matrices import Shade, heatmap
from dissensus.plots.paired import Pair, paired
from dissensus.plots.paths import path
from dissensus.plots.planes import Mark, curve, density, ranks, scatter
from dissensus.plots.plot import Plot
from dissensus.plots.rank_sets import Ranks, rank_sets
from dissensus.plots.rows import Box, bars, box, boxes, dots, dots_over, strip
from dissensus.plots.slopes import Slope, slopes
from dissensus.plots.steps import steps

__all__ = [
    "Box",
    "Mark",
    "Pair",
    "Plot",
    "Ranks",
    "Shade",
    "Slope",
    "bars",
    "box",
    "boxes",
    "curve",
    "density",
    "dots",
    "dots_over",
    "heatmap",
    "paired",
    "path",
    "rank_sets",
    "ranks",
    "scatter",
    "slopes",
    "steps",
    "strip",
]
