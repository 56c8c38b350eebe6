"""The three cases of a judged item: both right (I), one right (II), neither right (III)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dissensus.report.data import ReportData
from dissensus.report.heatmaps import duel_id

PAPER = (0.329, 0.535, 0.136)
"""Shares of Cases I, II and III among eleven ImageNet classifiers (Section 3.1)."""


@dataclass(frozen=True)
class CaseBar:
    """The judged items of one duel; `first` is the model that the page places higher."""

    first: str
    second: str
    both: int
    first_only: int
    second_only: int
    neither: int
    duel: str

    @property
    def judged(self) -> int:
        """All judged items of the duel."""
        return self.both + self.first_only + self.second_only + self.neither


@dataclass(frozen=True)
class Cases:
    """Shares over all duels beside the paper's, and one bar per duel; no shares where nothing was judged."""

    shares: tuple[float, float, float] | None
    paper: tuple[float, float, float]
    judged: int
    bars: tuple[CaseBar, ...]


def cases(data: ReportData, order: Sequence[str]) -> Cases:
    """Counts of every duel with judged items, in the order of the page."""
    tally, places = data.tally, [data.models.index(name) for name in order]
    linked = {frozenset((duel.first, duel.second)) for duel in data.duels}
    bars = []
    for a, i in enumerate(places):
        for b, j in enumerate(places[a + 1 :], start=a + 1):
            cells = tally.both[i, j], tally.only[i, j], tally.only[j, i], tally.neither[i, j]
            both, first, second, neither = (round(float(cell)) for cell in cells)
            if both + first + second + neither:
                link = duel_id(a, b) if frozenset((order[a], order[b])) in linked else ""
                bars.append(CaseBar(order[a], order[b], both, first, second, neither, link))
    judged = sum(bar.judged for bar in bars)
    if not judged:
        return Cases(None, PAPER, 0, ())
    one = sum(bar.both for bar in bars) / judged
    three = sum(bar.neither for bar in bars) / judged
    return Cases((one, 1 - one - three, three), PAPER, judged, tuple(bars))
