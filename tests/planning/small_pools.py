"""Pools to plan on: small ones to work out by hand, and simulated classifiers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dissensus.arrays import MISSING
from dissensus.planning.cases import Cases, Patterns, cases_of, patterns_of, votes_of
from dissensus.planning.replay import Recorded, recorded

Kind = Literal["typical", "trap", "equal"]


@dataclass(frozen=True)
class Pool:
    """Predictions with the truth, and what the planner makes of them."""

    labels: np.ndarray
    truth: np.ndarray
    patterns: Patterns
    cases: Cases
    recorded: Recorded

    @property
    def right(self) -> np.ndarray:
        return self.labels == self.truth

    @property
    def accuracies(self) -> np.ndarray:
        return self.right.mean(axis=1)


def pool_of(labels: np.ndarray, truth: np.ndarray, is_named: bool = False) -> Pool:
    labels = np.asarray(labels, np.uint16)
    votes = votes_of(labels, is_named)
    patterns = patterns_of(votes, is_named)
    cases = cases_of(patterns)
    return Pool(labels, truth, patterns, cases, recorded(cases, patterns.places(votes), labels == truth))


def simulated(kind: Kind, models: int, items: int, seed: int, classes: int = 100, is_named: bool = False) -> Pool:
    """Classifiers that share what is hard and what is tempting.

    In a trap, all but the last are near-copies of a weak one, and the last is far better. Of 'equal' models, the first
    two are right equally often (or differ by one item), though on different items.
    """
    rng = np.random.default_rng([seed, models])
    truth = rng.integers(classes, size=items)
    hard = rng.normal(size=items)
    tempting = (truth + rng.integers(1, classes, size=(3, items))) % classes
    which = np.where(rng.random((models, items)) < 0.7, 0, rng.integers(3, size=(models, items)))
    if kind == "trap":
        copied = 0.1 - hard + rng.normal(size=items) * 0.6
        margin = copied + rng.normal(size=(models, items)) * 0.35 + rng.normal(size=(models, 1)) * 0.08
        margin[-1] = 1.0 - 0.7 * hard + rng.normal(size=items) * 0.8
    else:
        of_groups = rng.normal(size=(models, 3)) @ rng.normal(size=(3, items)) * 0.5
        margin = rng.normal(1.0, 0.25, size=(models, 1)) - 1.2 * hard + of_groups
        margin = margin + rng.normal(size=(models, items)) * 0.7
    labels = np.where(margin > 0, truth, tempting[which, np.arange(items)]).astype(np.uint16)
    if kind == "equal":
        _make_equal(labels, truth, rng)
    return pool_of(labels, truth, is_named)


def _make_equal(labels: np.ndarray, truth: np.ndarray, rng: np.random.Generator) -> None:
    """The first two models exchange predictions until they are right equally often."""
    right = labels == truth
    more = int(right[0].sum()) - int(right[1].sum())
    better, worse = (0, 1) if more > 0 else (1, 0)
    given = rng.choice(np.flatnonzero(right[better] & ~right[worse]), abs(more) // 2, replace=False)
    labels[np.ix_([better, worse], given)] = labels[np.ix_([worse, better], given)]


def with_gaps(pool: Pool, share: float, seed: int = 0) -> Pool:
    """The same pool, if models have no prediction for some of the items, though never all of them for the same."""
    is_gone = np.random.default_rng(seed).random(pool.labels.shape) < share
    is_gone[0, is_gone.all(axis=0)] = False
    return pool_of(np.where(is_gone, MISSING, pool.labels), pool.truth, pool.patterns.is_named)
