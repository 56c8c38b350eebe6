"""What the page about scores is made from; whoever has these records can draw the page."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.arrays import Array, Int
from dissensus.report.data import AttackDuel, AttackReport


@dataclass(frozen=True)
class Side:
    """One item of a pair; `image` is a data URI, None where there is no picture. Scores are on the common scale."""

    item: str
    image: str | None
    pixelated: bool
    attacker: float
    defender: float


@dataclass(frozen=True)
class ShownPair:
    """A pair that the attacker selected in one level of the defender, with what people said.

    `level` counts from 0, the lowest, and is the place of its words in the report's `levels`. `preference`: how much
    better people find `high`, −1 to 1; None before anybody said so.
    """

    level: int
    low: Side
    high: Side
    weight: int
    preference: float | None
    answers: str
    level_words: str = ""
    """Where the level lies on the scale of its round."""


@dataclass(frozen=True)
class Marked:
    """A point of a duel's figure: A and B, C and D as in the paper's Fig. 3."""

    name: str
    x: float
    y: float
    item: str


@dataclass(frozen=True)
class DuelFigure:
    """The pool as two models score it: items per square of the common scale, and the pairs they falsify each other by.

    `counts[y, x]`, both axes from 0 to 100: x is the first model's score, y the second's. A (higher) and B (lower):
    the pair of the second model as attacker, held alike by the first. C and D: the other way round.
    """

    first: str
    second: str
    counts: Int[Array, "S S"]
    points: tuple[Marked, ...]


@dataclass(frozen=True)
class Subject:
    """One person in both screenings. `rejected` is BT.500's reason, None where it keeps them.

    Bias and inconsistency are P.910's, in points of the slider; None where there is no estimate.
    """

    name: str
    answers: int
    outliers: int | None
    """None where BT.500 has no result."""
    rejected: str | None
    bias: float | None
    inconsistency: float | None
    words: str

    @property
    def share(self) -> float:
        """Of the answers, those that are outliers."""
        return self.outliers / self.answers if self.outliers and self.answers else 0.0


@dataclass(frozen=True)
class Screenings:
    """Both screenings of the same answers, side by side; `used` is the one that the ranking rests on."""

    used: str
    subjects: tuple[Subject, ...]
    words: tuple[str, ...]
    """What each of them did, or why it cannot be done."""
    correlation: float | None
    """Pearson correlation of the two screenings' preferences over all judged pairs."""


@dataclass(frozen=True, kw_only=True)
class ScoresReport(AttackReport):
    """Everything on the page."""

    duels: tuple[AttackDuel[ShownPair], ...]
    """All pairs of an attacker against a defender, the lowest level first."""
    figures: tuple[DuelFigure, ...]
    """At most one for every two models."""
    screenings: Screenings | None
    levels: tuple[str, ...]
    """The levels of the scale in words, the lowest first, such as '0 to 17'; each model's pool differs in them."""
    stability: tuple[tuple[int, float, float], ...]
    """(number of levels, Spearman correlation with all levels of aggressiveness, of resistance): Table 1."""
    scale: str
    """How scores came on the common scale, in one sentence."""
