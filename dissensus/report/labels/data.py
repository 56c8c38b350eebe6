"""The data behind the page about classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dissensus.arrays import Array, Float
from dissensus.records import ClassPath, Estimates, Failures, LaconicResult, Ranking, Tally
from dissensus.report.data import Benchmark, ClassBeside, Report


@dataclass(frozen=True)
class JudgedLabel:
    """One model's prediction for an item, and whether annotators agreed."""

    label: str
    is_right: bool
    confidence: float | None
    answers: str


@dataclass(frozen=True)
class Shown:
    """One judged item of a duel, as shown in its gallery; `image` is a data URI, or None without a picture."""

    item: str
    image: str | None
    pixelated: bool
    said: tuple[JudgedLabel, JudgedLabel]
    discrepancy: float

    @property
    def case(self) -> str:
        """Who was right: 'both' is Case I, 'first' and 'second' are Case II, 'neither' is Case III."""
        first, second = (said.is_right for said in self.said)
        return ("both" if second else "first") if first else "second" if second else "neither"


@dataclass(frozen=True)
class Ordinary:
    """A picture of an item that was not selected, as a data URI."""

    item: str
    image: str
    pixelated: bool


@dataclass(frozen=True)
class LabelDuel:
    """Two models and the judged items on which they disagreed most, in selection order."""

    models: tuple[str, str]
    shown: tuple[Shown, ...]
    judged: int
    only: tuple[int, int]
    """For each model, the number of items on which only it was right."""


@dataclass(frozen=True, kw_only=True)
class LabelsReport(Report):
    """Everything on the page, best model first in `ranking`."""

    ranking: Ranking
    other_rankings: Mapping[str, Ranking]
    tally: Tally
    accuracy: Float[Array, "M M"]
    dominance: Float[Array, "M M"]
    consensus: Mapping[str, float]
    """Agreement with the plurality vote over the whole pool, 0 to 1: an order that needs no annotators."""
    stability: tuple[tuple[int, float], ...]
    """(k, SRCC of the top-k ranking with the full one), k ascending."""
    duels: tuple[LabelDuel, ...]
    discarded: int
    unreadable: int
    benchmark: Benchmark | None = None
    estimates: Estimates | None = None
    """Who is most often right on the pool; None if no question was drawn for it."""
    laconic: LaconicResult | None = None
    """How little of an image is enough for the models; None if that was not tested."""
    failures: Failures | None = None
    failed_pictures: Mapping[str, tuple[str | None, bool]] = field(default_factory=dict)
    """Pictures of the failures that the page shows, by item, and whether to show them pixelated."""
    paths: Mapping[frozenset[str], ClassPath] = field(default_factory=dict)
    """The path in the taxonomy between the two labels of every shown item, by their names; empty without a taxonomy."""
    beside: tuple[ClassBeside[Ordinary], ...] = ()
    label_names: Mapping[int, str] = field(default_factory=dict)
    """Names of the classes that occur in the judgements of `ranking.fragility`."""

    @property
    def order(self) -> tuple[str, ...]:
        """The page's order: best model first."""
        return tuple(standing.model for standing in self.ranking.standings)
