"""The ranking's stability over k (Figure 5) as a curve in percent of its plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.report.scales import Axis, fixed_axis, whole_axis

STABLE = 0.9
"""SRCC above which the paper calls the order stable."""


@dataclass(frozen=True)
class Point:
    """One k: where it is drawn (y counts from the top) and its words."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Curve:
    """Points, axes and the finding in one sentence."""

    points: tuple[Point, ...]
    across: Axis
    upward: Axis
    stable_at: float
    words: str

    @property
    def line(self) -> str:
        """The `points` attribute of an SVG polyline."""
        return " ".join(f"{point.x},{point.y}" for point in self.points)


def curve(stability: Sequence[tuple[int, float]]) -> Curve | None:
    """The curve, or None where there is nothing to draw."""
    if not stability:
        return None
    lowest = min(srcc for _, srcc in stability)
    upward = fixed_axis(0, 1, 0.2, 1) if lowest >= 0 else fixed_axis(-1, 1, 0.5, 1)
    if lowest >= 0.5:
        upward = fixed_axis(0.5, 1, 0.1, 1)
    across = whole_axis(stability[0][0], stability[-1][0])
    points = tuple(
        Point(across.at(k), round(100 - upward.at(srcc), 2), f"k = {k}: SRCC {srcc:.2f}") for k, srcc in stability
    )
    return Curve(points, across, upward, round(100 - upward.at(STABLE), 2), _words(stability))


def _words(stability: Sequence[tuple[int, float]]) -> str:
    last = stability[-1][0]
    stable = last
    for k, srcc in reversed(stability):
        if srcc <= STABLE:
            break
        stable = k
    if stable == stability[0][0]:
        return f"The order stays close to the final one (SRCC above {STABLE}) from the smallest k on."
    if stable == last:
        return f"The order still moves at k = {last}: judge more items per duel before trusting close ranks."
    return f"From k = {stable} on, the order stays close to the final one (SRCC above {STABLE})."
