"""Aggressiveness and resistance of every pair as coloured cells: the differences of Fig. 6, and the matrices."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.report.attacks.heatmaps import DuelGrid, duel_grid
from dissensus.report.heatmaps import Cell, HeatRow
from dissensus.report.scores.data import ScoresReportData
from dissensus.report.wording import number

Write = Callable[[int, int], str]
"""From a cell's row and column to its words."""


@dataclass(frozen=True)
class Heat:
    """One matrix; colours end at `reach`. `contradicted` counts the marked cells."""

    rows: tuple[HeatRow, ...]
    reach: str
    contradicted: int


@dataclass(frozen=True)
class AttackHeatmaps:
    """A − Aᵀ and R − Rᵀ, and the raw matrices, all in the order of the page."""

    attack_margin: Heat
    defence_margin: Heat
    attack: Heat
    defence: Heat


def attack_heatmaps(data: ScoresReportData, order: Sequence[str]) -> AttackHeatmaps:
    """The four matrices; a cell is empty where a side of its comparison was not judged."""
    places = [data.models.index(name) for name in order]
    grid, matrices = np.ix_(places, places), data.matrices
    attack, defence = matrices.aggressiveness[grid], matrices.resistance[grid]
    attacked, defended = matrices.attacked[grid], matrices.defended[grid]
    made = duel_grid([(duel.attacker, duel.defender) for duel in data.duels], order)
    negative, none = attacked & (attack < 0), np.zeros_like(attacked)
    said = _Sentences(order, attack, defence)
    attacking, defending = _Map(made, negative, False), _Map(made, none, True)
    return AttackHeatmaps(
        attacking.heat(attack - attack.T, attacked & attacked.T, said.attacks),
        defending.heat(defence - defence.T, defended & defended.T, said.defences),
        attacking.heat(attack, attacked, said.attack, reach=1.0),
        defending.heat(defence, defended, said.defence, reach=1.0),
    )


@dataclass(frozen=True)
class _Sentences:
    """What the cells say of two models."""

    order: Sequence[str]
    attack_of: Float[Array, "M M"]
    defence_of: Float[Array, "M M"]

    def attack(self, i: int, j: int) -> str:
        value = float(self.attack_of[i, j])
        opposite = ", so people saw the opposite of what it said" if value < 0 else ""
        return f"{self.order[i]} attacks {self.order[j]} with {number(value, 2)}{opposite}"

    def attacks(self, i: int, j: int) -> str:
        back = number(float(self.attack_of[j, i]), 2)
        return f"{self.attack(i, j)}; {self.order[j]} attacks back with {back}"

    def defence(self, i: int, j: int) -> str:
        return f"{self.order[i]} resists {self.order[j]} by {number(float(self.defence_of[i, j]), 2)}"

    def defences(self, i: int, j: int) -> str:
        return f"{self.defence(i, j)}; {self.defence(j, i)}"


@dataclass(frozen=True)
class _Map:
    """What two matrices of one measure share: their grid and marks; a defender's row is the attacked side."""

    grid: DuelGrid
    marked: Bool[Array, "M M"]
    row_defends: bool

    def heat(
        self, values: Float[Array, "M M"], known: Bool[Array, "M M"], write: Write, reach: float | None = None
    ) -> Heat:
        """Rows of cells; without a given reach the colours end at the largest value, rounded up to a tenth."""
        known = known & ~np.eye(len(known), dtype=bool)
        largest = float(np.abs(values[known]).max()) if known.any() else 0.0
        ends = max(0.1, math.ceil(largest * 10 - 1e-9) / 10) if reach is None else reach

        def cell(i: int, j: int, duel: str) -> Cell:
            value, side = float(values[i, j]), "plus" if values[i, j] >= 0 else "minus"
            depth = round(min(1.0, abs(value) / ends), 3)
            return Cell(number(value, 2), depth, side, write(i, j), duel, bool(self.marked[i, j]))

        rows = self.grid.rows(known, self.row_defends, cell)
        return Heat(rows, number(ends, 1), int((self.marked & known).sum()))
