"""Figures for reports, notebooks and papers, all drawn with matplotlib.

Every function returns a `Plot`: a figure with the table it was drawn from. It becomes self-contained SVG whose text
stays text (`svg`), a matplotlib figure (`figure`), or files for a paper (`write`).
"""

from dissensus.plots.charts import Mark, Shade, bars, box, curve, density, dots, heatmap, scatter, strip
from dissensus.plots.plot import Plot

__all__ = ["Mark", "Plot", "Shade", "bars", "box", "curve", "density", "dots", "heatmap", "scatter", "strip"]
