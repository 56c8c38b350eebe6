"""Pairs of images that may show the same picture, for a person to look at (shift, section 2.8.1.1).

A pair is listed if one of the images is among the nearest neighbours of the other by ℓ₂ on pixels, ℓ₂ on features or
SSIM, and if they are alike enough by that metric.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.duplicates.neighbours import nearest
from dissensus.duplicates.similarity import ssim_pairs

NEIGHBOURS = 30


@dataclass(frozen=True)
class Thresholds:
    """How alike two images have to be for a person to look at them; one of the three is enough.

    `pixels` is the root of the mean squared difference of thumbnails (0 to 255), `features` an ℓ₂ distance: pairs up to
    these are listed. Pairs with a structural similarity of `ssim` or more are listed, too.
    """

    pixels: float = 25.0
    features: float = 0.5
    ssim: float = 0.4


@dataclass(frozen=True)
class Pairs:
    """Pairs of images, most alike first: two positions, the first one smaller, and what the metrics say about them."""

    first: Int[Array, " p"]
    second: Int[Array, " p"]
    pixels: Float[Array, " p"]
    features: Float[Array, " p"]
    ssim: Float[Array, " p"]

    def __len__(self) -> int:
        return len(self.first)


def candidate_pairs(
    thumbnails: UInt8[Array, "n s s 3"],
    features: Float[Array, "n d"],
    greys: UInt8[Array, "n h w"],
    is_original: Bool[Array, " n"] | None = None,
    thresholds: Thresholds | None = None,
    k: int = NEIGHBOURS,
) -> Pairs:
    """Pairs that may be near-duplicates: each once, most alike first.

    Pairs of two originals are left out. How alike a pair is, is the least of its three distances (`pixels`, `features`,
    1 − `ssim`), each as a share of its threshold.
    """
    limits = thresholds or Thresholds()
    count = len(thumbnails)
    original = np.zeros(count, bool) if is_original is None else np.asarray(is_original, bool)
    pixels = thumbnails.reshape(count, -1).astype(np.float32)
    near = [_near(pixels, k), _near(features, k), _near_by_ssim(greys, k)]
    pairs = np.unique(np.concatenate(near), axis=0)
    pairs = pairs[~original[pairs].all(axis=1)]
    found = Pairs(
        pairs[:, 0],
        pairs[:, 1],
        _distances(pixels, pairs) / np.sqrt(max(1, pixels.shape[1])),
        _distances(features, pairs),
        ssim_pairs(greys, pairs),
    )
    shares = np.stack(
        [_share(found.pixels, limits.pixels), _share(found.features, limits.features),
         _share(1 - found.ssim, 1 - limits.ssim)]
    ).min(axis=0)  # fmt: skip
    order = np.lexsort((found.second, found.first, shares))
    order = order[shares[order] <= 1]
    return Pairs(*(getattr(found, name)[order] for name in ("first", "second", "pixels", "features", "ssim")))


def _near(points: Float[Array, "n d"], k: int) -> Int[Array, "p 2"]:
    index, _ = nearest(points, points, k, is_same=True)
    return _pairs(index)


def _near_by_ssim(greys: UInt8[Array, "n h w"], k: int) -> Int[Array, "p 2"]:
    every = np.stack(np.triu_indices(len(greys), 1), axis=1)
    alike = np.full((len(greys), len(greys)), -np.inf)
    alike[every[:, 0], every[:, 1]] = alike[every[:, 1], every[:, 0]] = ssim_pairs(greys, every)
    return _pairs(np.argsort(-alike, axis=1, kind="stable")[:, : max(0, min(k, len(greys) - 1))])


def _pairs(index: Int[Array, "n k"]) -> Int[Array, "p 2"]:
    left = np.repeat(np.arange(len(index)), index.shape[1])
    return np.sort(np.stack([left, index.ravel()], axis=1), axis=1)


def _distances(points: Float[Array, "n d"], pairs: Int[Array, "p 2"]) -> Float[Array, " p"]:
    return np.array([np.linalg.norm(points[a].astype(float) - points[b].astype(float)) for a, b in pairs.tolist()])


def _share(distance: Float[Array, " p"], limit: float) -> Float[Array, " p"]:
    """The distance as a share of the limit; a limit of zero admits equal images only."""
    if limit > 0:
        return distance / limit
    return np.where(distance > 0, np.inf, 0.0)
