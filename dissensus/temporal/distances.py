"""How far the pixels of neighbouring frames are apart (ℓ∞), for all pairs and for those that models get wrong."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from dissensus.arrays import Array, Bool, Float, UInt8
from dissensus.errors import TemporalError
from dissensus.temporal.anchors import Anchors

LEVELS = 256
"""Distances between 8-bit pictures are 0 … 255."""


def largest_difference(first: UInt8[Array, ...], second: UInt8[Array, ...]) -> int:
    """The largest difference of any channel of any pixel of two pictures (ℓ∞ distance), 0 to 255.

    Raises:
        TemporalError: the pictures differ in size.
    """
    if first.shape != second.shape:
        raise TemporalError(f"frames of one video differ in size: {first.shape} and {second.shape}")
    if not first.size:
        return 0
    return int((np.maximum(first, second) - np.minimum(first, second)).max())


def distance_groups(
    everything: Anchors, right: Bool[Array, "M F"], models: Mapping[str, int]
) -> dict[str, Float[Array, " n"]]:
    """The known distances of neighbours from their anchors: of all pairs, of reviewed ones, and where models err.

    A model's mistakes are reviewed pairs of which it gets the anchor right and the neighbour wrong.
    """
    if everything.distance is None:
        return {}
    is_pair = (everything.offset != 0) & (everything.distance >= 0)
    reviewed = is_pair & everything.is_similar & everything.is_accepted[everything.anchor]
    groups = {"all pairs": is_pair, "reviewed pairs": reviewed} if everything.is_reviewed else {"all pairs": is_pair}
    at_home = right[:, everything.home][:, everything.anchor]
    groups |= {f"mistakes of {name}": reviewed & at_home[place] & ~right[place] for name, place in models.items()}
    return {name: everything.distance[rows] for name, rows in groups.items() if rows.any()}


def distribution(distances: Float[Array, " n"]) -> Float[Array, " 256"]:
    """The share of pairs whose distance is at most 0, 1, … 255."""
    counts = np.bincount(np.ceil(distances).astype(np.int64), minlength=LEVELS)[:LEVELS]
    return np.cumsum(counts) / len(distances)
