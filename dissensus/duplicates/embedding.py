"""Points as short vectors whose products are lower bounds of squared distances, rounding included.

The searches for nearest neighbours (`neighbours.py`) and for all pairs within a radius (`within.py`) measure only pairs
whose bound allows them to be close. The proof is in docs/methods/near-duplicates.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import DuplicatesError

LARGEST = 1e300
"""Features beyond it are refused: their distances might not fit into float64."""
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


def checked(queries: Array, among: Array, is_same: bool) -> tuple[Array, Array]:
    """Points in float32 or float64, with at least one dimension.

    Raises:
        DuplicatesError: points have different dimensions, or a value is not finite.
    """
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
        if float(np.abs(one).max(initial=0)) > LARGEST:
            raise DuplicatesError("a feature is beyond ±10³⁰⁰: divide all features by the same number")
        made.append(one)
    return made[0], made[-1]


def scale_of(queries: Array, among: Array) -> float:
    """The power of two that no value exceeds."""
    largest = max((float(np.abs(one).max(initial=0)) for one in (queries, among)), default=0.0)
    return float(np.ldexp(1.0, np.frexp(largest)[1])) if largest else 1.0


def embedded(
    queries: Array, among: Array, scale: float, limits: Callable[[Array], Array], is_same: bool
) -> tuple[Embedding, Embedding]:
    """Queries and points with the factors of their bounds.

    `limits` says which bounds are small enough for a pair to be measured, for a row of bounds per query; the width of
    the projection is chosen by it.
    """
    centre = among.mean(axis=0, dtype=float)
    basis = None
    if len(queries) * len(among) > FEW:
        basis = _basis(queries, among, centre, scale, limits)
    points = _placed(among, centre, scale, basis)
    asked = points if is_same else _placed(queries, centre, scale, basis)
    marks = points[0][_spread(len(among), max(1, len(among) // 1024))]
    marks = marks[np.argsort(marks[:, 0], kind="stable")]
    sides = _by_cell(among, *points, marks)
    return (sides if is_same else _by_cell(queries, *asked, marks)), sides


def _basis(
    queries: Array, among: Array, centre: Array, scale: float, limits: Callable[[Array], Array]
) -> Float[Array, "d w"] | None:
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
    enough = limits(whole)
    best, cheapest = None, float(dimensions)
    for width in (one for one in WIDTHS if one < dimensions and one <= widest):
        chosen = directions[:, :width]
        passed = _bounds(*(_placed(one, centre, scale, chosen)[0] for one in (asked, known))) <= enough[:, None]
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
