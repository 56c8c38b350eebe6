"""What every model can do, whatever framework it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from PIL.Image import Image

from dissensus.arrays import MISSING, Array, Float, Int, UInt16

MOST_RANKED = 5
"""Classes that are kept for every image."""


class Top5(NamedTuple):
    """The most probable class of each image and its probability, and the classes that come next."""

    labels: UInt16[Array, " n"]
    confidence: Float[Array, " n"]
    """float32; NaN for a model without probabilities."""
    further: UInt16[Array, "n 4"]
    """The classes ranked 2 to 5; MISSING for a model that names only one, or where there are no more classes."""


def only_labels(labels: Int[Array, " n"], confidence: Float[Array, " n"] | None = None) -> Top5:
    """Predictions of a model that names one class for each image."""
    unknown = np.full((len(labels), MOST_RANKED - 1), MISSING, np.uint16)
    return Top5(labels, np.full(len(labels), np.nan, np.float32) if confidence is None else confidence, unknown)


class Model(Protocol):
    """Anything that classifies images."""

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class, its probability and the classes that come next, for each image.

        A model without probabilities returns NaN for all images; the stored confidence is then null, never a number.
        """
        ...
