"""Who agrees with whom: the items of a pool, grouped by the votes of the models."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, Int, UInt16
from dissensus.errors import PlanningError


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
    votes = np.full(labels.T.shape, MISSING, np.uint16)
    labels_so_far = np.zeros(labels.shape[1], np.uint16)
    for model, own in enumerate(labels):
        vote = np.where(own == MISSING, MISSING, labels_so_far).astype(np.uint16)
        for other in range(model):
            vote = np.where((labels[other] == own) & (own != MISSING), votes[:, other], vote)
        votes[:, model] = vote
        labels_so_far += vote == labels_so_far
    return votes


def _different(rows: UInt16[Array, "N M"]) -> tuple[UInt16[Array, "P M"], Int[Array, " N"]]:
    """Different rows in lexicographic order, and which of them each row is."""
    keys = rows.astype(">u2", order="C").view(f"V{2 * rows.shape[1]}").ravel()
    found, place = np.unique(keys, return_inverse=True)
    return found.view(">u2").reshape(len(found), rows.shape[1]).astype(np.uint16), place.ravel()


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
