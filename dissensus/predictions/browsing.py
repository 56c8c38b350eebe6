"""Items of a pool, filtered and sorted by what models predict; works chunk by chunk, and results can be merged."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16

Sort = Literal["disagreement", "agreement", "high", "low", "random"]
"""Orders of the items: models disagree most or least, their level is highest or lowest; or that of the pool, which is
random and stays the same."""
REACHABLE = 10_000
"""How many of the items that match are kept, so that memory does not grow with the pool; all of them are counted."""
STEPS = (1 << 24) - 1
"""Two numbers from 0 to 1, each in so many steps, make one sort key."""


@dataclass(frozen=True)
class Filter:
    """Which items are wanted. Models and classes are numbers; None stands for any.

    The class and the range of levels (`low` to `high`) have to hold of one and the same prediction: of `model`, or of
    any model. The disagreement (`least` to `most`) is that between `model` and `other`, between one of them and all
    others, or between all models.
    """

    model: int | None = None
    other: int | None = None
    label: int | None = None
    least: float = 0.0
    most: float = 1.0
    low: float = 0.0
    high: float = 1.0
    sort: Sort = "disagreement"

    def pairs(self, models: int) -> list[tuple[int, int]]:
        """The pairs of models whose disagreement counts, each in ascending order."""
        named = {self.model, self.other} - {None}
        return [pair for pair in combinations(range(models), 2) if named <= {*pair}]

    @property
    def has_range(self) -> bool:
        """Whether levels matter; if not, predictions without a level match too."""
        return (self.low, self.high) != (0.0, 1.0)


@dataclass(frozen=True)
class Facts:
    """What a filter needs to know about some items.

    A level is between 0 and 1: a confidence, a rank in the pool or a share of the picture; NaN if it is unknown.
    `has_label` says which predictions are, or contain, the wanted class.
    """

    distance: Float[Array, " n"]
    level: Float[Array, "M n"]
    is_there: Bool[Array, "M n"]
    has_label: Bool[Array, "M n"]


@dataclass(frozen=True)
class Matches:
    """The first `REACHABLE` items that match, in order, how many match, on how many of these models differ at all, and
    how often each class is predicted.

    `labels` ignores the wanted class: it counts the items that would match if that class were wanted.
    """

    item: Int[Array, " k"]
    key: Int[Array, " k"]
    distance: Float[Array, " k"]
    total: int
    differing: int
    labels: Int[Array, " C"]

    def merged(self, later: Matches) -> Matches:
        """The matches of both; `later` has the items of later chunks."""
        item, key, distance = (
            np.concatenate([getattr(self, name), getattr(later, name)]) for name in ("item", "key", "distance")
        )
        first = np.lexsort((item, -key))[:REACHABLE]
        total, differing = self.total + later.total, self.differing + later.differing
        return Matches(item[first], key[first], distance[first], total, differing, self.labels + later.labels)


def considered(facts: Facts, wanted: Filter) -> Bool[Array, "M n"]:
    """The predictions that match, whatever their class: those of the wanted model, in the range of levels, of items
    in the range of disagreement."""
    found = facts.is_there & ((facts.distance >= wanted.least) & (facts.distance <= wanted.most))
    if wanted.has_range:
        found &= (facts.level >= wanted.low) & (facts.level <= wanted.high)
    if wanted.model is not None:
        found[np.arange(len(found)) != wanted.model] = False
    return found


def matches(facts: Facts, wanted: Filter, first_item: int, labels: Int[Array, " C"]) -> Matches:
    """The items of a chunk that match, which starts at `first_item`; `labels` counts the `considered` predictions."""
    suitable = considered(facts, wanted) & facts.has_label
    is_match = (facts.distance >= wanted.least) & (facts.distance <= wanted.most)
    if wanted.label is not None or wanted.has_range:  # otherwise items without any prediction match too
        is_match &= suitable.any(axis=0)
    rows = np.flatnonzero(is_match)
    distance = facts.distance[rows]
    key = _keys(distance, _mean_level(facts.level[:, rows], suitable[:, rows]), wanted.sort)
    best = _largest(key, REACHABLE)
    differing = int((distance > 0).sum())
    return Matches(first_item + rows[best], key[best], distance[best], len(rows), differing, labels)


def label_distance(labels: UInt16[Array, "M n"], wanted: Filter) -> Float[Array, " n"]:
    """The share of pairs of models that predict different classes; 0 if no two models have a prediction."""
    differ, both = (np.zeros(labels.shape[1], np.uint16) for _ in range(2))
    is_there = labels != MISSING
    for one, other in wanted.pairs(len(labels)):
        are_there = is_there[one] & is_there[other]
        both += are_there
        differ += are_there & (labels[one] != labels[other])
    return np.divide(differ, both, out=np.zeros(labels.shape[1]), where=both > 0)


def rank_distance(ranks: Float[Array, "M n"], wanted: Filter) -> Float[Array, " n"]:
    """How far the ranks of an item lie apart: the largest difference between two models; 0 if there are no two.

    A rank is between 0 and 1, NaN if the model has no score.
    """
    largest = np.zeros(ranks.shape[1])
    if wanted.model is None and wanted.other is None:  # one pass instead of one per pair
        apart = np.fmax.reduce(ranks) - np.fmin.reduce(ranks)
        return np.fmax(largest, apart)
    for one, other in wanted.pairs(len(ranks)):
        largest = np.fmax(largest, np.abs(ranks[one] - ranks[other]))
    return largest


def map_distance(agreement: Float[Array, "n P"], models: int, wanted: Filter) -> Float[Array, " n"]:
    """One minus the mean agreement of two maps; 0 if no two maps can be compared.

    The columns of `agreement` are the pairs of models in the order of `itertools.combinations`, NaN where the maps
    cannot be compared.
    """
    every = list(combinations(range(models), 2))
    chosen = agreement[:, [every.index(pair) for pair in wanted.pairs(models)]].astype(np.float64)
    is_known = ~np.isnan(chosen)
    known, total = is_known.sum(axis=1), np.where(is_known, 1 - chosen, 0.0).sum(axis=1)
    return np.divide(total, known, out=np.zeros(len(chosen)), where=known > 0)


def label_counts(labels: UInt16[Array, "M n"], counted: Bool[Array, "M n"], classes: int) -> Int[Array, " C"]:
    """How many items have a counted prediction of each class; models that predict the same class count once."""
    found = np.zeros(classes, np.int64)
    for model, row in enumerate(labels):
        is_new = counted[model].copy()
        for earlier in range(model):
            is_new &= ~(counted[earlier] & (labels[earlier] == row))
        found += np.bincount(row[is_new], minlength=classes)[:classes]
    return found


def _mean_level(level: Float[Array, "M n"], suitable: Bool[Array, "M n"]) -> Float[Array, " n"]:
    """The mean level of the predictions that match; −1 if none is known."""
    is_known = suitable & ~np.isnan(level)
    total, known = np.where(is_known, level, 0.0).sum(axis=0), is_known.sum(axis=0)
    return np.divide(total, known, out=np.full(level.shape[1], -1.0), where=known > 0)


def _keys(distance: Float[Array, " n"], level: Float[Array, " n"], sort: Sort) -> Int[Array, " n"]:
    """Sort keys, the largest first. Items with the same disagreement are sorted by level: where models disagree, the
    surest first, where they agree, the least sure. Items without a level come last."""
    is_known = level >= 0
    if sort in ("high", "low"):
        return np.where(is_known, _steps(level if sort == "high" else 1 - level), -1)
    if sort == "disagreement":
        return _steps(distance) * (STEPS + 1) + np.where(is_known, _steps(level), 0)
    if sort == "agreement":
        return _steps(1 - distance) * (STEPS + 1) + np.where(is_known, _steps(1 - level), 0)
    return np.zeros(len(distance), np.int64)


def _steps(share: Float[Array, " n"]) -> Int[Array, " n"]:
    return np.rint(share * STEPS).astype(np.int64)


def _largest(key: Int[Array, " n"], most: int) -> Int[Array, " k"]:
    """Positions of the largest keys, in descending order; of equal keys, the first come first."""
    rows = np.arange(len(key))
    if len(key) > most:
        least = np.partition(key, len(key) - most)[len(key) - most]
        above, equal = np.flatnonzero(key > least), np.flatnonzero(key == least)
        rows = np.sort(np.concatenate([above, equal[: most - len(above)]]))
    return rows[np.argsort(-key[rows], kind="stable")]
