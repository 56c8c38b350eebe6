"""What the page about maps is made from; whoever has these records can draw the page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dissensus.arrays import Array, Bool, Float
from dissensus.report.data import AttackDuel, AttackReport


@dataclass(frozen=True)
class ShownImage:
    """An image of the MAD set. Pictures are data URIs, each made once and shown by many attacks.

    `photo` is the image itself. `truth` and `maps` (by model) are indexed PNG of the same proportions, in the colours
    of the classes, transparent where there is background: they are laid over the photo. None, or absent, where there
    is none, such as a truth that nobody has drawn yet.
    """

    item: str
    photo: str | None
    truth: str | None
    maps: Mapping[str, str]
    labels: tuple[int, ...]
    """Classes that the truth or a map shows, for the legend; background aside."""


@dataclass(frozen=True)
class ShownAttack:
    """One selected image of a duel. Scores, 0 to 1, are against people; None before they judged."""

    category: int
    image: int
    """Its place in the report's `images`."""
    concordance: float
    share: float
    """Of the pixels that the defender gives to the category, 0 to 1."""
    attacker_score: float | None
    defender_score: float | None
    answers: str
    """Who judged it and how, in words: 'drawn, checked', '3 of 4 chose the attacker'; empty before anybody did."""


@dataclass(frozen=True, kw_only=True)
class MasksReport(AttackReport):
    """Everything on the page. Matrices hold ratios (Eq. 3 and 5): 1 is a draw, more is better for the row's model."""

    classes: tuple[str, ...]
    question: str
    """'mask': people drew the truth; 'choice': they chose the better of two predictions."""
    measure: str
    """The name of the concordance measure: miou, miou-all, fwiou, mpa."""
    images: tuple[ShownImage, ...]
    duels: tuple[AttackDuel[ShownAttack], ...]
    """All attacks of one model on another, by category."""
    scores: Float[Array, "I M"] | None
    """How well every model agrees with the truth on every image that has one; None where people only chose."""
    scored: tuple[int, ...]
    """The images of the rows of `scores`, as places in `images`."""
    associated: Bool[Array, "I M"] | None
    """True where an image was selected for a duel of the model (U of Fig. 7); rows as `scores`."""
    selected: int
    """Rows of the selection, reserves aside: an image may be in several duels."""

    @property
    def is_choice(self) -> bool:
        """True where people chose between two maps and drew nothing."""
        return self.question == "choice"
