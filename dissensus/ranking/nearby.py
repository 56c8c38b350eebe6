"""Strengths from many comparisons that each differ from one in a few pairs of models.

Influence functions say how much a small change of the data moves an estimate: one Newton step, with the derivatives at
the estimate that we have. Here that step is repeated, always with the same derivatives but with the changed data, until
nothing moves any more. The first step is the influence function; the last is a refit. A step costs two products of
matrices for all variants together, because what a variant changes is sparse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.ranking.frozen import Frozen, Results
from dissensus.ranking.hodge import hodgerank
from dissensus.ranking.perron import completed, perron
from dissensus.records import Comparisons, Tally

STEPS = 40
"""A variant that takes more steps is too different: it has to be fitted on its own."""

SMALL = 1e-12
"""A step in strengths that no longer matters."""

BLOCK = 2048
"""Variants that are computed at once."""

Found = tuple[Float[Array, "V M"], Bool[Array, " V"]]
"""Strengths of all variants, and which of them were found; the others have to be fitted on their own."""


@dataclass(frozen=True)
class Variants:
    """Comparisons that differ from others in a few pairs: one row for each pair of a variant, ordered by variant.

    `pairs` are the new comparisons of `first` with `second`, as 2×2 matrices. Every pair that was compared still is,
    and no other is.
    """

    count: int
    variant: Int[Array, " n"]
    first: Int[Array, " n"]
    second: Int[Array, " n"]
    pairs: Comparisons

    def blocks(self, size: int = BLOCK) -> Iterator[tuple[slice, slice]]:
        """Variants in blocks, with their rows."""
        for start in range(0, self.count, size):
            block = slice(start, min(start + size, self.count))
            low, high = np.searchsorted(self.variant, [block.start, block.stop])
            yield block, slice(int(low), int(high))

    def without(self, is_bad: Bool[Array, " n"]) -> Bool[Array, " V"]:
        """True for variants none of whose rows is bad."""
        return np.bincount(self.variant[is_bad], minlength=self.count) == 0


def nearby_perron(base: Comparisons, variants: Variants) -> Found:
    """Perron strengths of all variants: Newton's method for B'x = ρx, Σ x = 1, with the derivatives at B's solution."""
    models = len(base.dominance)
    matrix, start = completed(base.dominance, base.compared), perron(base.dominance, base.compared)
    value = float((matrix @ start).sum())
    slope = np.block([[matrix - value * np.eye(models), -start[:, None]], [np.ones((1, models)), np.zeros((1, 1))]])
    first, second, new = variants.first, variants.second, variants.pairs.dominance
    forth, back = new[:, 0, 1] - base.dominance[first, second], new[:, 1, 0] - base.dominance[second, first]

    def error(point: Array, added: _Added, rows: slice) -> Array:
        strengths = point[:, :-1]
        i, j = first[rows], second[rows]
        image = strengths @ matrix.T
        image += added(i, forth[rows] * strengths[added.variant, j])
        image += added(j, back[rows] * strengths[added.variant, i])
        image -= point[:, -1:] * strengths
        return np.concatenate([image, strengths.sum(axis=1, keepdims=True) - 1], axis=1)

    is_bad = ~(np.isfinite(new).all(axis=(1, 2)) & (new > 0).all(axis=(1, 2)))
    point, found = _solved(np.append(start, value), -np.linalg.inv(slope), error, variants, models, is_bad)
    strengths = point[:, :-1]
    return strengths, found & (strengths > 0).all(axis=1)


def nearby_hodgerank(base: Comparisons, flow: Float[Array, "M M"], variants: Variants) -> Found:
    """HodgeRank strengths of all variants, from residuals of their own equations; `flow` is that of the base."""
    weights, first, second = base.tally.items, variants.first, variants.second
    flow = np.where(weights > 0, flow, 0.0)
    start = hodgerank(flow, weights)
    laplacian, goal = np.diag(weights.sum(axis=1)) - weights, (weights * flow).sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        new_flow, new_weight = np.log(variants.pairs.dominance[:, 0, 1]), variants.pairs.tally.items[:, 0, 1]
    is_bad = ~np.isfinite(new_flow)
    new_flow = np.where(is_bad, 0.0, new_flow)
    weight, pull = weights[first, second], new_weight * new_flow - (weights * flow)[first, second]

    def error(point: Array, added: _Added, rows: slice) -> Array:
        i, j = first[rows], second[rows]
        apart = point[added.variant, i] - point[added.variant, j]
        more = pull[rows] - (new_weight[rows] - weight[rows]) * apart
        return goal - point @ laplacian + added(i, more) - added(j, more)

    inverse = np.linalg.inv(laplacian + weights.max(initial=1.0) / len(weights))
    return _solved(start, inverse, error, variants, len(weights), is_bad)


def nearby_davidson(base: Comparisons, variants: Variants) -> Found:
    """Davidson's strengths of all variants (see `davidson`), with the Hessian of the base."""
    cases, new = base.tally, variants.pairs.tally
    frozen = Frozen(cases.only, cases.both + cases.neither)
    number = np.full(cases.only.shape, -1)
    number[frozen.first, frozen.second] = number[frozen.second, frozen.first] = np.arange(len(frozen.first))
    pair, is_same_way = number[variants.first, variants.second], variants.first < variants.second
    one, other, ties = new.only[:, 0, 1], new.only[:, 1, 0], (new.both + new.neither)[:, 0, 1]
    own = frozen.results(cases.only[None], (cases.both + cases.neither)[None])
    goals = {"won": np.where(is_same_way, one, other), "lost": np.where(is_same_way, other, one), "tied": ties}
    if own.tied is None:
        del goals["tied"]
    fewer = np.any([(getattr(own, part)[pair, 0] > 0) & (goal == 0) for part, goal in goals.items()], axis=0)
    is_bad = (pair < 0) | ((ties > 0) & (own.tied is None))
    starts = np.searchsorted(variants.variant, np.arange(variants.count + 1))

    def tables(block: slice) -> Results:
        rows = slice(starts[block.start], starts[block.stop])
        at = pair[rows], variants.variant[rows] - block.start
        shape = len(frozen.first), block.stop - block.start
        parts = {part: np.broadcast_to(getattr(own, part), shape).copy() for part in goals}
        for part, goal in goals.items():
            parts[part][at] = goal[rows]
        return Results(**parts)

    # what contradicts an order still does, unless a result is gone
    strengths, found = frozen.fits(tables, variants.count, variants.without(fewer))
    return strengths, found & variants.without(is_bad)


def davidson_of(base: Tally, tallies: Sequence[Tally]) -> Found:
    """Davidson's strengths of resamples of a tally, and which resamples have any.

    Raises:
        RankingError: the tally itself has none.
    """
    frozen = Frozen(base.only, base.both + base.neither)

    def tables(block: slice) -> Results:
        some = tallies[block]
        return frozen.results(np.stack([one.only for one in some]), np.stack([one.both + one.neither for one in some]))

    return frozen.fits(tables, len(tallies))


class _Added:
    """Adds values of rows into a matrix of variants and models."""

    def __init__(self, variant: Int[Array, " n"], shape: tuple[int, int]) -> None:
        self.variant, self.shape = variant, shape

    def __call__(self, model: Int[Array, " n"], values: Float[Array, " n"]) -> Float[Array, "V M"]:
        place = self.variant * self.shape[1] + model
        return np.bincount(place, values, minlength=self.shape[0] * self.shape[1]).reshape(self.shape)


def _solved(
    start: Float[Array, " p"],
    inverse: Float[Array, "p p"],
    error: Callable[[Array, _Added, slice], Array],
    variants: Variants,
    models: int,
    is_bad: Bool[Array, " n"],
) -> tuple[Float[Array, "V p"], Bool[Array, " V"]]:
    """From the same start, point += inverse · error until that no longer moves; and which variants got there."""
    points, found = np.repeat(start[None], variants.count, axis=0), variants.without(is_bad)
    for block, rows in variants.blocks():
        point = points[block]
        added = _Added(variants.variant[rows] - block.start, (len(point), models))
        with np.errstate(over="ignore", invalid="ignore"):  # a variant that diverges is not found
            for _ in range(STEPS):
                step = error(point, added, rows) @ inverse.T
                point += step
                size = np.abs(step).max(axis=1)
                if not (size[found[block]] >= SMALL).any():
                    break
        found[block] &= size < SMALL
    return np.where(found[:, None], points, start), found
