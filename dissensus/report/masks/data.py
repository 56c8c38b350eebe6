"""The data behind the page about segmentation models; these records are all it needs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from dissensus.arrays import Array, Bool, Float
from dissensus.report.data import AttackDuel, AttackReport, ClassBeside, OtherOrders


@dataclass(frozen=True)
class ShownImage:
    """An image of the MAD set. Pictures are data URIs, each made once and shared by many attacks.

    `photo` is the image itself. `truth` (the ground truth) and `maps` (the predictions by model) are indexed PNGs with
    the same aspect ratio, in the colours of the classes and with a transparent background, shown as an overlay. They
    are None or absent if they do not exist, such as ground truth that nobody has drawn yet.
    """

    item: str
    photo: str | None
    truth: str | None
    maps: Mapping[str, str]
    labels: tuple[int, ...]
    """Classes in the ground truth or a prediction, for the legend; without background."""


@dataclass(frozen=True)
class ShownAttack:
    """One selected image of a duel. Scores, 0 to 1, measure agreement with annotators; None until they have judged."""

    category: int
    image: int
    """Index into the report's `images`."""
    concordance: float
    share: float
    """Share of the pixels that the defender assigns to the category, 0 to 1."""
    attacker_score: float | None
    defender_score: float | None
    answers: str
    """How it was judged, such as 'drawn, checked' or '3 of 4 chose the attacker'; empty until then."""


@dataclass(frozen=True, kw_only=True)
class MasksReport(AttackReport):
    """Everything on the page. Matrices hold ratios (Eq. 3 and 5): 1 is a tie, more is better for the row's model."""

    classes: tuple[str, ...]
    question: str
    """'mask': annotators drew the ground truth; 'choice': they chose the better of two predictions."""
    measure: str
    """The concordance measure: miou, miou-all, fwiou or mpa."""
    images: tuple[ShownImage, ...]
    duels: tuple[AttackDuel[ShownAttack], ...]
    """All attacks of one model on another, by category."""
    scores: Float[Array, "I M"] | None
    """Agreement of every model with the ground truth, for every image that has one; None for choices."""
    scored: tuple[int, ...]
    """For each row of `scores`, the index of its image in `images`."""
    associated: Bool[Array, "I M"] | None
    """True if the image was selected for a duel of the model (U in Fig. 7); rows as in `scores`."""
    selected: int
    """Rows of the selection, without reserves: an image may be in several duels."""
    by_measure: OtherOrders = field(default_factory=dict)
    """Standings under other measures, from the same images and masks; empty for choices."""
    beside: tuple[ClassBeside[ShownImage], ...] = ()
    """Ordinary images with at most one map, that of the model which finds the category in them."""

    @property
    def is_choice(self) -> bool:
        """True if annotators chose between two predictions and drew nothing."""
        return self.question == "choice"
