"""What every model can do, whatever framework it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from PIL.Image import Image

from dissensus.arrays import Array, Float, UInt16

Top1 = tuple[UInt16[Array, " n"], Float[Array, " n"]]
"""Class of each image (uint16) and its probability (float32); NaN for a model without probabilities."""


class Model(Protocol):
    """Anything that classifies images."""

    def predict(self, images: Sequence[Image]) -> Top1:
        """Top-1 class and its probability for each image.

        A model without probabilities returns NaN for all images; the stored confidence is then null, never a number.
        """
        ...
