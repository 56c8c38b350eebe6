"""The data behind every page; each task adds its own in its `data.py`. These records are all a page needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from dissensus.records import AttackMatrices, Failures, Ranking, Standing, Step

Shown = TypeVar("Shown")
Picture = TypeVar("Picture")

OtherOrders = Mapping[str, Mapping[str, Sequence[Standing]]]
"""The same judgements ranked in other ways: by the name of the way and then by measure, the standings, best first."""


@dataclass(frozen=True)
class Benchmark:
    """Known scores, such as accuracy on a labelled set, to compare the ranking with."""

    name: str
    scores: Mapping[str, float]
    rank: Mapping[str, int]
    difference: Mapping[str, int]
    """Benchmark rank minus competition rank: positive if the competition ranks the model higher (Table 1)."""
    srcc: float | None
    labels_used: int | None = None


@dataclass(frozen=True)
class ClassBeside(Generic[Picture]):
    """A class of many selected items, and ordinary pictures of it; `source` says where these come from."""

    label: str
    source: str
    ordinary: tuple[Picture, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What every report contains; matrices follow the order of `models`."""

    title: str
    models: tuple[str, ...]
    pool_size: int
    questions: int
    judgements: int
    """Answers to these questions."""
    annotators: int | None
    """How many people gave them; None if no person was asked."""
    settings: Mapping[str, str]
    notes: tuple[str, ...] = ()
    """Sentences readers must see first, such as where the answers come from."""
    answers_from: str = ""
    """What the answers are if no person was asked."""
    stored_answers: int = 0
    """Answers in the study, also to questions that it does not need."""
    stored_annotators: int | None = None
    """How many people gave those."""
    causes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    """Why models failed, by item (or pair) and model, as people tagged it."""
    funnels: Mapping[int, Sequence[Step]] = field(default_factory=dict)
    """What each rule of the selection left, by round."""


@dataclass(frozen=True, kw_only=True)
class AttackReport(Report):
    """A study whose models attack each other: two rankings, and a matrix for each measure."""

    aggressiveness: Ranking
    resistance: Ranking
    words: tuple[str, ...]
    """What else to know about the rankings, such as where they disagree and what that means."""
    matrices: AttackMatrices
    waiting: int
    """Questions without an answer."""
    benchmarks: Mapping[str, Benchmark] | None = None
    """A benchmark to compare with each measure, keyed by the measure's name."""
    by_method: OtherOrders = field(default_factory=dict)
    """Standings by other ranking methods."""
    failures: Failures | None = None

    @property
    def rankings(self) -> dict[str, Ranking]:
        """Both rankings, keyed by measure."""
        return {"aggressiveness": self.aggressiveness, "resistance": self.resistance}

    @property
    def order(self) -> tuple[str, ...]:
        """The page's order: most aggressive model first."""
        return tuple(standing.model for standing in self.aggressiveness.standings)


@dataclass(frozen=True)
class AttackDuel(Generic[Shown]):
    """One attacker against one defender, with the items selected for them."""

    attacker: str
    defender: str
    shown: tuple[Shown, ...]
    aggressiveness: float | None
    resistance: float | None
    """The defender's, against this attacker."""
