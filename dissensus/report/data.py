"""What the report page is made from; whoever has these records can draw the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dissensus.arrays import Array, Float
from dissensus.records import Ranking, Tally


@dataclass(frozen=True)
class Shown:
    """One judged item of a duel, as shown in its gallery; `image` is a data URI, None where there is no picture."""

    item: str
    image: str | None
    pixelated: bool
    first_label: str
    second_label: str
    first_right: bool
    second_right: bool
    discrepancy: float
    first_confidence: float | None
    second_confidence: float | None
    first_answers: str
    second_answers: str


@dataclass(frozen=True)
class DuelGallery:
    """Two models and the judged items on which they disagreed most, in the order of the selection."""

    first: str
    second: str
    shown: tuple[Shown, ...]
    judged: int
    both: int
    first_only: int
    second_only: int
    neither: int


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


@dataclass(frozen=True)
class ReportData:
    """Everything on the page, best model first in `ranking`; matrices follow the order of `models`."""

    title: str
    models: tuple[str, ...]
    ranking: Ranking
    other_rankings: Mapping[str, Ranking]
    tally: Tally
    accuracy: Float[Array, "M M"]
    dominance: Float[Array, "M M"]
    consensus: Mapping[str, float]
    """Agreement with the plurality vote over the whole pool, 0 to 1: the order that needs no people."""
    stability: tuple[tuple[int, float], ...]
    """(k, SRCC of the top-k ranking with the full one), k ascending."""
    duels: tuple[DuelGallery, ...]
    pool_size: int
    questions: int
    judgements: int
    annotators: int
    discarded: int
    unreadable: int
    settings: Mapping[str, str]
    notes: tuple[str, ...] = ()
    """Sentences a reader must see first, such as where the answers came from."""
    benchmark: Benchmark | None = None
    label_names: Mapping[int, str] = field(default_factory=dict)
    """Names of the classes that the judgements under `ranking.fragility` are about."""
