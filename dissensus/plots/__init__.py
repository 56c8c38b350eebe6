"""Figures for reports, notebooks and papers. One engine, matplotlib, draws all of them.

Every function returns a `Plot`: a figure with the table it was drawn from. It becomes self-contained SVG whose text
stays text (`svg`), a matplotlib figure (`figure`), or files for a paper (`write`).
"""

from dissensus.plots.charts import bars, box, curve, density, dots, heat, scatter, strip
from dissensus.plots.plot import Plot

__all__ = ["Plot", "bars", "box", "curve", "density", "dots", "heat", "scatter", "strip"]
