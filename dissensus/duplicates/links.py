"""Which points belong together, without listing all pairs: 100,000 equal points are one group, not 5 billion pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from dissensus.arrays import Array, Int


@dataclass(frozen=True)
class Links:
    """Groups of points: each point that is not the first of its group, in ascending order, and the first one.

    The same groups always have the same links, so that it does not matter in which order they are found and joined.
    """

    point: Int[Array, " p"]
    first: Int[Array, " p"]

    def __len__(self) -> int:
        return len(self.point)

    def groups(self, count: int) -> Int[Array, " n"]:
        """For each of so many points, the first point of its group: itself if it is alone."""
        found = np.arange(count)
        found[self.point] = self.first
        return found


NONE = Links(np.zeros(0, np.int64), np.zeros(0, np.int64))
"""Every point is alone."""


def linked(one: Int[Array, " p"], other: Int[Array, " p"]) -> Links:
    """The groups that pairs of points form: whatever a chain of pairs connects belongs together."""
    points, places = np.unique(np.concatenate([one, other]), return_inverse=True)
    if not len(points):
        return NONE
    ends = places.reshape(2, -1)
    graph = coo_array((np.ones(len(one), np.int8), (ends[0], ends[1])), shape=(len(points), len(points)))
    group = connected_components(graph, directed=False)[1]
    first = points[np.unique(group, return_index=True)[1]][group]
    is_later = points != first
    return Links(points[is_later].astype(np.int64), first[is_later].astype(np.int64))


def joined(some: Links, others: Links) -> Links:
    """The groups that both form together."""
    return linked(np.concatenate([some.point, others.point]), np.concatenate([some.first, others.first]))


def alone(count: int) -> Int[Array, " n"]:
    """The parent of every point while links are being found: itself."""
    return np.arange(count, dtype=np.int32 if count < 2**31 else np.int64)


def links_of(parent: Int[Array, " n"]) -> Links:
    """The groups of a forest."""
    children = np.flatnonzero(parent != np.arange(len(parent)))
    return linked(children, parent[children])


@numba.njit(cache=True, nogil=True)
def root(parent, point):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """The root of a point's tree; the path to it is halved on the way."""
    while parent[point] != point:
        parent[point] = parent[parent[point]]
        point = parent[point]
    return point


@numba.njit(cache=True, nogil=True)
def link(parent, one, other):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Put two points into one tree, whose root is the smaller of their roots."""
    first, second = root(parent, one), root(parent, other)
    parent[max(first, second)] = min(first, second)


@numba.njit(cache=True, nogil=True)
def link_all(parent, some, others):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Link many pairs."""
    for number in range(len(some)):
        link(parent, some[number], others[number])
