"""What every page is made from; each task adds its own in its `data.py`. Whoever has these records can draw a page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

from dissensus.records import AttackMatrices, Ranking

Shown = TypeVar("Shown")


@dataclass(frozen=True)
class Benchmark:
    """A column of known scores (for instance accuracy on a labelled set) to hold the ranking against."""

    name: str
    scores: Mapping[str, float]
    rank: Mapping[str, int]
    difference: Mapping[str, int]
    """Benchmark rank minus competition rank: positive where the competition places a model higher (Table 1)."""
    srcc: float | None
    labels_used: int | None = None


@dataclass(frozen=True, kw_only=True)
class Report:
    """What is known of every study; matrices follow the order of `models`."""

    title: str
    models: tuple[str, ...]
    pool_size: int
    questions: int
    judgements: int
    annotators: int
    settings: Mapping[str, str]
    notes: tuple[str, ...] = ()
    """Sentences a reader must see first, such as where the answers came from."""


@dataclass(frozen=True, kw_only=True)
class AttackReport(Report):
    """A study whose models attack each other: two rankings, and a matrix of each measure."""

    aggressiveness: Ranking
    resistance: Ranking
    words: tuple[str, ...]
    """What to know beside the rankings, such as where they disagree and what that means."""
    matrices: AttackMatrices
    waiting: int
    """Questions without an answer."""
    benchmarks: Mapping[str, Benchmark] | None = None
    """A known column beside each measure, by the measure's name."""

    @property
    def rankings(self) -> dict[str, Ranking]:
        """Both rankings by the name of their measure."""
        return {"aggressiveness": self.aggressiveness, "resistance": self.resistance}

    @property
    def order(self) -> tuple[str, ...]:
        """The order of the page: the most aggressive model first."""
        return tuple(standing.model for standing in self.aggressiveness.standings)


@dataclass(frozen=True)
class AttackDuel(Generic[Shown]):
    """One attacker against one defender, with what was selected for them."""

    attacker: str
    defender: str
    shown: tuple[Shown, ...]
    aggressiveness: float | None
    resistance: float | None
    """Of the defender against this attacker."""
