"""The usual size of objects of a class: the quartiles of its share of the pixels (section 3.1.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import PredictionError

BINS = 10_000
"""Number of equal bins in a histogram of shares."""
EDGES = np.arange(BINS + 1) / BINS

QUARTILES = (0.25, 0.75)


@dataclass(frozen=True)
class ScaleRanges:
    """The range of pixel shares in which a class counts as neither tiny nor huge, ends included.

    `is_known` is False if nothing is known about a class; its ends are then 0 and 1, which exclude nothing.
    """

    ends: Float[Array, "C 2"]
    is_known: Bool[Array, " C"]


@dataclass(frozen=True)
class ShareCounts:
    """A histogram of each class's share of the pixels over maps.

    Bin b counts shares above b / BINS, up to and including (b + 1) / BINS. Maps without the class are not counted.
    """

    counts: Int[Array, "C BINS"]

    @classmethod
    def of(cls, share: Float[Array, "*n C"]) -> Self:
        """The counts for these maps, each a row of shares.

        Raises:
            PredictionError: a share is not within 0..1.
        """
        rows = _checked(share)
        counts = np.zeros((rows.shape[1], BINS), np.int64)
        row, label = np.nonzero(rows)
        place = np.searchsorted(EDGES, rows[row, label]) - 1  # exact, while share · BINS may be rounded across an edge
        np.add.at(counts, (label, place), 1)
        return cls(counts)

    def merged(self, other: Self) -> Self:
        return type(self)(self.counts + other.counts)

    def quartiles(self) -> ScaleRanges:
        """Like `quartiles` of the same maps, but wider by less than a bin at either end.

        Never narrower: for a class in only one map, or always of the same size, the range must contain that share.
        """
        total = self.counts.sum(axis=1)
        ends = np.tile([0.0, 1.0], (len(total), 1))
        for label in np.flatnonzero(total).tolist():
            # the order statistics on either side of the quartile, each as the outer edge of its bin
            place = np.array(QUARTILES) * (total[label] - 1)
            below = np.floor(place).astype(np.int64)
            above = np.minimum(below + 1, total[label] - 1)
            low, high = (np.searchsorted(self.counts[label].cumsum(), at, side="right") for at in (below, above))
            outer = np.array([0, 1])
            before, after = EDGES[low + outer], EDGES[high + outer]
            ends[label] = before + (place - below) * (after - before)
        return ScaleRanges(ends, total > 0)


def quartiles(share: Float[Array, "*n C"]) -> ScaleRanges:
    """First and third quartile of each class's share of the pixels, over the maps that contain it.

    Interpolates linearly between order statistics. A class in no map has no range: `is_known` is False.

    Raises:
        PredictionError: a share is not within 0..1.
    """
    rows = _checked(share)
    ends = np.tile([0.0, 1.0], (rows.shape[1], 1))
    is_known = np.any(rows > 0, axis=0)
    for label in np.flatnonzero(is_known).tolist():
        column = rows[:, label]
        ends[label] = np.quantile(column[column > 0], QUARTILES)
    return ScaleRanges(ends, is_known)


def _checked(share: Float[Array, "*n C"]) -> Float[Array, "n C"]:
    rows = share.reshape(-1, share.shape[-1])
    if not ((rows >= 0) & (rows <= 1)).all():
        raise PredictionError("a share of a map's pixels is outside 0..1: divide by the number of pixels in the map")
    return rows
