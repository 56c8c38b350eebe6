"""Accuracy by selection frequency, and the drop if the new set had the original's frequencies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import TransferError
from dissensus.proportions import LEVEL, normal_quantile

EDGES = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""The thesis' five bins; each includes its lower end, the last one both."""


@dataclass(frozen=True)
class Strata:
    """Items and right answers of every model in each bin, on both sets."""

    edges: tuple[float, ...]
    counts: Int[Array, " b"]
    new_counts: Int[Array, " b"]
    right: Int[Array, "M b"]
    new_right: Int[Array, "M b"]


@dataclass(frozen=True)
class Matched:
    """Every model's drop with the original's frequencies, what the frequencies explain, and intervals of both."""

    drop: Float[Array, " M"]
    matched: Float[Array, " M"]
    matched_half: Float[Array, " M"]
    explained: Float[Array, " M"]
    explained_half: Float[Array, " M"]


def bins_of(frequency: Float[Array, " n"], edges: tuple[float, ...] = EDGES) -> Int[Array, " n"]:
    """The bin of every selection frequency.

    Raises:
        TransferError: a frequency is missing or not between the first and the last edge.
    """
    frequency = np.asarray(frequency, np.float64)
    if not ((frequency >= edges[0]) & (frequency <= edges[-1])).all():
        raise TransferError(f"selection frequencies must lie between {edges[0]:g} and {edges[-1]:g}")
    return np.clip(np.searchsorted(edges, frequency, side="right") - 1, 0, len(edges) - 2)


def strata(
    right: Bool[Array, "M n"], frequency: Float[Array, " n"], new_right: Bool[Array, "M k"],
    new_frequency: Float[Array, " k"], edges: tuple[float, ...] = EDGES,
) -> Strata:  # fmt: skip
    """Counts by bin on both sets."""
    sides = []
    for answers, given in ((right, frequency), (new_right, new_frequency)):
        places = bins_of(given, edges)
        counts = np.bincount(places, minlength=len(edges) - 1)
        hits = np.stack([np.bincount(places, row, len(edges) - 1) for row in answers]).astype(np.int64)
        sides.append((counts, hits))
    return Strata(edges, sides[0][0], sides[1][0], sides[0][1], sides[1][1])


def matched(found: Strata, level: float = LEVEL) -> Matched:
    """Drops to a new set with the original's shares of bins (post-stratification).

    Intervals are normal, given how many items are in each bin. What the frequencies explain is the difference of two
    weighted means over the same new items, so that its variance comes from the difference of their weights.

    Raises:
        TransferError: items of the original set lie in a bin in which the new set has none.
    """
    needed = found.counts > 0
    empty = np.flatnonzero(needed & (found.new_counts == 0))
    if len(empty):
        low, high = found.edges[empty[0]], found.edges[empty[0] + 1]
        raise TransferError(
            f"the new set has no item with a selection frequency from {low:g} to {high:g}, the original has "
            f"{found.counts[empty[0]]:,}: its frequencies cannot be matched"
        )
    shares, new_shares = found.counts / found.counts.sum(), found.new_counts / found.new_counts.sum()
    many = np.maximum(found.new_counts, 1)
    accuracy = found.new_right / many
    original = found.right.sum(axis=1) / found.counts.sum()
    drop, to_matched = original - accuracy @ new_shares, original - accuracy @ shares
    # with one success and one failure more, a bin in which all are right does not count as certain
    smooth = (found.new_right + 1) / (found.new_counts + 2)
    variance = smooth * (1 - smooth) / many
    own = original * (1 - original) / found.counts.sum()
    far = normal_quantile(level)
    return Matched(
        drop,
        to_matched,
        far * np.sqrt(own + variance @ shares**2),
        drop - to_matched,
        far * np.sqrt(variance @ (shares - new_shares) ** 2),
    )
