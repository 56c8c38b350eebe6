"""Matrices over all pairs of models as rows of coloured cells, best model first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from dissensus import plots
from dissensus.arrays import Array, Bool, Float
from dissensus.plots import Plot
from dissensus.report.galleries import duel_id
from dissensus.report.wording import number, ratio


@dataclass(frozen=True)
class Cell:
    """One pair: its text, depth of colour (0 to 1), side of the scale, and a description.

    A marked cell is a finding of its own, which `words` explains.
    """

    text: str
    depth: float
    side: str
    words: str
    duel: str = ""
    marked: bool = False


@dataclass(frozen=True)
class Shade:
    """How values are written and coloured: depths from −1 to 1, and what the two ends of the scale mean."""

    write: Callable[[float], str]
    depth: Callable[[float], float]
    ends: tuple[str, str]


@dataclass(frozen=True)
class Heat:
    """One matrix: each model with its cells (None on the diagonal), and how many cells are empty or marked."""

    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]
    ends: tuple[str, str]
    empty: int
    marked: int
    values: Float[Array, "M M"] = field(repr=False)
    known: Bool[Array, "M M"] = field(repr=False)
    shade: Shade = field(repr=False)

    def plot(self, name: str, title: str, caption: str) -> Plot:
        """The same as a figure for a paper."""
        names, low, high = [model for model, _ in self.rows], *self.ends
        explained = f"{caption} Colours range from {low} (orange) to {high} (blue)."
        return plots.heat(name, title, names, self.values, self.known, self.shade.depth, self.shade.write, explained)


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
        values: Float[Array, "M M"],
        known: Bool[Array, "M M"],
        shade: Shade,
        words: Callable[[int, int], str],
        duel: Callable[[int, int], tuple[int, int]] = lambda row, column: (row, column),
        marked: Bool[Array, "M M"] | None = None,
    ) -> Heat:
        """The matrix as cells, empty where not `known`. All arrays are in the page's order.

        Both called with row and column: `words` describes a cell, `duel` returns the positions of its duel's models.
        """
        found = np.zeros_like(known) if marked is None else marked & known

        def cell(i: int, j: int) -> Cell | None:
            if i == j:
                return None
            if not known[i, j]:
                return Cell("", 0.0, "none", f"{self.order[i]} and {self.order[j]}: {self.nothing}")
            value, places = float(values[i, j]), duel(i, j)
            depth, anchor = shade.depth(value), duel_id(*places) if places in self.linked else ""
            side, deep = "plus" if depth >= 0 else "minus", round(min(1.0, abs(depth)), 3)
            return Cell(shade.write(value), deep, side, words(i, j), anchor, bool(found[i, j]))

        many = range(len(self.order))
        rows = tuple((name, tuple(cell(i, j) for j in many)) for i, name in enumerate(self.order))
        return Heat(rows, shade.ends, int(apart(~known).sum()), int(apart(found).sum()), values, known, shade)


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
