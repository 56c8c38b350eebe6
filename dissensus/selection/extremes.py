"""An attacker's worst and best items among those that a defender finds alike (gMAD, Section 2.2, steps 2 to 9).

As a reduction over chunks of the pool: `scan_extremes(chunk) -> extremes`, `merge_extremes(extremes, extremes) ->
extremes`, `extremal_pairs(extremes) -> pairs`, with the same result for every chunking and every order of merging.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import SelectionError
from dissensus.selection.extremes_kernel import EDGES, LANES, TILE, pair_up, scan_rows


@dataclass(frozen=True)
class Cells:
    """The levels of every defender, in the units of its own scores (higher is better).

    Cell e of defender i is [edges[i, e], edges[i, e+1]); edges may be infinite, and equal neighbours enclose nothing.
    `levels[k]` is the first cell of level k and one past its last: levels may overlap or leave gaps. Both items of a
    pair lie in one level and, with a `window`, within that many consecutive cells of it.

    Raises:
        SelectionError: edges do not ascend, a level has cells that do not exist, or a window is empty.
    """

    edges: Float[Array, "M E+1"]
    levels: Int[Array, "K 2"]
    window: int | None = None

    def __post_init__(self) -> None:
        if not (self.edges[:, :-1] <= self.edges[:, 1:]).all() or self.edges.shape[1] < 2:
            raise SelectionError("the edges of a model's levels are invalid: give two or more ascending numbers")
        first, last = self.levels.T
        if not ((first >= 0) & (first <= last) & (last <= self.count)).all():
            raise SelectionError(
                f"a level is out of range: levels must lie within the {self.count} cells of a model's scale"
            )
        if self.window is not None and self.window < 1:
            raise SelectionError("the window is too narrow: it must be at least one cell wide")

    @property
    def count(self) -> int:
        """Number of cells of each defender."""
        return self.edges.shape[1] - 1

    def depth(self, pairs: int, taken: int = 0) -> int:
        """Extremes to keep per cell for `pairs` pairs per level, if earlier rounds took `taken` pairs of a duel."""
        return (pairs if self.window is None else 2 * pairs - 1) + 2 * taken


@dataclass(frozen=True)
class Extremes:
    """The number of items in cell e of defender i, and the `depth` lowest and highest scores of attacker j among them.

    Lowest first and highest first, equal scores by smaller item; padded with item −1 and an infinite score.
    No model attacks itself: those lists are empty.
    """

    counts: Int[Array, "M E"]
    low_score: Float[Array, "M E M depth"]
    low_item: Int[Array, "M E M depth"]
    high_score: Float[Array, "M E M depth"]
    high_item: Int[Array, "M E M depth"]

    @classmethod
    def empty(cls, models: int, cells: int, depth: int, dtype: np.typing.DTypeLike = np.float64) -> Self:
        """The state before any item was scanned."""
        shape = (models, cells, models, depth)
        low, item = np.full(shape, np.inf, dtype), np.full(shape, -1)
        return cls(np.zeros((models, cells), np.int64), low, item, -low, item)

    @property
    def depth(self) -> int:
        return self.low_item.shape[3]

    def renumbered(self, renumber: Callable[[Int[Array, " n"]], Int[Array, " n"]]) -> Extremes:
        """The same extremes with other item numbers, in the same order."""
        low, high = self.low_item.copy(), self.high_item.copy()
        for item in (low, high):
            item[item >= 0] = renumber(item[item >= 0])
        return replace(self, low_item=low, high_item=high)


@dataclass(frozen=True)
class Pairs:
    """Pairs of items by defender, level, attacker and rank; scores are the attacker's own.

    `rank` counts from 1 within (defender, level, attacker). `weight` is the number of items in the defender's level.
    """

    attacker: Int[Array, " Q"]
    defender: Int[Array, " Q"]
    level: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    low: Int[Array, " Q"]
    high: Int[Array, " Q"]
    low_score: Float[Array, " Q"]
    high_score: Float[Array, " Q"]
    weight: Int[Array, " Q"]

    def __len__(self) -> int:
        return len(self.low)


def scan_extremes(
    scores: Float[Array, "M N"], first_item: int, cells: Cells, depth: int, known: Extremes | None = None
) -> Extremes:
    """The extremes among a chunk's items, which are numbered from `first_item` on.

    A score that is not finite counts as missing: the item is in no cell of that model, and never one of its extremes.
    `known`, the extremes of other chunks, only saves time: items that cannot be among the combined extremes are left
    out.

    Raises:
        SelectionError: scores and cells have different numbers of models.
    """
    models = len(scores)
    if models != len(cells.edges):
        raise SelectionError(
            f"there are scores of {models} models, but cells for {len(cells.edges)}: pass the same models"
        )
    if known is None or known.depth < depth:
        known = Extremes.empty(models, cells.count, depth, scores.dtype)
    scores = np.ascontiguousarray(scores)  # columns of unknown stride would not be vectorized
    bounds = _bounds(known, depth, first_item, scores.dtype)
    return _scanned(scores, first_item, _reached(cells.edges, scores.dtype), bounds, depth)


def merge_extremes(one: Extremes, other: Extremes) -> Extremes:
    """The extremes of two sets of items combined."""
    depth = min(one.depth, other.depth)
    low = _first(one.low_score, one.low_item, other.low_score, other.low_item, 1, depth)
    high = _first(one.high_score, one.high_item, other.high_score, other.high_item, -1, depth)
    return Extremes(one.counts + other.counts, *low, *high)


def extremal_pairs(
    extremes: Extremes, cells: Cells, wanted: Bool[Array, "M M"], pairs: int, taken: Int[Array, "T 4"] | None = None
) -> Pairs:
    """Up to `pairs` pairs of different items for every level of every duel with `wanted[attacker, defender]`.

    First the lowest with the highest, then the same among the remaining items, as long as the attacker sees a
    difference; with a window, the largest difference of all windows, then the smaller low item, then the smaller high.
    `taken`: attacker, defender and both items of the pairs of earlier rounds; neither item is used again in that duel.

    Raises:
        SelectionError: more extremes per cell are needed (see `Cells.depth`).
    """
    models = len(wanted)
    taken = np.empty((0, 4), np.int64) if taken is None else taken
    duel = taken[:, 1] * models + taken[:, 0]
    gone = taken[np.argsort(duel), 2:].astype(np.int64).ravel()
    starts = 2 * np.searchsorted(np.sort(duel), np.arange(models**2 + 1))
    scores = np.stack([extremes.low_score, -extremes.high_score]).astype(np.float64)
    items = np.stack([extremes.low_item, extremes.high_item])
    window = cells.window or cells.count
    found, values, is_enough = pair_up(
        scores, items, extremes.counts, cells.levels, window, wanted, gone, starts, pairs
    )
    if not is_enough:
        raise SelectionError(
            f"{extremes.depth} extremes per cell are not enough for {pairs} pairs: scan with the depth from Cells.depth"
        )
    attacker, defender, level, rank, low, high = found.T
    before = np.pad(extremes.counts.cumsum(axis=1), ((0, 0), (1, 0)))
    first, last = cells.levels[level].T
    weight = before[defender, last] - before[defender, first]
    return Pairs(attacker, defender, level, rank, low, high, values[:, 0], values[:, 1], weight)


def _scanned(scores: Array, first_item: int, edges: Array, bounds: Array, depth: int) -> Extremes:
    models, cells = len(edges), bounds.shape[2] - 2
    places = np.empty((models, TILE), np.uint8 if cells < 255 else np.uint16)
    reached = np.zeros((models, cells + 1), np.int64)
    kept_scores = np.full((2, models, cells, models, depth), np.inf, scores.dtype)
    kept_items = np.full(kept_scores.shape, -1)
    scan_rows(scores, first_item, edges, places, bounds, reached, kept_scores, kept_items)
    return Extremes(-np.diff(reached), kept_scores[0], kept_items[0], -kept_scores[1], kept_items[1])


def _bounds(known: Extremes, depth: int, first_item: int, dtype: np.dtype) -> Float[Array, "2 M E+2 lanes"]:
    """The bounds that scores of later items must exceed; impossible for a model's own scores and outside all cells."""
    models, cells = known.counts.shape
    bounds = np.empty((2, models, cells + 2, -(-models // LANES) * LANES), dtype)
    bounds[:] = np.array([-np.inf, np.inf]).reshape(2, 1, 1, 1)
    sides = ((known.low_score, known.low_item, np.inf), (known.high_score, known.high_item, -np.inf))
    for side, (score, item, away) in enumerate(sides):
        last, is_later = score[..., depth - 1].astype(dtype), item[..., depth - 1] >= first_item
        bounds[side, :, 1:-1, :models] = np.where(
            is_later, np.nextafter(last, away), last
        )  # so that an equal score counts
        bounds[side, np.arange(models), :, np.arange(models)] = -away
    return bounds


def _reached(edges: Float[Array, "M E+1"], dtype: np.dtype) -> Float[Array, "M padded"]:
    """The smallest finite number of the scores' type that reaches each edge, or infinity; padded for the kernel."""
    with np.errstate(over="ignore"):
        near = edges.astype(dtype)
    above = np.where(near < edges, np.nextafter(near, np.inf), near)
    missing = -edges.shape[1] % EDGES
    return np.pad(np.maximum(above, np.finfo(dtype).min), ((0, 0), (0, missing)), constant_values=np.nan)


def _first(
    score: Array, item: Array, other_score: Array, other_item: Array, sign: int, depth: int
) -> tuple[Array, Array]:
    """The first entries of two lists combined, by score (times sign) and item."""
    score, item = score[..., :depth].copy(), item[..., :depth].copy()
    some = other_item[..., 0] >= 0  # only a few, once most extremes are known
    scores = np.concatenate([score[some], other_score[some]], axis=1)
    items = np.concatenate([item[some], other_item[some]], axis=1)
    order = np.lexsort((items, sign * scores), axis=1)[:, :depth]
    score[some], item[some] = np.take_along_axis(scores, order, axis=1), np.take_along_axis(items, order, axis=1)
    return score, item
