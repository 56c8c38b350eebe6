"""ZCA whitening: the linear map after which pixels are uncorrelated, and images still look like themselves.

Each image first loses its own mean and is divided by its own norm (contrast normalisation; a constant image becomes 0).
Then x ↦ V (Λ + ε·m)^(−½) Vᵀ (x − μ), where μ and V Λ Vᵀ are the mean and the covariance of the training images, and m
is the mean of the eigenvalues Λ, so that ε does not depend on the scale of the pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError

EPSILON = 0.1
"""Added to the eigenvalues, in units of their mean, so that directions with little variance are not blown up."""
BATCH = 4096


@dataclass(frozen=True)
class Whitening:
    """What was learnt from training images: mean, directions, and the gain of each direction and of all others."""

    mean: Float[Array, " d"]
    vectors: Float[Array, "d r"]
    gains: Float[Array, " r"]
    rest: float
    """Gain of the directions in which the training images do not vary; 0 if there are none."""
    has_contrast: bool

    @classmethod
    def fit(cls, images: Array, epsilon: float = EPSILON, has_contrast: bool = True) -> Whitening:
        """Learn from images (N×H×W×C), or from a table with a row per item; fewer images than pixels are enough.

        Raises:
            KernelError: there is no variance to learn from, the images are not finite, or epsilon is too small.
        """
        return cls.fit_batches([images], epsilon, has_contrast)

    @classmethod
    def fit_batches(cls, batches: Iterable[Array], epsilon: float = EPSILON, has_contrast: bool = True) -> Whitening:
        """The same from images that come in batches and are never in memory all together.

        Raises:
            KernelError: as `fit`.
        """
        if not 0 <= epsilon < np.inf:
            raise KernelError(f"an epsilon of {epsilon:g} is not a number of at least 0: use {EPSILON}, for example")
        mean, values, vectors = _principal(_flat(batch, has_contrast) for batch in _parts(batches))
        width = len(mean)
        level = epsilon * float(values.sum()) / width
        if level == 0 and len(values) < width:
            raise KernelError(
                f"the images vary in {len(values):,} of {width:,} directions, and an epsilon of 0 needs all of them: "
                f"use {EPSILON}, for example"
            )
        rest = 0.0 if len(values) == width else float(level**-0.5)
        return cls(mean, vectors, (values + level) ** -0.5, rest, has_contrast)

    def apply(self, images: Array) -> Float[Array, ...]:
        """Whitened images, in float64 and in the same shape.

        Raises:
            KernelError: the images have other sides than those it was learnt from, or are not finite.
        """
        flat = _flat(images, self.has_contrast)
        if flat.shape[1] != len(self.mean):
            raise KernelError(
                f"images of {flat.shape[1]:,} values cannot be whitened as those of {len(self.mean):,} values were: "
                "give images of the same sides"
            )
        flat -= self.mean
        inside = (flat @ self.vectors) * (self.gains - self.rest)
        flat *= self.rest
        flat += inside @ self.vectors.T
        return flat.reshape(np.shape(images))

    @property
    def matrix(self) -> Float[Array, "d d"]:
        """The symmetric matrix that centred images are multiplied by."""
        return (self.vectors * (self.gains - self.rest)) @ self.vectors.T + self.rest * np.eye(len(self.mean))

    def state(self) -> dict[str, Any]:
        """Everything as arrays, for a file."""
        return {
            "mean": self.mean,
            "vectors": self.vectors,
            "gains": self.gains,
            "rest": np.float64(self.rest),
            "has_contrast": np.bool_(self.has_contrast),
        }

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Whitening:
        """What `state` wrote.

        Raises:
            ValueError: its arrays do not fit each other, or are not finite.
        """
        mean, vectors, gains = (np.asarray(state[name], np.float64) for name in ("mean", "vectors", "gains"))
        rest = float(state["rest"])
        if mean.ndim != 1 or gains.ndim != 1 or vectors.shape != (len(mean), len(gains)):
            raise ValueError(f"whitening of {len(mean)} values by {vectors.shape} directions")
        if not all(np.isfinite(one).all() for one in (mean, vectors, gains, rest)):
            raise ValueError("whitening with values that are not finite")
        return cls(mean, vectors, gains, rest, bool(state["has_contrast"]))


def _principal(batches: Iterator[Float[Array, "n d"]]) -> tuple[Array, Array, Array]:
    """Mean, and the positive eigenvalues of the covariance with their eigenvectors, by whichever side is shorter."""
    from scipy.linalg import eigh

    head, count, width = [], 0, 1
    for batch in batches:  # as long as there are fewer images than pixels, the images themselves are smaller
        head.append(batch)
        count, width = count + len(batch), batch.shape[1]
        if count >= width:
            break
    if count < 2:
        raise KernelError(
            f"whitening cannot be learnt from {'one sample' if count else 'no images'}: give at least two"
        )
    if count < width:
        images = np.concatenate(head)
        mean = images.mean(axis=0)
        images -= mean
        values, left = eigh(images @ images.T / count, overwrite_a=True)
        kept = _varying(values, width)
        vectors = images.T @ (left[:, kept] / np.sqrt(count * values[kept]))
        return mean, values[kept], vectors
    shift = head[0].mean(axis=0)  # products of values far from 0 would lose the digits in which they vary
    total, products, count = np.zeros(width), np.zeros((width, width)), 0
    for batch in chain(head, batches):
        moved = batch - shift
        total += moved.sum(axis=0)
        products += moved.T @ moved
        count += len(batch)
    mean = total / count
    values, vectors = eigh(products / count - np.outer(mean, mean), overwrite_a=True)
    kept = _varying(values, width)
    return shift + mean, values[kept], vectors[:, kept]


def _varying(values: Float[Array, " k"], size: int) -> Array:
    """Which eigenvalues are above the rounding error of an eigendecomposition of this size."""
    kept = values > values[-1] * size * np.finfo(np.float64).eps
    if values[-1] <= 0 or not kept.any():
        raise KernelError(
            "all images are constant or the same, so that whitening cannot be learnt: give different images"
        )
    return kept


def _parts(batches: Iterable[Array]) -> Iterator[Array]:
    for batch in batches:
        for start in range(0, len(batch), BATCH):
            yield batch[start : start + BATCH]


def _flat(images: Array, has_contrast: bool) -> Float[Array, "n d"]:
    """A row per image in float64, with the contrast normalised if that is asked for."""
    flat = np.array(images, np.float64).reshape(len(images), -1)
    if not np.isfinite(flat).all():
        raise KernelError("some pixels are not finite: give images without NaN and infinity")
    if has_contrast:
        lengths = np.linalg.norm(flat, axis=1, keepdims=True)
        flat -= flat.mean(axis=1, keepdims=True)
        norms = np.linalg.norm(flat, axis=1, keepdims=True)
        flat /= np.where(norms > 1e-12 * lengths, norms, np.inf)  # a constant image has only rounding errors left
    return flat
