"""How much the result depends on the number of levels (Table 1), and what came of the pairs in each of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.report.curve import Point
from dissensus.report.scales import Axis, fixed_axis, whole_axis
from dissensus.report.scores.data import DuelPairs
from dissensus.report.scores.outcomes import Outcomes, outcomes

CLOSE = 0.9
"""Correlation from which the text calls an order nearly the same; in the paper two levels reach it."""


@dataclass(frozen=True)
class Line:
    """One measure's points."""

    points: tuple[Point, ...]

    @property
    def line(self) -> str:
        """The `points` attribute of an SVG polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


@dataclass(frozen=True)
class LevelCurves:
    """Both measures over the number of levels."""

    across: Axis
    upward: Axis
    aggressiveness: Line
    resistance: Line
    words: str


@dataclass(frozen=True)
class LevelRow:
    """One level: its number, its words and what came of its pairs."""

    number: int
    words: str
    outcomes: Outcomes


def level_curves(stability: Sequence[tuple[int, float, float]]) -> LevelCurves | None:
    """Both curves; None below two numbers of levels, where there is nothing to compare."""
    if len(stability) < 2:
        return None
    lowest = min(value for _, *both in stability for value in both)
    low, step = (0.5, 0.1) if lowest >= 0.5 else (0.0, 0.2) if lowest >= 0 else (-1.0, 0.5)
    upward, across = fixed_axis(low, 1, step, 1), whole_axis(stability[0][0], stability[-1][0])

    def line(column: int, measure: str) -> Line:
        return Line(
            tuple(
                Point(
                    across.at(row[0]), round(100 - upward.at(row[column]), 2), f"{row[0]}: {measure} {row[column]:.3f}"
                )
                for row in stability
            )
        )

    return LevelCurves(across, upward, line(1, "aggressiveness"), line(2, "resistance"), _words(stability))


def level_rows(duels: Sequence[DuelPairs], levels: Sequence[str]) -> tuple[LevelRow, ...]:
    """What came of all pairs, level by level, the lowest first."""
    pairs = [pair for duel in duels for pair in duel.pairs]
    return tuple(
        LevelRow(i + 1, words, outcomes(pair for pair in pairs if pair.level == i)) for i, words in enumerate(levels)
    )


def _words(stability: Sequence[tuple[int, float, float]]) -> str:
    last = stability[-1][0]
    enough = last
    for levels, *both in reversed(stability):
        if min(both) < CLOSE:
            break
        enough = levels
    if enough == last:
        return f"Both orders still move at the last level: {last} levels are not too many."
    start = "A single level gives" if enough == 1 else f"{enough} levels give"
    return f"{start} nearly the same order by both measures as all {last} (correlation of {CLOSE} or more)."
