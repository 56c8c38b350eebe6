"""Aggressiveness and resistance as ratios (Fig. 9 and 10): cells on a logarithmic scale around 1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.report.attacks.heatmaps import DuelGrid, duel_grid
from dissensus.report.heatmaps import Cell, HeatRow, ratio_cell, ratio_reach, reach_factor
from dissensus.report.masks.data import MasksReportData
from dissensus.report.wording import counted, ratio


@dataclass(frozen=True)
class RatioHeat:
    """One matrix, and the factor at which its colours end."""

    rows: tuple[HeatRow, ...]
    factor: str
    unknown: int


@dataclass(frozen=True)
class RatioHeatmaps:
    """A and R in the order of the page, with what they come to in one sentence."""

    attack: RatioHeat
    defence: RatioHeat
    words: str


def ratio_heatmaps(data: MasksReportData, order: Sequence[str]) -> RatioHeatmaps:
    """Both matrices; a cell is marked where its duel was not judged."""
    places = [data.models.index(name) for name in order]
    square, matrices = np.ix_(places, places), data.matrices
    grid = duel_grid([(duel.attacker, duel.defender) for duel in data.duels], order)
    attack = _heat(grid, matrices.aggressiveness[square], matrices.attacked[square], row_defends=False)
    defence = _heat(grid, matrices.resistance[square], matrices.defended[square], row_defends=True)
    return RatioHeatmaps(attack, defence, _words(matrices.aggressiveness, matrices.attacked))


def _heat(grid: DuelGrid, values: Float[Array, "M M"], known: Bool[Array, "M M"], row_defends: bool) -> RatioHeat:
    apart = ~np.eye(len(known), dtype=bool)
    reach = ratio_reach(values[known & apart])
    verb = "resists" if row_defends else "attacks"

    def cell(i: int, j: int, duel: str) -> Cell:
        times = float(values[i, j])
        return ratio_cell(times, reach, f"{grid.order[i]} {verb} {grid.order[j]}: {_side(times)}", duel)

    return RatioHeat(grid.rows(known, row_defends, cell), reach_factor(reach), int((~known & apart).sum()))


def _side(times: float) -> str:
    if abs(times - 1) < 0.005:
        return "both agree with people equally well"
    better = f"agrees with people {ratio(times)} times as well"
    return f"it {better} as the other" if times > 1 else f"it {better}, so the other is ahead"


def _words(attack: Float[Array, "M M"], known: Bool[Array, "M M"]) -> str:
    """In how many duels the attacker is ahead: the diagonal is no duel."""
    judged = attack[known & ~np.eye(len(known), dtype=bool)]
    if not judged.size:
        return "No duel has been judged."
    return f"The attacker is ahead of the defender in {int((judged > 1).sum()):,} of {counted(judged.size, 'duel')}."
