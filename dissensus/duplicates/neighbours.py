"""Exact nearest neighbours by Euclidean distance.

A projection to a few dimensions gives a lower bound of every distance, by one matrix product for many pairs. Only pairs
whose bound is not above what is already known are measured. Nothing is left to chance: docs/methods/near-duplicates.md
proves that no neighbour is missed, rounding included.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.duplicates.embedding import STRETCH, TINY, Embedding, checked, embedded, scale_of
from dissensus.duplicates.neighbours_kernel import close_pairs, enter, first_limits
from dissensus.processors import cores, one_thread_per_product

TILE = 2048
"""Queries, and points, whose bounds are computed at a time: what is known about them stays in the cache."""
STRIP = 256
"""Queries whose bounds one core computes and looks at before it goes on."""


def nearest(
    queries: Float[Array, "n d"], among: Float[Array, "m d"], k: int, is_same: bool = False
) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
    """The k nearest of `among` to every query, nearest first, and their distances; ties go by position.

    `is_same` says that both are the same points, and leaves out the query itself. If there are fewer than k points, all
    are returned. Distances are computed from differences in float64.

    Raises:
        DuplicatesError: points have different dimensions, or a value is not finite.
    """
    queries, among = checked(queries, among, is_same)
    k = min(k, len(among) - is_same)
    if k <= 0 or not len(queries):
        return np.zeros((len(queries), max(k, 0)), np.int64), np.zeros((len(queries), max(k, 0)))
    scale = scale_of(queries, among)
    if not 1e-100 < scale < 1e100:  # squares would not fit into float64
        queries, among = (np.ldexp(np.asarray(one, float), -int(np.log2(scale))) for one in (queries, among))
        index, distance = nearest(queries, queries if is_same else among, k, is_same)
        return index, distance * scale
    with one_thread_per_product():  # our threads divide tiles instead
        asked, points = embedded(queries, among, scale, lambda all: np.partition(all, k - 1, axis=1)[:, k - 1], is_same)
        heaps, positions = _Search(asked, points, k, scale, is_same).run()
    best = np.lexsort((positions, heaps), axis=1)
    index, distance = np.empty_like(positions), np.empty_like(heaps)
    index[asked.order] = np.take_along_axis(positions, best, axis=1)
    distance[asked.order] = np.sqrt(np.take_along_axis(heaps, best, axis=1))
    return index, distance


class _Search:
    """The heaps of all queries, and what is known about their k-th distances while tiles are searched.

    The first entry of a heap is the squared distance of a query's worst point so far, and `bound` is the largest lower
    bound that a better one may have, in units of `scale`.
    """

    def __init__(self, asked: Embedding, points: Embedding, k: int, scale: float, is_same: bool) -> None:
        self.asked, self.points, self.is_same, self.scale = asked, points, is_same, scale
        self.cores = cores()
        self.heaps = np.empty((len(asked), k))
        self.positions = np.full((len(asked), k), len(points), np.int64)
        self.bound = np.empty(len(asked), np.float32)
        most = -(-TILE // self.cores) * TILE
        self.pairs = [(np.empty(most, np.int32), np.empty(most, np.int32), np.empty(most)) for _ in range(self.cores)]

    def run(self) -> tuple[Float[Array, "n k"], Int[Array, "n k"]]:
        with ThreadPoolExecutor(self.cores) as self.threads:
            for start in range(0, len(self.asked), TILE):
                self.begin(slice(start, min(start + TILE, len(self.asked))))
            for start in range(0, len(self.asked), TILE):
                rows = slice(start, min(start + TILE, len(self.asked)))
                for first in range(start if self.is_same else 0, len(self.points), TILE):
                    self.search(rows, slice(first, min(first + TILE, len(self.points))))
        return self.heaps, self.positions

    def begin(self, rows: slice) -> None:
        """Limits from points that are probably near: those of the same cells."""
        width = min(len(self.points), max(TILE, self.heaps.shape[1] + 1))
        home = int(np.searchsorted(self.points.cell, self.asked.cell[(rows.start + rows.stop) // 2]))
        first = min(rows.start if self.is_same else home, len(self.points) - width)
        columns = slice(first, first + width)
        limits = np.empty(rows.stop - rows.start)
        self.together(
            lambda part, _: first_limits(
                self.bounds(rows, part, columns), self.asked.points[rows][part], self.points.points[columns],
                rows.start - first + part.start if self.is_same else -TILE, self.heaps.shape[1], limits[part]
            ),
            len(limits),
        )  # fmt: skip
        self.heaps[rows] = limits[:, None]
        self.renew_bounds(rows)

    def search(self, rows: slice, columns: slice) -> None:
        """Enter all pairs of a tile that may be neighbours; if the points are the same, for both sides."""
        width = columns.stop - columns.start
        is_diagonal = self.is_same and rows.start == columns.start
        if self.is_same:
            others = self.bound[columns], np.ascontiguousarray(self.heaps[columns, 0])
        else:
            others = np.full(width, -np.inf, np.float32), np.full(width, -np.inf)
        limits = np.ascontiguousarray(self.heaps[rows, 0])
        found = self.together(
            lambda part, core: self.pairs_of(rows, part, columns, limits, others, is_diagonal, core), len(limits)
        )
        sides = [lambda: self.enter(found, rows, columns, False)]
        if self.is_same:
            sides.append(lambda: self.enter(found, columns, rows, True))
        if is_diagonal:
            for side in sides:
                side()
        else:
            for done in [self.threads.submit(side) for side in sides]:
                done.result()
        self.renew_bounds(rows)
        if self.is_same:
            self.renew_bounds(columns)

    def bounds(self, rows: slice, part: slice, columns: slice) -> Float[Array, "h w"]:
        return np.matmul(self.asked.left[rows][part], self.points.right[columns].T)

    def pairs_of(self, rows: slice, part: slice, columns: slice, limits: Array, others: tuple[Array, Array],
                 is_diagonal: bool, core: int) -> tuple[Array, Array, Array]:  # fmt: skip
        pairs, count = self.pairs[core], 0
        for start in range(part.start, part.stop, STRIP):
            strip = slice(start, min(start + STRIP, part.stop))
            found = close_pairs(
                self.bounds(rows, strip, columns), self.asked.points[rows][strip], self.points.points[columns],
                self.bound[rows][strip], others[0], limits[strip], others[1], start if is_diagonal else -2 * TILE,
                *(column[count:] for column in pairs)
            )  # fmt: skip
            pairs[0][count : count + found] += np.int32(start)
            count += found
        return pairs[0][:count], pairs[1][:count], pairs[2][:count]

    def enter(self, found: list[tuple[Array, Array, Array]], rows: slice, columns: slice, is_turned: bool) -> None:
        names = (self.asked if is_turned else self.points).order[columns]
        for one, other, distance in found:
            who, whom = (other, one) if is_turned else (one, other)
            enter(self.heaps[rows], self.positions[rows], who, whom, names, distance)

    def renew_bounds(self, rows: slice) -> None:
        self.bound[rows] = (self.heaps[rows, 0] * ((1 + 2 * STRETCH) / self.scale**2)).astype(np.float32) + TINY

    def together(self, work: Callable[[slice, int], Any], count: int) -> list[Any]:
        """Divide rows among the cores, which are numbered."""
        ends = [count * core // self.cores for core in range(self.cores + 1)]
        parts = [slice(start, stop) for start, stop in pairwise(ends) if start < stop]
        return [done.result() for done in [self.threads.submit(work, part, core) for core, part in enumerate(parts)]]
