"""The data behind the page about scores; these records are all it needs."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.arrays import Array, Int
from dissensus.report.data import AttackDuel, AttackReport


@dataclass(frozen=True)
class Side:
    """One item of a pair; `image` is a data URI, or None without a picture. Scores are on the common scale."""

    item: str
    image: str | None
    pixelated: bool
    attacker: float
    defender: float


@dataclass(frozen=True)
class ShownPair:
    """A pair that the attacker selected within one level of the defender, with the annotators' verdict.

    `level` counts from 0, the lowest, and indexes the report's `levels`. `preference` is how much better annotators
    find `high`, from −1 to 1; None until somebody has answered.
    """

    level: int
    low: Side
    high: Side
    weight: int
    preference: float | None
    answers: str
    level_words: str = ""
    """Where the level lies on its round's scale."""
    band: tuple[float, float] | None = None
    """The ends of the level on the defender's scale; None if unknown."""

    @property
    def is_attack(self) -> bool:
        """Whether the attacker tells the two items further apart than the defender does."""
        return self.high.attacker - self.low.attacker > abs(self.high.defender - self.low.defender)


@dataclass(frozen=True)
class DuelFigure:
    """The pool as two models score it, as a 2D histogram.

    `counts[y, x]`, both axes from 0 to 100: x is the first model's score, y the second's.
    """

    first: str
    second: str
    counts: Int[Array, "S S"]


@dataclass(frozen=True)
class Subject:
    """One annotator in both screenings. `rejected` is BT.500's reason, or None if it keeps them.

    Bias and inconsistency are P.910's, in points of the slider or of the ratings; None without an estimate.
    """

    name: str
    answers: int
    outliers: int | None
    """None if BT.500 has no result."""
    rejected: str | None
    bias: float | None
    inconsistency: float | None
    words: str

    @property
    def share(self) -> float:
        """Share of the answers that are outliers."""
        return self.outliers / self.answers if self.outliers and self.answers else 0.0


@dataclass(frozen=True)
class Screenings:
    """Both screenings of the same answers side by side; the ranking is based on `used`."""

    used: str
    subjects: tuple[Subject, ...]
    words: tuple[str, ...]
    """What each screening did, or why it was not possible."""
    correlation: float | None
    """Pearson correlation between the preferences (or mean ratings) of the two screenings over all judged questions."""
    question: str = "slider"
    """What annotators were asked: slider or rating."""

    @property
    def noun(self) -> str:
        """What annotators judged."""
        return "items" if self.question == "rating" else "pairs"


@dataclass(frozen=True, kw_only=True)
class ScoresReport(AttackReport):
    """Everything on the page."""

    duels: tuple[AttackDuel[ShownPair], ...]
    """The pairs of every attacker against every defender, lowest level first."""
    figures: tuple[DuelFigure, ...]
    """At most one per pair of models."""
    question: str = "slider"
    """What annotators were asked: slider, choice or rating."""
    screenings: Screenings | None
    levels: tuple[str, ...]
    """The levels of the scale as text, such as '0 to 17', lowest first; which items they hold depends on the model."""
    stability: tuple[tuple[int, float, float], ...]
    """(number of levels, Spearman correlation with all levels for aggressiveness, for resistance): Table 1."""
    scale: str
    """How scores were mapped to the common scale, in one sentence."""
