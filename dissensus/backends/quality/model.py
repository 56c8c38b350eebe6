"""One image quality model: what it needs, whether higher or lower is better, and its score for an image."""

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
    """An image that a model cannot score; recorded as the reason why it has no score, and nothing else is stopped."""


@dataclass(frozen=True)
class QualityModel:
    """A published image quality model; it is stateless, so threads and processes may share it."""

    name: str
    better: Better
    """Whether a higher or a lower score means better quality."""
    needs_reference: bool
    summary: str
    measure: Callable[..., float]
    """From the pixels (and those of the reference) to the score; NaN or UnfitImageError if it is undefined."""
    shortest: int = 16
    """The shortest side, in pixels, for which the model is defined."""
    pixels: Callable[[Image], Float[Array, "H W"]] = luma
    revision: int = 1
    """Incremented when the scores change."""

    @property
    def version(self) -> str:
        """What the model's fingerprint is computed from."""
        return f"{self.name}/{self.revision}"

    def score(self, image: Image, reference: Image | None = None) -> float:
        """The score of an image, always finite; a model that needs no reference ignores it.

        Raises:
            BackendError: the model needs a reference and there is none.
            UnfitImageError: the image is too small, differs in size from its reference, or has no structure.
        """
        if min(image.size) < self.shortest:
            raise UnfitImageError(
                f"{_size(image)} pixels are too few for {self.name}: each side needs at least {self.shortest}"
            )
        if not self.needs_reference:
            return self._finite(self.measure(self.pixels(image)))
        if reference is None:
            raise BackendError(f"{self.name} needs a reference image: add a column 'reference' to the pool's manifest")
        if image.size != reference.size:
            raise UnfitImageError(f"{_size(image)} pixels, but the reference has {_size(reference)}")
        return self._finite(self.measure(self.pixels(image), self.pixels(reference)))

    def _finite(self, value: float) -> float:
        if not np.isfinite(value):
            raise UnfitImageError(f"{self.name} is not defined here: the image or its reference has no structure")
        return float(value)


def _size(image: Image) -> str:
    return f"{image.width}×{image.height}"
