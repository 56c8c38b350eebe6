"""The pool as two models score it (Fig. 3): how many items lie where, and the pairs with which they attack."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus import plots
from dissensus.plots import Plot
from dissensus.report.galleries import duel_id
from dissensus.report.scores.data import DuelFigure

FIRST = 6
"""Number of figures shown right away; the others are folded."""

CAPTION = "The pool as two models score it, darker where more items lie; lines join the pairs that were selected."


@dataclass(frozen=True)
class Attack:
    """One attack in a figure: the letters of its pair, their colour, and the anchor of its gallery."""

    attacker: str
    defender: str
    letters: str
    colour: str
    duel: str


@dataclass(frozen=True)
class Figure:
    """One figure with its anchor and the attacks in it."""

    id: str
    plot: Plot
    attacks: tuple[Attack, ...]


def figures(
    drawn: Sequence[DuelFigure], order: Sequence[str], linked: frozenset[tuple[int, int]]
) -> tuple[Figure, ...]:
    """All figures, those of the leading models first; a pair links to its attack if that is in `linked`."""
    place = {name: i for i, name in enumerate(order)}

    def attack(figure: DuelFigure, letters: str, attacker: str, defender: str, colour: str) -> Attack | None:
        if not any(point.name in letters for point in figure.points):
            return None
        places = place[attacker], place[defender]
        return Attack(attacker, defender, " and ".join(letters), colour, duel_id(*places) if places in linked else "")

    def made(number: int, figure: DuelFigure) -> Figure:
        first, second = figure.first, figure.second
        both = attack(figure, "AB", second, first, "orange"), attack(figure, "CD", first, second, "blue")
        marks = [
            plots.Mark(one.name, one.x, one.y, int(one.name in "CD"), f"{one.name}: {one.item}")
            for one in figure.points
        ]
        title = f"{first} and {second}"
        plot = plots.density(f"duel-{number}", title, figure.counts, (0, 100), (first, second), marks, CAPTION)
        return Figure(figure_id(place[first], place[second]), plot, tuple(one for one in both if one is not None))

    ranked = sorted(drawn, key=lambda figure: sorted((place[figure.first], place[figure.second])))
    return tuple(made(number, figure) for number, figure in enumerate(ranked, start=1))


def figure_id(first: int, second: int) -> str:
    """Anchor of a figure, from the models' positions in the page's order."""
    return f"figure-{min(first, second)}-{max(first, second)}"
