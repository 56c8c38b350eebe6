"""How far two strengths must differ to be told apart, from rows that share items and annotators.

Strengths are a smooth function of a matrix whose entries are weighted means of rows (one row per judged pair or image).
So the error of a strength is, to first order, a weighted sum of the rows' residuals. Rows are independent only if they
have no item in common: residuals are summed item by item, and annotator by annotator, before they are squared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.ranking.margins import Margins

PRIOR = 1.0
"""Rows without any effect that are added to every effect's own: an effect seen in few rows is not fully believed."""
STEP = 1e-4
"""By how much an entry is changed, as a share of its size, to see what that does to the strengths."""


@dataclass(frozen=True)
class Rows:
    """Rows that a matrix is made of: entry (row, column) changes by `share` times as much as the row's value.

    `stratum` is a level or a category, the same for all models. `items` are the one or two items of each row.
    `by_person` is the amount that each annotator's answers deviate from the value, weighted as they count for it.
    """

    row: Int[Array, " Q"]
    column: Int[Array, " Q"]
    share: Float[Array, " Q"]
    value: Float[Array, " Q"]
    stratum: Int[Array, " Q"]
    items: Int[Array, "Q u"]
    by_person: Float[Array, "R Q"]


@dataclass(frozen=True)
class Errors:
    """Variances of all differences of strengths, and the degrees of freedom with which they are known."""

    variance: Float[Array, "M M"]
    freedom: Float[Array, "M M"]

    def margins(self, level: float) -> Margins:
        """Margins from Student's t: the error rate 1 − `level` is shared among all comparisons (Bonferroni).

        Either of two equal models could be ruled out as first by its only rival, so both share the rate.
        """
        models = len(self.variance)
        pairs, rivals = max(models * (models - 1), 1), max(models - 1, 2)
        return Margins(self._margins((1 - level) / pairs), self._margins((1 - level) / rivals))

    def _margins(self, tail: float) -> Float[Array, "M M"]:
        from scipy.stats import t  # takes half a second to import, and few commands need it

        varies = self.variance > 0
        factor = t.isf(tail, np.where(varies, self.freedom, 1.0))
        return np.where(varies, factor * np.sqrt(np.where(varies, self.variance, 0.0)), np.inf)


def errors_of(
    rows: Rows, strengths: Callable[[Float[Array, "B M M"]], Float[Array, "B M"]], entries: Float[Array, "M M"]
) -> Errors:
    """The errors of the strengths of a matrix with these entries, which are the weighted means of the rows.

    Residuals are what attacker, defender and stratum do not explain. The sum over an item's rows is divided by what is
    left of them if these effects are fitted without that item (CR3: as if each item were left out in turn), since the
    fit follows an item that occurs in many rows. A pair of items is in the sums of both: rows of the same pair are
    counted once less. Freedom is Satterthwaite's, for sums with heavier tails than the normal distribution's.
    """
    slope = _slopes(strengths, entries, rows)
    influence = slope * rows.share[:, None]
    fit = _Fit(rows)
    items = fit.sums(influence, rows.items)
    variance, fourth = _powers(items)
    if rows.items.shape[1] > 1:
        once = _powers(fit.sums(influence, _pairs(rows.items)[:, None]))[0]
        kept = np.maximum(variance - once, variance / 2) / np.where(variance > 0, variance, 1.0)
        variance, fourth = kept * variance, kept**2 * fourth
    people = rows.by_person @ influence
    if len(people) > 1:
        among, heavy = _powers(people * np.sqrt(len(people) / (len(people) - 1)))
        variance, fourth = variance + among, fourth + heavy
    freedom = 2 * variance**2 / np.where(fourth > 0, fourth, 1.0)
    most = max(len(np.unique(rows.items)) - fit.used, 1.0)
    return Errors(variance, freedom.clip(1.0, most))


class _Fit:
    """Least squares of the rows' values on attacker, defender and stratum, with `PRIOR` rows of no effect each."""

    def __init__(self, rows: Rows) -> None:
        effects = [np.ones((len(rows.value), 1)), *map(_indicators, (rows.row, rows.column, rows.stratum))]
        self.design = np.concatenate(effects, axis=1)
        prior = np.full(self.design.shape[1], PRIOR)
        prior[0] = 0.0
        self.solved = np.linalg.solve(self.design.T @ self.design + np.diag(prior), self.design.T)
        residual = rows.value - self.design @ (self.solved @ rows.value)
        rounding = 1e-9 * np.abs(rows.value).max(initial=0.0)
        self.residual = np.where(np.abs(residual) > rounding, residual, 0.0)
        self.used = float(np.einsum("qe,eq->", self.design, self.solved))

    def sums(self, influence: Float[Array, "Q M"], clusters: Int[Array, "Q u"]) -> Float[Array, "U M"]:
        """For every cluster, the sum of its rows' residuals in the fit without it, times their influence."""
        return np.stack([influence[some].T @ self._without(some) for some in _members(clusters)])

    def _without(self, some: Int[Array, " n"]) -> Float[Array, " n"]:
        hat = self.design[some] @ self.solved[:, some]
        return np.linalg.lstsq(np.eye(len(some)) - hat, self.residual[some], rcond=1e-8)[0]


def _slopes(
    strengths: Callable[[Float[Array, "B M M"]], Float[Array, "B M"]], entries: Float[Array, "M M"], rows: Rows
) -> Float[Array, "Q M"]:
    """How much each model's strength changes with the entry that a row belongs to."""
    cells, which = np.unique(np.stack([rows.row, rows.column]), axis=1, return_inverse=True)
    count = np.arange(cells.shape[1])
    size = np.abs(entries[cells[0], cells[1]])
    is_ratio = (entries[cells[0], cells[1]] > 0).all()  # ratios differ by orders of magnitude, and must stay positive
    step = STEP * (size if is_ratio else np.full(len(count), max(float(size.max(initial=0.0)), 1e-12)))
    moved = np.repeat(entries[None], 2 * len(count), axis=0)
    moved[2 * count, cells[0], cells[1]] += step
    moved[2 * count + 1, cells[0], cells[1]] -= step
    found = strengths(moved)
    return ((found[0::2] - found[1::2]) / (2 * step[:, None]))[which.ravel()]


def _powers(sums: Float[Array, "U M"]) -> tuple[Float[Array, "M M"], Float[Array, "M M"]]:
    """Σ d² and Σ d⁴ of the differences d of all two columns."""
    second, fourth = np.zeros((2, sums.shape[1], sums.shape[1]))
    for row in sums:
        squares = (row[:, None] - row) ** 2
        second += squares
        fourth += squares**2
    return second, fourth


def _indicators(number: Int[Array, " Q"]) -> Float[Array, "Q n"]:
    return (number[:, None] == np.unique(number)).astype(float)


def _pairs(items: Int[Array, "Q 2"]) -> Int[Array, " Q"]:
    return np.unique(np.sort(items, axis=1), axis=0, return_inverse=True)[1].ravel()


def _members(clusters: Int[Array, "Q u"]) -> Iterator[Int[Array, " n"]]:
    """The rows of each cluster; a row may be in several."""
    rows = np.repeat(np.arange(len(clusters)), clusters.shape[1])
    order = np.argsort(clusters.ravel(), kind="stable")
    cuts = np.flatnonzero(np.diff(clusters.ravel()[order])) + 1
    for some in np.split(rows[order], cuts):
        yield np.unique(some)
