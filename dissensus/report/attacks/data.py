"""What every page about attackers and defenders knows of its competition."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dissensus.records import Ranking
from dissensus.report.data import Benchmark


class AttackReport(Protocol):
    """A report with two rankings; whatever else it holds is the page's own."""

    @property
    def aggressiveness(self) -> Ranking:
        """Models as attackers."""

    @property
    def resistance(self) -> Ranking:
        """Models as defenders."""

    @property
    def words(self) -> tuple[str, ...]:
        """What to know beside the rankings."""

    @property
    def questions(self) -> int:
        """Asked of people."""

    @property
    def waiting(self) -> int:
        """Questions without an answer."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences a reader must see first."""

    @property
    def benchmarks(self) -> Mapping[str, Benchmark] | None:
        """A known column beside each measure, by its name."""
