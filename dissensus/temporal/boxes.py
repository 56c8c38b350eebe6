"""Annotated and detected boxes of images, as columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TemporalError

MOST_DETECTIONS = 100
"""Detections of one category that count in an image: those with the highest scores."""


@dataclass(frozen=True)
class Truth:
    """Annotated boxes: left, top, width and height, with their image and category as numbers.

    A detection of a box that `is_crowd` counts neither way, however many of them there are, and overlaps it by the
    share of its own area. A detection of another box that `is_ignored` counts neither way, once.
    """

    images: int
    categories: int
    image: Int[Array, " T"]
    category: Int[Array, " T"]
    box: Float[Array, "T 4"]
    is_crowd: Bool[Array, " T"]
    is_ignored: Bool[Array, " T"]

    @cached_property
    def counts(self) -> Bool[Array, " T"]:
        """Which boxes have to be found."""
        return ~(self.is_crowd | self.is_ignored)

    def merged(self) -> Truth:
        """The same boxes with a single category, for localisation."""
        zeros = np.zeros_like(self.category)
        return Truth(self.images, 1, self.image, zeros, self.box, self.is_crowd, self.is_ignored)


@dataclass(frozen=True)
class Detections:
    """Boxes that one detector has found, with its scores."""

    image: Int[Array, " D"]
    category: Int[Array, " D"]
    box: Float[Array, "D 4"]
    score: Float[Array, " D"]

    def __post_init__(self) -> None:
        if not (np.isfinite(self.box).all() and np.isfinite(self.score).all()):
            raise TemporalError("a detection has a box or a score that is not a number: remove it")

    def merged(self) -> Detections:
        """The same boxes with a single category, for localisation."""
        return Detections(self.image, np.zeros_like(self.category), self.box, self.score)
