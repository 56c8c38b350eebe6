"""Models on two test sets as they were read, and intervals of their accuracies and drops.

Two test sets have different items, so that their accuracies are independent, and a drop is a difference of two
independent proportions. Its interval is Newcombe's (1998): distances of the ends of two Wilson intervals, combined by
their squares. Miettinen and Nurminen's, the usual alternative, has to be solved for numerically and needs counts. The
rule by which Newcombe combines two intervals works for any two (Zou and Donner, 2008), so that a table which gives
intervals instead of counts is treated alike.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.proportions import LEVEL, Ends, clopper_pearson, difference, newcombe, wilson
from dissensus.records import MissingModel
from dissensus.transfer.gaps import Measured
from dissensus.transfer.intervals import mean_drop


@dataclass(frozen=True)
class Side:
    """Accuracies of the models on one test set.

    `count` is 0 where the number of items is unknown. `low` and `high` are intervals that were given, NaN where they
    were not; they are used where no count is known. `right` has every answer, if predictions are known; `frequency` is
    the selection frequency of every item, and `is_duplicate` says which items have a near-duplicate among training
    images.
    """

    accuracy: Float[Array, " M"]
    count: Int[Array, " M"]
    low: Float[Array, " M"]
    high: Float[Array, " M"]
    right: Bool[Array, "M n"] | None = None
    frequency: Float[Array, " n"] | None = None
    is_duplicate: Bool[Array, " n"] | None = None

    @property
    def hits(self) -> Int[Array, " M"]:
        """Items that are right, as near as rounded accuracies say."""
        return np.rint(self.accuracy * self.count).astype(np.int64)


@dataclass(frozen=True)
class TwoSets:
    """Models on two test sets, as they were read. `fresh` are accuracies on a new set of the original distribution."""

    models: tuple[str, ...]
    families: tuple[str, ...]
    original: Side
    new: Side
    fresh: Side | None = None
    is_family_guessed: bool = False
    missing: tuple[MissingModel, ...] = ()
    notes: tuple[str, ...] = ()
    extra: tuple[dict[str, str], ...] = ()
    names: tuple[str, str] = ("original", "new")
    duplicates: tuple[float, float] | None = None
    """Share of near-duplicates in the original set and the accuracy on them, if they are assumed."""


def accuracy_ends(side: Side, level: float = LEVEL) -> Ends:
    """Clopper and Pearson's intervals where counts are known, else those that were given; NaN if there is neither."""
    low, high = side.low.copy(), side.high.copy()
    known = side.count > 0
    low[known], high[known] = clopper_pearson(side.hits[known], side.count[known], level)
    # a rounded accuracy may be a little outside what its rounded count gives
    return np.minimum(low, side.accuracy), np.maximum(high, side.accuracy)


def drop_interval(original: Side, new: Side, level: float = LEVEL) -> Ends:
    """Newcombe's interval of every drop where both counts are known, else from the intervals that were given."""
    drop = original.accuracy - new.accuracy
    low, high = difference(original.accuracy, _score_ends(original, level), new.accuracy, _score_ends(new, level))
    known = (original.count > 0) & (new.count > 0)
    low[known], high[known] = newcombe(
        original.hits[known], original.count[known], new.hits[known], new.count[known], level
    )
    return np.minimum(low, drop), np.maximum(high, drop)


def _score_ends(side: Side, level: float) -> Ends:
    low, high = side.low.copy(), side.high.copy()
    known = side.count > 0
    low[known], high[known] = wilson(side.hits[known], side.count[known], level)
    return low, high


def mean_of(first: Side, second: Side, level: float = LEVEL) -> Measured:
    """The mean drop over the models, with an interval over the items.

    Without predictions, nobody knows how alike the errors of the models are; the interval then assumes that they are
    the same for all, which is the worst case: the mean of the models' own ends.
    """
    value = float((first.accuracy - second.accuracy).mean())
    if first.right is not None and second.right is not None:
        return Measured(value, *mean_drop(first.right, second.right, level))
    low, high = drop_interval(first, second, level)
    if np.isnan(low).any():
        return Measured(value, None, None)
    return Measured(value, float(low.mean()), float(high.mean()))
