"""What the page about classifiers is made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dissensus.arrays import Array, Float
from dissensus.records import Ranking, Tally
from dissensus.report.data import Benchmark, Report


@dataclass(frozen=True)
class Said:
    """What one model said about an item, and whether people agreed."""

    label: str
    is_right: bool
    confidence: float | None
    answers: str


@dataclass(frozen=True)
class Shown:
    """One judged item of a duel, as shown in its gallery; `image` is a data URI, None where there is no picture."""

    item: str
    image: str | None
    pixelated: bool
    said: tuple[Said, Said]
    discrepancy: float

    @property
    def case(self) -> str:
        """Who was right: 'both' is Case I, 'first' and 'second' are Case II, 'neither' is Case III."""
        first, second = (said.is_right for said in self.said)
        return ("both" if second else "first") if first else "second" if second else "neither"


@dataclass(frozen=True)
class LabelDuel:
    """Two models and the judged items on which they disagreed most, in the order of the selection."""

    models: tuple[str, str]
    shown: tuple[Shown, ...]
    judged: int
    only: tuple[int, int]
    """On how many of them either model alone was right."""


@dataclass(frozen=True, kw_only=True)
class LabelsReport(Report):
    """Everything on the page, best model first in `ranking`."""

    ranking: Ranking
    other_rankings: Mapping[str, Ranking]
    tally: Tally
    accuracy: Float[Array, "M M"]
    dominance: Float[Array, "M M"]
    consensus: Mapping[str, float]
    """Agreement with the plurality vote over the whole pool, 0 to 1: the order that needs no people."""
    stability: tuple[tuple[int, float], ...]
    """(k, SRCC of the top-k ranking with the full one), k ascending."""
    duels: tuple[LabelDuel, ...]
    discarded: int
    unreadable: int
    benchmark: Benchmark | None = None
    label_names: Mapping[int, str] = field(default_factory=dict)
    """Names of the classes that the judgements under `ranking.fragility` are about."""

    @property
    def order(self) -> tuple[str, ...]:
        """The order of the page: the best model first."""
        return tuple(standing.model for standing in self.ranking.standings)
