"""Results of the laconic test: minimal-entropy positive images (MEPIs), and who can read whose."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.records.columns import Columns
from dissensus.records.laconic_people import Control, Manner

ORIGINAL = "original"


@dataclass(frozen=True)
class Mepis(Columns):
    """MEPIs, a row each: numbers of the classifier, the reduction and the image, and the size of the reduced image.

    A classifier that does not recognise the original has no row for that image. People may have several rows.
    """

    classifier: Int[Array, " m"]
    reduction: Int[Array, " m"]
    image: Int[Array, " m"]
    bytes: Int[Array, " m"]


@dataclass(frozen=True)
class Readings(Columns):
    """Who classified whose MEPIs, and how often rightly: a row per reader, source, reduction and true class."""

    reader: Int[Array, " c"]
    source: Int[Array, " c"]
    reduction: Int[Array, " c"]
    label: Int[Array, " c"]
    right: Int[Array, " c"]
    count: Int[Array, " c"]


@dataclass(frozen=True)
class Laconic:
    """Everything that a laconic test has found. People are classifiers too, after the models."""

    classes: tuple[str, ...]
    reductions: tuple[str, ...]
    classifiers: tuple[str, ...]
    is_person: Bool[Array, " M"]
    accuracy: Float[Array, " M"]
    """The share of originals that a model classifies rightly; 0 for people, who never see them."""
    images: tuple[str, ...]
    label: Int[Array, " n"]
    """The class of every image."""
    original: Int[Array, " n"]
    """The size of every image before it is reduced."""
    mepis: Mepis
    readings: Readings
    encoder: str
    side: int
    """Height and width of the originals in pixels."""
    is_naive: bool = False
    """Whether the images are minimal without an unbroken path of right answers from the original."""
    unreadable: int = 0
    """How many images were left out because they cannot be read."""
    manners: tuple[Manner, ...] = ()
    control: Control | None = None
    """Which people's readings count; None if nobody has read any."""

    @property
    def ratio(self) -> Float[Array, " m"]:
        """The entropy ratio of every MEPI: its size divided by that of the original.

        The paper's text says it the other way round, its figures and tables this way.
        """
        return self.mepis.bytes / self.original[self.mepis.image]

    def to_frame(self) -> Any:
        """A tidy frame with a row for every MEPI: classifier, reduction, image, its class, bytes, and the ratio."""
        from dissensus.frames import frame_of

        found = self.mepis
        return frame_of(
            {
                "classifier": [self.classifiers[number] for number in found.classifier.tolist()],
                "is_person": self.is_person[found.classifier],
                "reduction": [self.reductions[number] for number in found.reduction.tolist()],
                "image": [self.images[number] for number in found.image.tolist()],
                "label": [self.classes[number] for number in self.label[found.image].tolist()],
                "bytes": found.bytes,
                "original": self.original[found.image],
                "ratio": self.ratio,
            }
        )
