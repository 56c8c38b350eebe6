"""Exact nearest neighbours by Euclidean distance.

A projection to a few dimensions gives a lower bound of every distance, by one matrix product for many pairs. Only pairs
whose bound is not above what is already known are measured. Nothing is left to chance: docs/methods/near-duplicates.md
proves that no neighbour is missed, rounding included.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from dissensus.arrays import Array, Float, Int
from dissensus.duplicates.neighbours_kernel import close_pairs, enter, first_limits
from dissensus.errors import DuplicatesError

TILE = 2048
"""Queries, and points, whose bounds are computed at a time: what is known about them stays in the cache."""
STRIP = 256
"""Queries whose bounds one core computes and looks at before it goes on."""
WIDTHS = (32, 64, 128, 256)
"""Dimensions that a projection may have."""
SAMPLE = 2048
"""Points by which the projection is chosen."""
ASKED = 128
"""Queries by which its width is chosen."""
FEW = 20_000_000
"""Pairs for which no projection is worth the effort."""
MEASURING = 12
"""Time to measure one pair, in multiples of the time for its part of a matrix product of as many dimensions."""
STRETCH = 2.0**-16
"""The share by which bounds of known distances are raised; η in the proof."""
SKEW = 2.0**-40
"""The largest norm of BᵀB − 1 for directions B that count as orthonormal; float64 does a hundred times better."""
TINY = np.float32(1e-37)
"""More than all products that are too small for float32 can amount to."""


@dataclass(frozen=True)
class Embedding:
    """Points as float32, such that their products are lower bounds of squared distances.

    `left` @ `right`.T is the bound of every pair. `order` puts points that are close to each other side by side, and
    `cell` says near which landmark each of them lies; both, and all rows, are in that order.
    """

    points: Float[Array, "n d"]
    left: Float[Array, "n w"]
    right: Float[Array, "n w"]
    order: Int[Array, " n"]
    cell: Int[Array, " n"]

    def __len__(self) -> int:
        return len(self.order)


def nearest(
    queries: Float[Array, "n d"], among: Float[Array, "m d"], k: int, is_same: bool = False
) -> tuple[Int[Array, "n k"], Float[Array, "n k"]]:
    """The k nearest of `among` to every query, nearest first, and their distances; ties go by position.

    `is_same` says that both are the same points, and leaves out the query itself. If there are fewer than k points, all
    are returned. Distances are computed from differences in float64.

    Raises:
        DuplicatesError: points have different dimensions, or a value is not finite.
    """
    queries, among = _checked(queries, among, is_same)
    k = min(k, len(among) - is_same)
    if k <= 0 or not len(queries):
        return np.zeros((len(queries), max(k, 0)), np.int64), np.zeros((len(queries), max(k, 0)))
    scale = _scale(queries, among)
    if not 1e-100 < scale < 1e100:  # squares would not fit into float64
        queries, among = (np.ldexp(np.asarray(one, float), -int(np.log2(scale))) for one in (queries, among))
        index, distance = nearest(queries, queries if is_same else among, k, is_same)
        return index, distance * scale
    with threadpool_limits(1, "blas"):  # its threads wait for each other in a loop; ours divide tiles instead
        asked, points = _embedded(queries, among, scale, k, is_same)
        heaps, positions = _Search(asked, points, k, scale, is_same).run()
    best = np.lexsort((positions, heaps), axis=1)
    index, distance = np.empty_like(positions), np.empty_like(heaps)
    index[asked.order] = np.take_along_axis(positions, best, axis=1)
    distance[asked.order] = np.sqrt(np.take_along_axis(heaps, best, axis=1))
    return index, distance


def _checked(queries: Array, among: Array, is_same: bool) -> tuple[Array, Array]:
    queries, among = np.asarray(queries), np.asarray(among)
    if queries.ndim != 2 or among.ndim != 2 or queries.shape[1] != among.shape[1]:
        raise DuplicatesError(f"points of shapes {queries.shape} and {among.shape} cannot be compared")
    if is_same and len(queries) != len(among):
        raise DuplicatesError(f"{len(queries):,} queries are not the same as {len(among):,} points")
    made = []
    for points in [queries] if is_same else [queries, among]:
        kind = np.float32 if points.dtype in (np.float16, np.float32, np.uint8, np.int8) else np.float64
        one = np.ascontiguousarray(points if points.shape[1] else np.zeros((len(points), 1)), kind)
        if not np.isfinite(one).all():
            raise DuplicatesError("a feature is not a finite number: leave out its image")
        made.append(one)
    return made[0], made[-1]


def _scale(queries: Array, among: Array) -> float:
    """The power of two that no value exceeds."""
    largest = max((float(np.abs(one).max(initial=0)) for one in (queries, among)), default=0.0)
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if largest else 1.0


def _embedded(queries: Array, among: Array, scale: float, k: int, is_same: bool) -> tuple[Embedding, Embedding]:
    centre = among.mean(axis=0, dtype=float)
    basis = None
    if len(queries) * len(among) > FEW:
        basis = _basis(queries, among, centre, scale, k)
    points = _placed(among, centre, scale, basis)
    asked = points if is_same else _placed(queries, centre, scale, basis)
    marks = points[0][_spread(len(among), max(1, len(among) // 1024))]
    marks = marks[np.argsort(marks[:, 0], kind="stable")]
    sides = _by_cell(among, *points, marks)
    return (sides if is_same else _by_cell(queries, *asked, marks)), sides


def _basis(queries: Array, among: Array, centre: Array, scale: float, k: int) -> Float[Array, "d w"] | None:
    """Orthonormal directions in which the points differ most, as many as make the search fastest; None for all.

    The number is chosen by what the search would cost for some queries. Any number is right.
    """
    dimensions = among.shape[1]
    some = ((among[_spread(len(among), SAMPLE)] - centre) / scale).astype(np.float32)
    widest = min(WIDTHS[-1], dimensions, len(some))
    directions = some[:widest].T
    for _ in range(3):
        directions = np.linalg.qr(some.T @ (some @ directions))[0]
    most = np.argsort(-((some @ directions) ** 2).sum(axis=0), kind="stable")
    directions = np.linalg.qr(directions[:, most].astype(float))[0]
    if not np.linalg.norm(directions.T @ directions - np.eye(widest)) < SKEW:
        return None
    asked, known = queries[_spread(len(queries), ASKED)], among[_spread(len(among), 4 * SAMPLE)]
    whole = _bounds(*(_placed(one, centre, scale, None)[0] for one in (asked, among)))
    limits = np.partition(whole, k - 1, axis=1)[:, k - 1]
    best, cheapest = None, float(dimensions)
    for width in (one for one in WIDTHS if one < dimensions and one <= widest):
        chosen = directions[:, :width]
        passed = _bounds(*(_placed(one, centre, scale, chosen)[0] for one in (asked, known))) <= limits[:, None]
        cost = width + MEASURING * dimensions * float(passed.mean())
        if cost < cheapest:
            best, cheapest = chosen, cost
    return best


def _spread(count: int, most: int) -> Int[Array, " c"]:
    """Positions of at most so many, evenly spread."""
    return np.linspace(0, count - 1, min(count, most)).astype(int)


def _bounds(left: Array, right: Array) -> Array:
    lengths = [np.einsum("ij,ij->i", one, one) for one in (left, right)]
    return lengths[0][:, None] + lengths[1] - 2 * (left @ right.T)


def _placed(points: Array, centre: Array, scale: float, basis: Array | None) -> tuple[Array, Array]:
    """Coordinates in the basis and the length of the rest, as float32; and the squared length of everything."""
    width = points.shape[1] if basis is None else basis.shape[1] + 1
    coordinates, lengths = np.empty((len(points), width), np.float32), np.empty(len(points))
    for start in range(0, len(points), 8192):
        part = slice(start, start + 8192)
        centred = (points[part] - centre) / scale
        lengths[part] = np.einsum("ij,ij->i", centred, centred)
        if basis is None:
            coordinates[part] = centred
            continue
        inside = centred @ basis
        coordinates[part, :-1] = inside
        coordinates[part, -1] = np.sqrt(np.maximum(0, lengths[part] - np.einsum("ij,ij->i", inside, inside)))
    return coordinates, lengths


def _by_cell(points: Array, coordinates: Array, lengths: Array, marks: Array) -> Embedding:
    """Points in the order of the landmarks that they are nearest to, with factors of the bounds."""
    cell = np.empty(len(points), np.int64)
    for start in range(0, len(points), 8192):
        cell[start : start + 8192] = _bounds(coordinates[start : start + 8192], marks).argmin(axis=1)
    order = np.argsort(cell, kind="stable")
    coordinates, lengths = coordinates[order], lengths[order]
    own = np.einsum("ij,ij->i", coordinates, coordinates, dtype=float)
    own -= _slack(points.shape[1], coordinates.shape[1] + 2) * lengths
    ones = np.ones((len(points), 1), np.float32)
    norm = own.astype(np.float32)[:, None]
    left = np.concatenate([coordinates, norm, ones], axis=1)
    right = np.concatenate([-2 * coordinates, ones, norm], axis=1)
    return Embedding(points[order], left, right, order, cell[order])


def _slack(dimensions: int, products: int) -> float:
    """How much less than its squared length every point contributes to a bound; ε in the proof."""
    product = products * 2.0**-24 / (1 - products * 2.0**-24)
    place = 2.0**-24 + np.sqrt((4 * np.sqrt(products) + 8) * dimensions * 2.0**-53 + SKEW)
    return 1.01 * (2 * product + 2 * (1 + 1 / STRETCH) * place**2 + 2.0**-23)


class _Search:
    """The heaps of all queries, and what is known about their k-th distances while tiles are searched.

    The first entry of a heap is the squared distance of a query's worst point so far, and `bound` is the largest lower
    bound that a better one may have, in units of `scale`.
    """

    def __init__(self, asked: Embedding, points: Embedding, k: int, scale: float, is_same: bool) -> None:
        self.asked, self.points, self.is_same, self.scale = asked, points, is_same, scale
        self.cores = os.cpu_count() or 1
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
