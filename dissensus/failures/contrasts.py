"""Does a model fail more in one group of items than the others do? Permutations of the items, for all groups at once.

What counts is a difference of differences: how much more often a model fails inside a group than outside, minus the
median of the same over all models. Hard groups are hard for everybody, and weak models are weak everywhere; neither
sets a model apart. The median keeps one odd model from making all the others look odd.

Models that look at the same items fail together, so that failures are not independent. We therefore permute which items
belong to the group, and leave all models' failures on an item together. The largest standardised difference of every
permutation adjusts the p-values for all comparisons (Westfall and Young, 1993: 'max-T').

If a hard group takes one model from 5 to 20 % and another from 50 to 80 %, the differences of shares are unlike, but
the odds rise alike: it depends on the scale whether this sets a model apart. We claim it only if it does on both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int

LEAST = 10
"""Items of a group that a model must have been judged on, and as many outside: fewer support no claim."""
PERMUTATIONS = 999


@dataclass(frozen=True)
class Comparisons:
    """For every group and model: the four shares of failures, the difference and its adjusted p-value.

    Zero, and a p-value of one, where `is_tested` is false.
    """

    items: Int[Array, "G M"]
    inside: Float[Array, "G M"]
    outside: Float[Array, "G M"]
    others_inside: Float[Array, "G M"]
    others_outside: Float[Array, "G M"]
    difference: Float[Array, "G M"]
    p: Float[Array, "G M"]
    is_tested: Bool[Array, "G M"]


def contrasts(
    failed: Bool[Array, "I M"],
    known: Bool[Array, "I M"],
    member: Bool[Array, "I G"],
    least: int = LEAST,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> Comparisons:
    """Compare every model with all others, inside and outside every group; items may belong to several groups.

    A comparison needs `least` judged items inside and outside the group, of the model and of the others.
    """
    lost, counted, inside = (failed & known).astype(np.float64), known.astype(np.float64), member.astype(np.float64)
    means, counts = _means(lost, counted, inside)
    is_tested = np.min(counts, axis=0) >= least
    is_tested &= is_tested.sum(axis=1, keepdims=True) >= 2
    found = _beyond_median(means[0] - means[1], is_tested)
    p, rows = np.ones_like(found), is_tested.any(axis=1)
    if rows.any():
        p[rows] = _adjusted_p(lost, counted, inside[:, rows], is_tested[rows], permutations, seed)
    own, elsewhere, others, others_elsewhere = (np.where(is_tested, one, 0.0) for one in means)
    return Comparisons(counts[0].astype(np.int64), own, elsewhere, others, others_elsewhere, found, p, is_tested)


def _means(
    lost: Float[Array, "I M"], counted: Float[Array, "I M"], inside: Float[Array, "I G"]
) -> tuple[list[Array], list[Array]]:
    """Shares of failures and numbers of judged items: the model's inside and outside the group, then the others'."""
    parts = _parts(lost, counted, inside)
    parts += [(one.sum(axis=1, keepdims=True) - one, n.sum(axis=1, keepdims=True) - n) for one, n in parts]
    return [one / np.maximum(n, 1.0) for one, n in parts], [n for _, n in parts]


def _parts(
    lost: Float[Array, "I M"], counted: Float[Array, "I M"], inside: Float[Array, "I G"]
) -> list[tuple[Array, Array]]:
    """Every model's failures and judged items inside each group, and outside."""
    sums, counts = inside.T @ lost, inside.T @ counted
    return [(sums, counts), (lost.sum(axis=0) - sums, counted.sum(axis=0) - counts)]


def _adjusted_p(
    lost: Float[Array, "I M"],
    counted: Float[Array, "I M"],
    inside: Float[Array, "I G"],
    is_tested: Bool[Array, "G M"],
    permutations: int,
    seed: int,
) -> Float[Array, "G M"]:
    """The larger p-value of the two scales; one if they contradict each other, or where nothing is tested."""
    rng = np.random.default_rng(seed)
    seen = _statistics(lost, counted, inside, is_tested)
    drawn = np.stack(
        [_statistics(lost, counted, inside[rng.permutation(len(lost))], is_tested) for _ in range(permutations)]
    )
    spread = drawn.std(axis=0)
    spread = np.where(spread > 0, spread, np.inf)
    largest = (np.abs(drawn) / spread).max(axis=(2, 3))
    is_as_large = largest[:, :, None, None] >= np.abs(seen) / spread - 1e-12
    p = (1 + is_as_large.sum(axis=0)) / (1 + permutations)
    return np.where(is_tested & (seen[0] * seen[1] > 0), p.max(axis=0), 1.0)


def _statistics(
    lost: Float[Array, "I M"], counted: Float[Array, "I M"], inside: Float[Array, "I G"], is_tested: Bool[Array, "G M"]
) -> Float[Array, "2 G M"]:
    """The differences of shares and of log odds, each divided by the usual standard error of its group.

    Half a failure more, and half a success, keep both finite.
    """
    parts = [((lost_there + 0.5) / (n + 1), n + 1) for lost_there, n in _parts(lost, counted, inside)]
    (share, n), (elsewhere, n_elsewhere) = parts
    noise, noise_elsewhere = share * (1 - share), elsewhere * (1 - elsewhere)
    scales = (
        (share - elsewhere, noise / n + noise_elsewhere / n_elsewhere),
        (_log_odds(share) - _log_odds(elsewhere), 1 / (noise * n) + 1 / (noise_elsewhere * n_elsewhere)),
    )
    usual = [np.sqrt(np.mean(variance, axis=1, keepdims=True, where=is_tested)) for _, variance in scales]
    return np.stack([_beyond_median(value, is_tested) / one for (value, _), one in zip(scales, usual, strict=True)])


def _log_odds(share: Float[Array, "G M"]) -> Float[Array, "G M"]:
    return np.log(share / (1 - share))


def _beyond_median(values: Float[Array, "G M"], is_tested: Bool[Array, "G M"]) -> Float[Array, "G M"]:
    """Each tested value minus the median of those in its row; zero if it is not tested."""
    ordered = np.sort(np.where(is_tested, values, np.inf), axis=1)
    many = np.maximum(is_tested.sum(axis=1, keepdims=True), 1)
    lower, upper = (np.take_along_axis(ordered, place, axis=1) for place in ((many - 1) // 2, many // 2))
    return np.where(is_tested, values - (lower + upper) / 2, 0.0)
