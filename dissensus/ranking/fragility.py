"""How few judgements decide who is first (after Huang et al., 2025): single removals propose, joint refits verify."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import RankingError

StrengthsWithout = Callable[[frozenset[int]], Float[Array, " M"]]
"""Strengths after the actions with these numbers; raises `RankingError` if there are none."""

AHEAD = 1e-9
"""A lead larger than rounding: strengths that are equal in theory must not count as a flip."""

CLOSE = 1e-7
"""A lead that is this close to none is refitted before anything is said about it."""

STRIDES = 16
"""How many actions before the expected number refits begin."""


@dataclass(frozen=True)
class Action:
    """The effect of removing `cost` judgements on one question: its verdict flips, or it no longer has one.

    Two actions on the same question are mutually exclusive.
    """

    question: int
    cost: int


@dataclass(frozen=True)
class Flip:
    """Actions, by number, that verifiably cost a model first place, and how many judgements they remove."""

    actions: tuple[int, ...]
    cost: int
    loser: int
    """A model that was first, alone or with others, and no longer is."""
    leader: int | None
    """None if several models are first afterwards."""
    is_smallest: bool
    """True if every cheaper set of actions was tried; otherwise the cost is an upper bound."""


@dataclass(frozen=True)
class Alone:
    """Strengths after each action alone, fitted to the end; those that are not `is_found` have to be refitted."""

    strengths: Float[Array, "A M"]
    is_found: Bool[Array, " A"]


def fewest_removals(
    actions: Sequence[Action], strengths_without: StrengthsWithout, alone: Alone | None = None, refits: int = 5_000
) -> Flip | None:
    """The cheapest actions found that put a model strictly ahead of one that was first; None if none were found.

    If several models share first place, whatever decides between two of them counts.

    Single actions come first. Those that `alone` has are fitted already; the others are refitted, cheapest first, using
    at most four fifths of the `refits`. Then, for every challenger, the actions that gain most per judgement are added
    one by one. A set without a ranking counts as not tried.

    Raises:
        RankingError: there is no ranking to begin with.
    """
    refit = _Refit(strengths_without, refits)
    singles, untried = _singles(actions, refit, alone)
    flips = _cheapest_single(actions, singles, refit, alone)
    question, cost = (np.array([getattr(action, name) for action in actions], int) for name in ("question", "cost"))
    order = np.argsort(-refit.base, kind="stable")
    for challenger in order[1:] if refit.first.sum() == 1 else order:
        gains = np.where(singles.is_known, singles.leads[:, challenger] - refit.base[challenger], 0.0)
        path = _path(question, cost, gains)
        bound = min((_cost(actions, flip) for flip in flips), default=np.inf)
        path = path[np.cumsum(cost[path]) < bound]
        flips += _greedy_flip(actions, path, gains[path], refit, -refit.base[challenger])
    if not flips:
        return None
    best = min(flips, key=lambda flip: _cost(actions, flip))
    after, removed = strengths_without(best), _cost(actions, best)
    loser = int(np.flatnonzero(refit.first & ~are_first(after))[0])
    return Flip(tuple(sorted(best)), removed, loser, first_alone(after), removed <= _cheapest_untried(actions, untried))


@dataclass(frozen=True)
class _Singles:
    """Every model's lead after each single action; known, unless there is no ranking or it was not tried."""

    leads: Float[Array, "A M"]
    is_known: Bool[Array, " A"]


class _Refit:
    """Counts refits, and returns every model's lead over the model that was first (negative: behind it).

    If several were, over the last of them; so everything depends on the strengths, not on the order of the models.
    """

    def __init__(self, strengths_without: StrengthsWithout, refits: int) -> None:
        strengths = strengths_without(frozenset())
        self.first = are_first(strengths)
        self.base = np.where(self.first, 0.0, self.leads(strengths))
        self.strengths_without = strengths_without
        self.refits = self.left = refits

    def lead(self, chosen: frozenset[int]) -> Float[Array, " M"] | None:
        """Leads after the chosen actions; None if there is no ranking or no refit left."""
        if self.left == 0:
            return None
        self.left -= 1
        try:
            strengths = self.strengths_without(chosen)
        except RankingError:
            return None
        return self.leads(strengths)

    def leads(self, strengths: Float[Array, "*A M"]) -> Float[Array, "*A M"]:
        return strengths - strengths[..., self.first].min(axis=-1, keepdims=True)


def _singles(actions: Sequence[Action], refit: _Refit, alone: Alone | None) -> tuple[_Singles, list[int]]:
    """Leads after single actions, and the actions that were not tried or have no ranking."""
    leads, is_known = np.zeros((len(actions), len(refit.base))), np.zeros(len(actions), bool)
    if alone is not None:
        leads = refit.leads(alone.strengths)
        # what decides is refitted: a lead so small could be rounding, unless it is that over itself
        is_known = alone.is_found & ((np.abs(leads) < CLOSE).sum(axis=1) == 1)
    rest = sorted(np.flatnonzero(~is_known).tolist(), key=lambda action: actions[action].cost)
    for action in rest[: refit.refits * 4 // 5]:
        lead = refit.lead(frozenset([action]))
        if lead is not None:
            leads[action], is_known[action] = lead, True
    return _Singles(leads, is_known), np.flatnonzero(~is_known).tolist()


def _cheapest_single(
    actions: Sequence[Action], singles: _Singles, refit: _Refit, alone: Alone | None
) -> list[frozenset[int]]:
    """The cheapest single action, if any, after which a refit confirms that another model is first."""
    flipping = np.flatnonzero(singles.is_known & (singles.leads.max(axis=1, initial=0.0) > AHEAD))
    for action in sorted(flipping.tolist(), key=lambda action: actions[action].cost):
        if alone is None or _overtaken(refit.lead(frozenset([action]))):
            return [frozenset([action])]
    return []


def _path(question: Int[Array, " A"], cost: Int[Array, " A"], gains: Float[Array, " A"]) -> Int[Array, " n"]:
    """The actions that help, those that gain most per judgement first, and only the first of each question."""
    helpful = np.flatnonzero(gains > 0)
    order = helpful[np.lexsort((helpful, cost[helpful], -gains[helpful] / cost[helpful]))]
    return order[np.sort(np.unique(question[order], return_index=True)[1])]


def _greedy_flip(
    actions: Sequence[Action], path: Int[Array, " n"], gains: Float[Array, " n"], refit: _Refit, behind: float
) -> list[frozenset[int]]:
    """The flip, if any, reached by following a path of actions; no action of it is redundant.

    Effects nearly add up, so refits begin well before the sum of the gains passes what the challenger is behind. They
    go on one by one, and in longer and longer strides if that takes many.
    """
    expected = int(np.searchsorted(np.cumsum(gains), behind)) + 1
    below, size, tries = 0, max(expected - STRIDES - expected // 4, 1), 0
    while size <= len(path) and refit.left:
        if _overtaken(refit.lead(frozenset(path[:size].tolist()))):
            size = _shortest(path, below, size, refit) if size - below > 1 else size
            return [_pruned(actions, frozenset(path[:size].tolist()), refit)]
        below, tries = size, tries + 1
        stride = 1 if tries <= 2 * STRIDES else 2 ** min(tries - 2 * STRIDES, 20)
        size = len(path) if below < len(path) < below + stride else below + stride
    return []


def _shortest(path: Int[Array, " n"], below: int, size: int, refit: _Refit) -> int:
    """The shortest part of a path that still flips, by bisection between one that does not and one that does."""
    while size - below > 1:
        middle = (below + size) // 2
        if _overtaken(refit.lead(frozenset(path[:middle].tolist()))):
            size = middle
        else:
            below = middle
    return size


def _pruned(actions: Sequence[Action], chosen: frozenset[int], refit: _Refit) -> frozenset[int]:
    for action in sorted(chosen, key=lambda action: -actions[action].cost):
        if _overtaken(refit.lead(chosen - {action})):
            chosen -= {action}
    return chosen


def _overtaken(lead: Float[Array, " M"] | None) -> bool:
    return lead is not None and bool(lead.max() > AHEAD)


def are_first(strengths: Float[Array, " M"]) -> Bool[Array, " M"]:
    """The models that share first place, or the one that has it."""
    found: Bool[Array, " M"] = strengths > strengths.max() - AHEAD
    return found


def first_alone(strengths: Float[Array, " M"]) -> int | None:
    """The model that is first; None if several are."""
    first = np.flatnonzero(are_first(strengths))
    return int(first[0]) if len(first) == 1 else None


def _cost(actions: Sequence[Action], chosen: Iterable[int]) -> int:
    return sum(actions[action].cost for action in chosen)


def _cheapest_untried(actions: Sequence[Action], untried: Collection[int]) -> float:
    """Lower bound on the cost of every untried set: the untried single actions, and all pairs."""
    by_question: dict[int, int] = {}
    for action in actions:
        by_question[action.question] = min(action.cost, by_question.get(action.question, action.cost))
    pair = sorted(by_question.values())[:2]
    costs = [actions[action].cost for action in untried]
    return min([*costs, sum(pair)] if len(pair) == 2 else costs, default=np.inf)
