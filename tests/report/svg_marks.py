"""What a figure says: the tooltip, the link and the fill of every mark."""

from __future__ import annotations

import re
from html import unescape

from dissensus.plots import Plot

MARK = re.compile(
    r'<g><title>(.*?)</title>\s*(?:<a tabindex="-1" aria-hidden="true" href="#([^"]*)">)?\s*<path[^>]*style="([^"]*)"',
    re.S,
)


def marks(plot: Plot) -> dict[str, tuple[str, str]]:
    """The link and the style of every filled mark, by its tooltip."""
    return {unescape(words): (link, style) for words, link, style in MARK.findall(plot.svg(is_themed=True))}


def matrix(plot: Plot) -> dict[tuple[str, str], float]:
    """The values of a heat map, by row and column."""
    return {(row, column): value for row, column, value in plot.rows}
