"""Pairwise accuracy and dominance as rows of coloured cells, best model first."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.report.data import ReportData
from dissensus.report.wording import counted, percent, ratio


@dataclass(frozen=True)
class Cell:
    """One pair: its text, how deep its colour is (0 to 1), which side of the scale, and the pair in words.

    A marked cell holds a finding of its own, which its words say.
    """

    text: str
    depth: float
    side: str
    words: str
    duel: str = ""
    marked: bool = False


@dataclass(frozen=True)
class HeatRow:
    """One model's cells; None on the diagonal."""

    model: str
    cells: tuple[Cell | None, ...]


@dataclass(frozen=True)
class Heatmaps:
    """Both matrices in one order, with the factor at which the dominance scale ends."""

    accuracy: tuple[HeatRow, ...]
    dominance: tuple[HeatRow, ...]
    factor: str
    judged: str


def duel_id(first: int, second: int) -> str:
    """Anchor of a duel's gallery, from the two places in the order of the page."""
    return f"duel-{min(first, second)}-{max(first, second)}"


def heatmaps(data: ReportData, order: Sequence[str]) -> Heatmaps:
    """The two matrices of the page; a pair without judged items has an empty cell."""
    places = [data.models.index(name) for name in order]
    grid = np.ix_(places, places)
    accuracy, dominance, items = data.accuracy[grid], data.dominance[grid], data.tally.items[grid]
    met = (items > 0) & ~np.eye(len(order), dtype=bool)
    reach = ratio_reach(dominance[met])
    shown = {frozenset((duel.first, duel.second)) for duel in data.duels}

    def rows(cell: Callable[[int, int, str], Cell]) -> tuple[HeatRow, ...]:
        def made(i: int, j: int) -> Cell | None:
            if i == j:
                return None
            if not met[i, j]:
                return Cell("", 0.0, "none", f"{order[i]} and {order[j]}: no judged item")
            return cell(i, j, duel_id(i, j) if frozenset((order[i], order[j])) in shown else "")

        return tuple(HeatRow(row, tuple(made(i, j) for j in range(len(order)))) for i, row in enumerate(order))

    def accuracy_cell(i: int, j: int, duel: str) -> Cell:
        right, other, many = float(accuracy[i, j]), float(accuracy[j, i]), counted(round(float(items[i, j])), "item")
        words = (
            f"{order[i]} against {order[j]}: right on {percent(right)} of their {many}; {order[j]} on {percent(other)}"
        )
        return Cell(f"{100 * right:.0f}", round(right, 3), "plus", words, duel)

    def dominance_cell(i: int, j: int, duel: str) -> Cell:
        times = float(dominance[i, j])
        return ratio_cell(times, reach, _dominance_words(order[i], order[j], times), duel)

    return Heatmaps(rows(accuracy_cell), rows(dominance_cell), reach_factor(reach), _judged(items[met]))


def ratio_reach(ratios: Float[Array, " D"]) -> float:
    """Where a logarithmic scale of ratios ends, in factors of two from 1: between 2 and 16 times."""
    positive = ratios[ratios > 0]
    return min(4.0, max(1.0, float(np.abs(np.log2(positive)).max()))) if positive.size else 1.0


def reach_factor(reach: float) -> str:
    """The factor at which the scale ends, as written below it."""
    return f"{2**reach:.1f}".removesuffix(".0")


def ratio_cell(times: float, reach: float, words: str, duel: str) -> Cell:
    """A ratio on a logarithmic scale around 1, which is neutral; what lies beyond the reach has the last colour."""
    depth = math.log2(times) / reach if times > 0 else -1.0
    return Cell(ratio(times), round(min(1.0, abs(depth)), 3), "plus" if depth >= 0 else "minus", words, duel)


def _dominance_words(row: str, column: str, times: float) -> str:
    if abs(times - 1) < 0.005:
        return f"{row} and {column} were right equally often"
    better, worse, factor = (row, column, times) if times > 1 else (column, row, 1 / times)
    return f"{better} was right {ratio(factor)} times as often as {worse}"


def _judged(items: Float[Array, " D"]) -> str:
    """How many items the duels have; every duel is given twice."""
    if items.size == 0:
        return "No duel has been judged."
    low, high = round(float(items.min())), round(float(items.max()))
    many = counted(low, "judged item") if low == high else f"{low:,} to {high:,} judged items"
    return f"{counted(items.size // 2, 'duel')} with {many} each."
