"""The pool as two models score it, and beside it the pairs with which they attack each other (Figs. 3, 4 and 11)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dissensus import plots
from dissensus.plots import Plot
from dissensus.report.data import AttackDuel
from dissensus.report.galleries import Album, duel_id
from dissensus.report.scores.data import DuelFigure, ShownPair, Side

FIRST = 6
"""Number of figures shown right away; the others are folded."""

CAPTION = (
    "The pool as two models score it, darker where more items lie. A line joins the two items of a pair; the band is "
    "the level of the defender’s scale that both come from."
)


@dataclass(frozen=True)
class Point:
    """One marked item of a figure: its letter, and its scores by the first and the second model."""

    letter: str
    side: Side
    x: float
    y: float


@dataclass(frozen=True)
class Attack:
    """One model's widest attack on the other: the two marked items, their colour, and the anchor of its gallery.

    `pair` is None, and there are no points, if the attacker tells no pair further apart than the defender.
    """

    attacker: str
    defender: str
    pair: ShownPair | None
    points: tuple[Point, ...]
    colour: str
    duel: str

    @property
    def letters(self) -> str:
        """The names of its points: 'A and B'."""
        return " and ".join(point.letter for point in self.points)


@dataclass(frozen=True)
class Figure:
    """One figure with its anchor and the attacks in it."""

    id: str
    names: tuple[str, str]
    plot: Plot
    attacks: tuple[Attack, ...]


def figures(
    drawn: Sequence[DuelFigure],
    duels: Sequence[AttackDuel[ShownPair]],
    order: Sequence[str],
    linked: frozenset[tuple[int, int]],
    album: Album,
) -> tuple[Figure, ...]:
    """All figures, those of the leading models first; a pair links to its attack if that is in `linked`.

    The pictures of the marked items are added to the album.
    """
    place = {name: i for i, name in enumerate(order)}
    shown = {(duel.attacker, duel.defender): duel.shown for duel in duels}

    def made(number: int, figure: DuelFigure) -> Figure:
        names = figure.first, figure.second
        attacks = _attacks(figure, shown, {both: duel_id(*both) for both in linked}, place)
        for point in (point for attack in attacks.values() for point in attack.points):
            album.add(point.side.item, point.side.image)
        marks = [
            plots.Mark(point.letter, point.x, point.y, series, f"{point.letter}: {point.side.item}")
            for series, attack in attacks.items()
            for point in attack.points
        ]
        bands = {series: one.pair.band for series, one in attacks.items() if one.pair is not None and one.pair.band}
        title = f"{names[0]} and {names[1]}"
        plot = plots.density(f"duel-{number}", title, figure.counts, (0, 100), names, marks, CAPTION, bands)
        return Figure(figure_id(*(place[name] for name in names)), names, plot, tuple(attacks.values()))

    ranked = sorted(drawn, key=lambda figure: sorted((place[figure.first], place[figure.second])))
    return tuple(made(number, figure) for number, figure in enumerate(ranked, start=1))


def _attacks(
    figure: DuelFigure,
    shown: Mapping[tuple[str, str], Sequence[ShownPair]],
    anchors: Mapping[tuple[int, int], str],
    place: Mapping[str, int],
) -> dict[int, Attack]:
    """The attacks in a figure: 0 is the second model's on the first (A and B), 1 the first's on the second."""
    found = {}
    sides = ((figure.second, figure.first, "AB", "orange"), (figure.first, figure.second, "CD", "blue"))
    for series, (attacker, defender, letters, colour) in enumerate(sides):
        if pairs := shown.get((attacker, defender), ()):
            best = max((pair for pair in pairs if pair.is_attack), key=_difference, default=None)
            points = () if best is None else _points(best, letters, is_second=series == 0)
            anchor = anchors.get((place[attacker], place[defender]), "")
            found[series] = Attack(attacker, defender, best, points, colour, anchor)
    return found


def _points(pair: ShownPair, letters: str, is_second: bool) -> tuple[Point, ...]:
    """The item that the attacker scores higher, and the other; `is_second` if the attacker is the second model."""
    return tuple(
        Point(letter, side, *((side.defender, side.attacker) if is_second else (side.attacker, side.defender)))
        for letter, side in zip(letters, (pair.high, pair.low), strict=True)
    )


def _difference(pair: ShownPair) -> float:
    return pair.high.attacker - pair.low.attacker


def figure_id(first: int, second: int) -> str:
    """Anchor of a figure, from the models' positions in the page's order."""
    return f"figure-{min(first, second)}-{max(first, second)}"
