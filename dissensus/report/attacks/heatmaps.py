"""Matrices of ordered duels: a cell for every attacker and defender, which leads to the duel's gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.report.heatmaps import Cell, HeatRow


@dataclass(frozen=True)
class DuelGrid:
    """The models of both sides of a matrix, and which ordered duels (attacker in the row) have a gallery to lead to."""

    order: Sequence[str]
    linked: Bool[Array, "M M"]

    def rows(
        self, known: Bool[Array, "M M"], row_defends: bool, cell: Callable[[int, int, str], Cell]
    ) -> tuple[HeatRow, ...]:
        """Rows of cells, made from their row, their column and the anchor of their duel; marked where not `known`."""

        def made(i: int, j: int) -> Cell | None:
            if i == j:
                return None
            if not known[i, j]:
                return Cell("", 0.0, "none", f"{self.order[i]} and {self.order[j]}: not judged")
            attacker, defender = (j, i) if row_defends else (i, j)
            return cell(i, j, duel_id(attacker, defender) if self.linked[attacker, defender] else "")

        many = range(len(self.order))
        return tuple(HeatRow(name, tuple(made(i, j) for j in many)) for i, name in enumerate(self.order))


def duel_id(attacker: int, defender: int) -> str:
    """Anchor of an attack's gallery, from the places of the attacker and the defender in the order of the page."""
    return f"duel-{attacker}-{defender}"


def duel_grid(attacks: Iterable[tuple[str, str]], order: Sequence[str]) -> DuelGrid:
    """The grid of all models in the order of the page, from the attackers and defenders that have a gallery."""
    shown = set(attacks)
    return DuelGrid(order, np.array([[(one, other) in shown for other in order] for one in order]))
