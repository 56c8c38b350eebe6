"""Pairs of images that may show the same picture, for a person to look at (shift, section 2.8.1.1).

A pair is listed if one of the images is among the nearest neighbours of the other by ℓ₂ on pixels, ℓ₂ on features or
SSIM, and if they are alike enough by that metric.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.duplicates.neighbours import nearest
from dissensus.duplicates.similarity import ssim_pairs
from dissensus.errors import DuplicatesError

NEIGHBOURS = 30
WIDER = 10
"""How many times as many neighbours by pixels and features are compared by SSIM, if there are too many pairs."""
MOST_COMPARED = 5_000_000
"""Pairs that SSIM compares without such a choice; about a minute on two cores."""
AT_ONCE = 1_000_000
MEDIAN_SHARE = 0.51
"""The default threshold of features, divided by the median distance between two photos."""


@dataclass(frozen=True)
class Thresholds:
    """How alike two images have to be for a person to look at them; one of the three is enough.

    `pixels` is the root of the mean squared difference of thumbnails (0 to 255), `features` an ℓ₂ distance: pairs up to
    these are listed. Pairs with a structural similarity of `ssim` or more are listed, too.
    """

    pixels: float = 25.0
    features: float = 0.55
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


def usual_limit(features: Float[Array, "n d"]) -> float:
    """A threshold for features of a network: the share of the median distance that the default is of our features'."""
    some = features[np.linspace(0, len(features) - 1, min(len(features), 1000)).astype(int)]
    pairs = np.stack(np.triu_indices(len(some), 1), axis=1)
    return MEDIAN_SHARE * float(np.median(_distances(some, pairs))) if len(pairs) else 0.0


def candidate_pairs(
    thumbnails: UInt8[Array, "n s s 3"],
    features: Float[Array, "n d"],
    greys: UInt8[Array, "n h w"],
    is_original: Bool[Array, " n"] | None = None,
    thresholds: Thresholds | None = None,
    k: int = NEIGHBOURS,
) -> Pairs:
    """Pairs that may be near-duplicates: each once, most alike first.

    A pair is listed if one of the two is a candidate, the other is among its k nearest candidates or its k nearest
    originals by one of the metrics, and the pair is within the threshold of that metric. Pairs of two originals are
    left out. How alike a pair is, is the least of its three distances (`pixels`, `features`, 1 − `ssim`), each as a
    share of its threshold.

    SSIM compares all pairs; if these are more than `MOST_COMPARED`, then only those that are among the `WIDER` · k
    nearest by pixels or features.

    Raises:
        DuplicatesError: there are not as many thumbnails as features and grey images, or features are not finite.
    """
    limits = thresholds or Thresholds()
    count = len(thumbnails)
    original = np.zeros(count, bool) if is_original is None else np.asarray(is_original, bool)
    if not count == len(features) == len(greys) == len(original):
        raise DuplicatesError(
            f"there are {count:,} thumbnails, {len(features):,} features, {len(greys):,} grey images and "
            f"{len(original):,} marks of originals: every image needs one of each"
        )
    size = int(np.prod(thumbnails.shape[1:]))
    pixels = thumbnails.reshape(count, size).astype(np.float32) / np.float32(np.sqrt(size))
    pairs = np.concatenate([
        _near(pixels, original, k, limits.pixels),
        _near(features, original, k, limits.features),
        _alike(greys, pixels, features, original, k, limits.ssim),
    ])  # fmt: skip
    pairs = np.unique(pairs, axis=0)
    values = [_distances(pixels, pairs), _distances(features, pairs), ssim_pairs(greys, pairs)]
    shares = np.minimum(_share(values[0], limits.pixels), _share(values[1], limits.features))
    shares = np.minimum(shares, _share(1 - values[2], 1 - limits.ssim))
    order = np.lexsort((pairs[:, 1], pairs[:, 0], shares))
    return Pairs(pairs[order, 0], pairs[order, 1], *(one[order] for one in values))


def _near(points: Float[Array, "n d"], original: Bool[Array, " n"], k: int, limit: float) -> Int[Array, "p 2"]:
    """Candidates with their k nearest candidates and their k nearest originals, within a distance."""
    ours, theirs = np.flatnonzero(~original), np.flatnonzero(original)
    found = []
    for others in (ours, theirs):
        index, distance = nearest(points[ours], points[others], k, is_same=others is ours)
        row, column = np.nonzero(distance <= limit)
        found.append(np.stack([ours[row], others[index[row, column]]], axis=1))
    return np.sort(np.concatenate(found), axis=1)


def _alike(
    greys: UInt8[Array, "n h w"], pixels: Array, features: Array, original: Bool[Array, " n"], k: int, limit: float
) -> Int[Array, "p 2"]:
    """Candidates with their k most similar candidates and originals, of a similarity of at least `limit`."""
    ours, theirs = (~original).sum(), original.sum()
    if ours * (ours - 1) // 2 + ours * theirs <= MOST_COMPARED:
        chunks = _every_pair(original)
    else:
        wide = [_near(points, original, WIDER * k, np.inf) for points in (pixels, features)]
        chunks = iter([np.unique(np.concatenate(wide), axis=0)])
    pairs, values = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for chunk in chunks:
        alike = ssim_pairs(greys, chunk)
        pairs.append(chunk[alike >= limit])
        values.append(alike[alike >= limit])
    every, away = np.concatenate(pairs), -np.concatenate(values)
    one, other = np.concatenate([every, every[:, ::-1]]).T
    is_near = np.zeros(2 * len(every), bool)
    for kind in (False, True):  # candidates do not crowd out originals, nor the other way round
        rows = np.flatnonzero(~original[one] & (original[other] == kind))
        is_near[rows[_rank(one[rows], np.tile(away, 2)[rows], other[rows]) < k]] = True
    return every[is_near[: len(every)] | is_near[len(every) :]]


def _every_pair(original: Bool[Array, " n"]) -> Iterator[Int[Array, "p 2"]]:
    """All pairs but those of two originals, about `AT_ONCE` at a time."""
    count = len(original)
    rows = max(1, AT_ONCE // max(1, count))
    for start in range(0, count, rows):
        first = np.arange(start, min(start + rows, count))
        left, right = np.nonzero(first[:, None] < np.arange(count))
        pairs = np.stack([first[left], right], axis=1)
        yield pairs[~original[pairs].all(axis=1)]


def _rank(group: Int[Array, " p"], distance: Float[Array, " p"], tie: Int[Array, " p"]) -> Int[Array, " p"]:
    """The place of each row within its group, nearest first."""
    order = np.lexsort((tie, distance, group))
    ordered = group[order]
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.searchsorted(ordered, ordered)
    return rank


def _distances(points: Float[Array, "n d"], pairs: Int[Array, "p 2"]) -> Float[Array, " p"]:
    found = [np.zeros(0)]
    for part in np.array_split(pairs, len(pairs) // 1000 + 1):  # the differences of all pairs would take gigabytes
        away = points[part[:, 0]].astype(float) - points[part[:, 1]]
        found.append(np.sqrt(np.einsum("ij,ij->i", away, away)))
    return np.concatenate(found)


def _share(distance: Float[Array, " p"], limit: float) -> Float[Array, " p"]:
    """The distance as a share of the limit; with a limit of zero, only equal images are alike."""
    if limit > 0:
        return distance / limit
    return np.where(distance > 0, np.inf, 0.0)
