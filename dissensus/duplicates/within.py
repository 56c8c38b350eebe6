"""All pairs of points within a radius, by Euclidean distance; exact, like the search for nearest neighbours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.duplicates.embedding import STRETCH, TINY, checked, embedded, scale_of
from dissensus.duplicates.links import Links, alone, link_all, links_of
from dissensus.duplicates.neighbours_kernel import close_pairs
from dissensus.errors import DuplicatesError
from dissensus.processors import one_thread_per_product

TILE = 2048
"""Points whose bounds are compared with those of a strip at a time."""
STRIP = 256
"""Points whose bounds are computed at a time."""
FARTHEST = 1e150
"""More than any distance of points that were divided; its square fits into float64."""

Take = Callable[[Array, Array, Array], object]
"""What is done with pairs that are found: two arrays of positions, and their squared distances."""


def within(points: Float[Array, "n d"], radius: float) -> tuple[Int[Array, "p 2"], Float[Array, " p"]]:
    """All pairs of points that are no farther apart than the radius, in ascending order, and their distances.

    Each pair is two positions, the smaller one first. Distances are computed from differences in float64.

    Raises:
        DuplicatesError: a value is not finite, or the radius is negative or not finite.
    """
    search = Within(points, radius)
    pairs, squares = [np.zeros((0, 2), np.int64)], [np.zeros(0)]

    def take(one: Array, other: Array, squared: Array) -> None:
        pairs.append(np.sort(np.stack([one, other], axis=1), axis=1))
        squares.append(squared)

    search.run(range(len(search)), take)
    every, away = np.concatenate(pairs), np.sqrt(np.concatenate(squares)) * search.unit
    order = np.lexsort((every[:, 1], every[:, 0]))
    return every[order], away[order]


def exact(points: Float[Array, "n d"], radius: float) -> Links:
    """Groups of points that pairs within the radius connect; takes no memory for the pairs.

    Raises:
        DuplicatesError: a value is not finite, or the radius is negative or not finite.
    """
    search = Within(points, radius)
    return search.links(range(len(search)))


class Within:
    """A search for all pairs of points within a radius, which can be divided by rows.

    Rows are points in the order of the search, in which points that are close to each other stand side by side.
    """

    def __init__(self, points: Float[Array, "n d"], radius: float) -> None:
        if not 0 <= radius < np.inf:
            raise DuplicatesError(f"a radius of {radius} is not a distance: give a number from 0 on")
        self.given = points, radius
        known = checked(points, points, is_same=True)[0]
        scale = scale_of(known, known)
        self.unit = 1.0
        """What distances are divided by, where their squares would not fit into float64."""
        if not 1e-100 < scale < 1e100:
            known, self.unit, scale = np.ldexp(np.asarray(known, float), -int(np.log2(scale))), scale, 1.0
        self.radius = radius / self.unit
        reach = min(self.radius, FARTHEST)
        self.limit = reach**2 * (1 + 1e-15)  # the square of a distance's root may be less than the distance
        self.bound = np.float32(min(self.limit / scale**2 * (1 + 2 * STRETCH), 1e38)) + TINY
        self.count = len(known)
        if self.count > 1:
            with one_thread_per_product():
                self.points = embedded(known, known, scale, lambda all: np.full(len(all), self.bound), is_same=True)[0]

    def __len__(self) -> int:
        return self.count

    def __reduce__(self) -> tuple[type[Self], tuple[Array, float]]:
        """To be sent to a worker, which makes its own index: that is several times as large as the points."""
        return type(self), self.given

    def links(self, rows: range) -> Links:
        """Groups that pairs of these rows with themselves and with later rows form."""
        parent = alone(self.count)
        self.run(rows, lambda one, other, _: link_all(parent, one, other))
        return links_of(parent)

    def run(self, rows: range, take: Take) -> None:
        """Find the pairs of these rows with themselves and with later ones."""
        if self.count < 2:
            return
        most = STRIP * TILE
        room = np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)
        for first in range(rows.start, rows.stop, STRIP):
            strip = range(first, min(first + STRIP, rows.stop))
            for start in range(first, self.count, TILE):
                one, other, squared = self._pairs(strip, slice(start, start + TILE), room)
                if len(one):
                    take(one, other, squared)

    def _pairs(self, strip: range, columns: slice, found: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        """Positions and squared distances of the pairs of some rows and columns."""
        points, rows = self.points, slice(strip.start, strip.stop)
        among = points.points[columns]
        bounds = np.matmul(points.left[rows], points.right[columns].T)
        enough, limits = np.full(len(strip), self.bound, np.float32), np.full(len(strip), self.limit)
        never = np.full(len(among), -np.inf)
        own = 0 if columns.start == strip.start else -2 * TILE
        count = close_pairs(
            bounds, points.points[rows], among, enough, never.astype(np.float32), limits, never, own, *found
        )
        is_close = np.sqrt(found[2][:count]) <= self.radius
        one, other, squared = (column[:count][is_close] for column in found)
        return points.order[rows][one], points.order[columns][other], squared
