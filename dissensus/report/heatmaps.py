"""Matrices over all pairs of models, best model first, with every cell linked to the gallery of its duel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus import plots
from dissensus.arrays import Array, Bool, Float
from dissensus.plots import Plot, Shade
from dissensus.report.galleries import duel_id
from dissensus.report.wording import number, ratio


@dataclass(frozen=True)
class Grid:
    """The models of a matrix, the page's order, and the positions of the duels that have a gallery."""

    models: Sequence[str]
    order: Sequence[str]
    linked: frozenset[tuple[int, int]]
    nothing: str = "not judged"

    def sorted(self, matrix: Array) -> Array:
        """The matrix in the page's order."""
        places = [self.models.index(name) for name in self.order]
        return matrix[np.ix_(places, places)]

    def heat(
        self,
        titles: tuple[str, str, str],
        values: Float[Array, "M M"],
        known: Bool[Array, "M M"],
        shade: Shade,
        words: Callable[[int, int], str],
        duel: Callable[[int, int], tuple[int, int]] = lambda row, column: (row, column),
        marked: Bool[Array, "M M"] | None = None,
    ) -> Plot:
        """The matrix as a figure; `titles` are its name, title and caption. All arrays are in the page's order.

        Called with row and column, `words` describes a cell and `duel` returns the positions of its duel's models.
        """

        def said(i: int, j: int) -> str:
            return words(i, j) if known[i, j] else f"{self.order[i]} and {self.order[j]}: {self.nothing}"

        def link(i: int, j: int) -> str:
            return duel_id(*duel(i, j)) if duel(i, j) in self.linked else ""

        name, title, caption = titles
        if not known[apart(np.ones_like(known))].all():
            caption = f"{caption} Hatched: {self.nothing}."
        return plots.heatmap(name, title, self.order, values, known, shade, caption, said, link, marked)


def defending(row: int, column: int) -> tuple[int, int]:
    """The duel of a cell whose row is the defender, as (attacker, defender)."""
    return column, row


def apart(matrix: Bool[Array, "M M"]) -> Bool[Array, "M M"]:
    """The matrix without its diagonal: no model duels itself."""
    return matrix & ~np.eye(len(matrix), dtype=bool)


def ratio_shade(ratios: Float[Array, " D"]) -> Shade:
    """A logarithmic scale with 1 as neutral; it ends at the largest ratio, but between 2 and 16."""
    positive = ratios[ratios > 0]
    reach = min(4.0, max(1.0, float(np.abs(np.log2(positive)).max()))) if positive.size else 1.0
    factor = f"{2**reach:.1f}".removesuffix(".0")
    ends = f"÷ {factor} worse", f"× {factor} better than the column"
    return Shade(ratio, lambda times: math.log2(times) / reach if times > 0 else -1.0, ends)


def margin_shade(margins: Float[Array, " D"]) -> Shade:
    """A scale around 0 that ends at the largest margin, rounded up to a tenth."""
    reach = max(0.1, math.ceil(float(np.abs(margins).max(initial=0.0)) * 10 - 1e-9) / 10)
    ends = f"−{number(reach, 1)} worse", f"+{number(reach, 1)} better than the column"
    return Shade(lambda value: number(value, 2), lambda value: value / reach, ends)
