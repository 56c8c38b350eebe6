"""Who agrees with whom: the items of a pool, grouped by the votes of the models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numba
import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16
from dissensus.errors import PlanningError
from dissensus.mixing import GOLDEN, mixed


@dataclass(frozen=True)
class Patterns:
    """The different patterns of votes in a pool, and how many items have each.

    `votes` holds one vote per model. Labels are either kept, or numbered within each item in the order of the first
    models that predict them (`is_named` is False): then only who agrees with whom is left, and a pool of any size has
    few patterns. MISSING is the vote of a model without a prediction.
    """

    votes: UInt16[Array, "P M"]
    items: Int[Array, " P"]
    is_named: bool

    @staticmethod
    def merged(parts: Iterable[Patterns]) -> Patterns:
        """The patterns of several parts of a pool, sorted: the order of the parts does not matter."""
        parts = list(parts)
        rows = np.concatenate([part.votes for part in parts])
        items = np.concatenate([part.items for part in parts])
        votes, place = _different(rows)
        return Patterns(votes, np.bincount(place, items, len(votes)).astype(np.int64), parts[0].is_named)

    def places(self, votes: UInt16[Array, "N M"]) -> Int[Array, " N"]:
        """The number of every item's pattern, all of which must be known."""
        different, place = _different(votes)
        keys = self.votes.astype(">u2", order="C").view(f"V{2 * self.votes.shape[1]}").ravel()
        wanted = different.astype(">u2", order="C").view(f"V{2 * self.votes.shape[1]}").ravel()
        known = {key.tobytes(): number for number, key in enumerate(keys)}
        return np.array([known[key.tobytes()] for key in wanted], np.int64)[place]


def patterns_of(votes: UInt16[Array, "N M"], is_named: bool) -> Patterns:
    """The patterns of the votes on N items, as `votes_of` returns them."""
    found, place = _different(votes)
    return Patterns(found, np.bincount(place, minlength=len(found)), is_named)


def votes_of(labels: UInt16[Array, "M N"], is_named: bool) -> UInt16[Array, "N M"]:
    """The votes on every item; unless `is_named`, labels are numbered by the first models that predict them."""
    if is_named:
        return np.ascontiguousarray(labels.T)
    return _numbered(labels)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _numbered(labels):  # type: ignore[no-untyped-def]
    """Every item's labels, numbered by the first models that predict them."""
    models, items = labels.shape
    votes = np.empty((items, models), np.uint16)
    for item in range(items):
        labels_so_far = 0
        for model in range(models):
            label, vote = labels[model, item], labels_so_far
            if label == MISSING:
                vote = MISSING
            else:
                for other in range(model):
                    if labels[other, item] == label:
                        vote = votes[item, other]
                        break
                else:
                    labels_so_far += 1
            votes[item, model] = vote
    return votes


def _different(rows: UInt16[Array, "N M"]) -> tuple[UInt16[Array, "P M"], Int[Array, " N"]]:
    """Different rows in lexicographic order, and which of them each row is."""
    first, place = _grouped(np.ascontiguousarray(rows))
    found = rows[first]
    order = found.astype(">u2", order="C").view(f"V{2 * rows.shape[1]}").ravel().argsort()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return found[order], rank[place]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _grouped(rows):  # type: ignore[no-untyped-def]
    """The first of all rows that are equal, and which of these each row is; found in a hash table."""
    size = 1
    while size < 2 * len(rows):
        size *= 2
    table = np.full(size, -1, np.int32)
    first, place = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    groups = 0
    for row in range(len(rows)):
        key = GOLDEN
        for value in rows[row]:
            key = (key ^ np.uint64(value)) * GOLDEN
        slot = np.int64(mixed(key) & np.uint64(size - 1))
        while table[slot] >= 0 and not _is_equal(rows, first[table[slot]], row):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = groups
            first[groups] = row
            groups += 1
        place[row] = table[slot]
    return first[:groups], place


@numba.njit(inline="always")
def _is_equal(rows, one, other):  # type: ignore[no-untyped-def]
    differing = 0
    for column in range(rows.shape[1]):
        differing += rows[one, column] != rows[other, column]
    return differing == 0


@dataclass(frozen=True)
class Cases:
    """Every label of every pattern, as a question: is it right? The cases of a pattern are next to each other.

    `voters` are the models that predict the label, `pattern` the number of the pattern, `vote` the label or its number.
    """

    voters: Bool[Array, "c M"]
    pattern: Int[Array, " c"]
    vote: Int[Array, " c"]
    items: Int[Array, " P"]
    is_named: bool

    def __len__(self) -> int:
        return len(self.voters)

    @property
    def models(self) -> int:
        return self.voters.shape[1]

    @cached_property
    def start(self) -> Int[Array, " P"]:
        """The first case of each pattern."""
        return np.flatnonzero(np.diff(self.pattern, prepend=-1))

    @cached_property
    def pool(self) -> int:
        """The number of items, including those for which no model has a prediction."""
        return int(self.items.sum())

    @cached_property
    def is_agreed(self) -> Bool[Array, " c"]:
        """Labels that all models predict: they tell no two models apart."""
        return np.asarray(self.voters.all(axis=1))

    @cached_property
    def labels(self) -> Int[Array, " c"]:
        """The number of labels of the case's pattern."""
        return np.bincount(self.pattern, minlength=len(self.items))[self.pattern]

    def numbers(self, patterns: Int[Array, " n"], votes: Int[Array, " n"]) -> Int[Array, " n"]:
        """Numbers of the cases with these patterns and votes; −1 where there is none."""
        width = int(self.vote.max(initial=0)) + 2
        keys = self.pattern * width + self.vote
        wanted = patterns * width + np.minimum(votes, width - 1)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, place, -1)


def cases_of(patterns: Patterns) -> Cases:
    """The cases of all patterns, sorted by pattern and vote.

    Raises:
        PlanningError: the models agree on every item, so that no question can tell them apart.
    """
    votes = patterns.votes
    if len(votes) == 0 or (votes == votes[:, :1]).all():
        raise PlanningError("all models make the same predictions: no question can tell them apart")
    pattern = np.repeat(np.arange(len(votes)), votes.shape[1])
    keys = np.unique((pattern * (MISSING + 1) + votes.ravel().astype(np.int64))[votes.ravel() != MISSING])
    own, vote = np.divmod(keys, MISSING + 1)
    kept, number = np.unique(own, return_inverse=True)  # patterns with no votes at all have no cases
    empty = int(patterns.items.sum() - patterns.items[kept].sum())
    if empty:
        raise PlanningError(f"no model has a prediction for {empty} items: leave them out of the pool")
    return Cases(votes[own] == vote[:, None], number.ravel(), vote, patterns.items, patterns.is_named)


FEW_CLASSES = 12
"""With at most this many classes, models may be better at some classes than at others."""

FEATURES = (
    "constant",
    "share",
    "strongest rival",
    "leads",
    "labels",
    "skill",
    "agreed",
    "skill × share",
    "skill × leads",
)


def features(cases: Cases) -> Float[Array, "c f"]:
    """What a case's votes say before anybody is asked: see FEATURES.

    The share of models that predict the label, the largest share of another label, whether it has more votes than any
    other, the number of labels, the skill of its voters, and whether all models agree. A model's skill is the mean
    share of models that predict the same as it does, over contested items, standardised. It may count more or less for
    labels with many votes, and for those that lead: a skilled model that is alone is another matter.
    """
    share = cases.voters.mean(axis=1)
    most = np.maximum.reduceat(share, cases.start)[cases.pattern]
    is_most = share == most
    alone = np.add.reduceat(is_most.astype(np.int64), cases.start)[cases.pattern] == 1
    second = np.maximum.reduceat(np.where(is_most, 0.0, share), cases.start)[cases.pattern]
    rival = np.where(is_most, np.where(alone, second, most), most)
    count = cases.voters.sum(axis=1) * ~cases.is_agreed * cases.items[cases.pattern]
    support = count @ cases.voters.astype(np.int64)  # whole numbers: equal models must not differ by rounding
    skill = (support - support.mean()) / (support.std() or 1.0)
    skilled, leads = 3 * (cases.voters * skill).mean(axis=1), (is_most & alone) - 0.4
    columns = [
        np.ones(len(cases)),
        share - 0.5,
        rival - 0.4,
        leads,
        cases.labels / cases.models - 0.3,
        skilled,
        cases.is_agreed.astype(np.float64),
        skilled * (share - 0.5),
        skilled * leads,
    ]
    return np.column_stack(columns)
