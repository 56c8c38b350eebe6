"""One image quality model: what it needs, which way it counts, and its number for an image."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array, Float
from dissensus.backends.quality.pixels import luma
from dissensus.errors import BackendError

Better = Literal["higher", "lower"]


class UnfitImageError(BackendError):
    """An image that a model can give no number for; its words are the item's reason, and stop nothing else."""


@dataclass(frozen=True)
class QualityModel:
    """A published image quality model; it holds no state, so that threads and processes may share it."""

    name: str
    better: Better
    """Whether a higher or a lower number means better quality."""
    needs_reference: bool
    summary: str
    measure: Callable[..., float]
    """From the pixels (and those of the reference) to the number; NaN or UnfitImageError where there is none."""
    shortest: int = 16
    """Sides in pixels below which the model is not defined."""
    pixels: Callable[[Image], Float[Array, "H W"]] = luma
    revision: int = 1
    """Counted up when the numbers change."""

    @property
    def version(self) -> str:
        """What a fingerprint of the model's numbers is made from."""
        return f"{self.name}/{self.revision}"

    def score(self, image: Image, reference: Image | None = None) -> float:
        """The number for an image, always finite; a model without reference does not look at the one that is given.

        Raises:
            BackendError: the model needs a reference, and none is given.
            UnfitImageError: the image is too small, has another size than its reference, or has nothing to measure.
        """
        if min(image.size) < self.shortest:
            raise UnfitImageError(f"{_size(image)} pixels are too few for {self.name}: {self.shortest} a side at least")
        if not self.needs_reference:
            return self._finite(self.measure(self.pixels(image)))
        if reference is None:
            raise BackendError(f"{self.name} compares with a reference: give the pool a manifest with that column")
        if image.size != reference.size:
            raise UnfitImageError(f"{_size(image)} pixels, but the reference has {_size(reference)}")
        return self._finite(self.measure(self.pixels(image), self.pixels(reference)))

    def _finite(self, value: float) -> float:
        if not np.isfinite(value):
            raise UnfitImageError(f"{self.name} is not defined here: the image or its reference has no structure")
        return float(value)


def _size(image: Image) -> str:
    return f"{image.width}×{image.height}"
