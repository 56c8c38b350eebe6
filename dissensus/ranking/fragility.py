"""How few judgements decide who is first (after Huang et al., 2025): single refits propose, joint refits verify."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import RankingError

StrengthsWithout = Callable[[frozenset[int]], Float[Array, " M"]]
"""Strengths after the actions with these numbers; raises `RankingError` if there are none."""


@dataclass(frozen=True)
class Action:
    """The effect of removing `cost` judgements on one question: its verdict flips, or it no longer has one.

    Two actions on the same question are mutually exclusive.
    """

    question: int
    cost: int


@dataclass(frozen=True)
class Flip:
    """Actions, by number, that verifiably put another model first, and how many judgements they remove."""

    actions: tuple[int, ...]
    cost: int
    leader: int
    is_smallest: bool
    """True if every cheaper set of actions was tried; otherwise the cost is an upper bound."""


def fewest_removals(actions: Sequence[Action], strengths_without: StrengthsWithout, refits: int = 5_000) -> Flip | None:
    """The cheapest actions found that put another model strictly ahead of the first; None if none were found.

    Single actions are tried cheapest first, using at most four fifths of the `refits`; then, for every challenger, the
    actions that gain most per judgement are added one by one. A refit without a ranking counts as no change.

    Raises:
        RankingError: there is no ranking to begin with.
    """
    refit = _Refit(strengths_without, refits)
    by_cost = sorted(range(len(actions)), key=lambda action: actions[action].cost)
    tried, untried = by_cost[: refits * 4 // 5], by_cost[refits * 4 // 5 :]
    singles = {action: lead for action in tried if (lead := refit.lead(frozenset([action]))) is not None}
    flips = [frozenset([action]) for action, lead in singles.items() if _overtaken(lead)]
    for challenger in np.argsort(-refit.base, kind="stable")[1:]:
        gains = {action: lead[challenger] - refit.base[challenger] for action, lead in singles.items()}
        bound = min((_cost(actions, flip) for flip in flips), default=np.inf)
        flips += _greedy_flip(actions, gains, refit, bound)
    if not flips:
        return None
    best = min(flips, key=lambda flip: _cost(actions, flip))
    cost = _cost(actions, best)
    leader = int(np.argmax(strengths_without(best)))
    return Flip(tuple(sorted(best)), cost, leader, cost <= _cheapest_untried(actions, untried))


class _Refit:
    """Counts refits, and returns every model's lead over the model that was first (negative: behind it)."""

    def __init__(self, strengths_without: StrengthsWithout, refits: int) -> None:
        strengths = strengths_without(frozenset())
        self.first = np.argmax(strengths)
        self.base = strengths - strengths[self.first]
        self.strengths_without = strengths_without
        self.left = refits

    def lead(self, chosen: frozenset[int]) -> Float[Array, " M"] | None:
        """Leads after the chosen actions; None if there is no ranking or no refit left."""
        if self.left == 0:
            return None
        self.left -= 1
        try:
            strengths = self.strengths_without(chosen)
        except RankingError:
            return None
        return strengths - strengths[self.first]


def _greedy_flip(
    actions: Sequence[Action], gains: dict[int, float], refit: _Refit, bound: float
) -> list[frozenset[int]]:
    """The flip, if any, reached below the cost bound by adding the best gains per judgement; no action is redundant."""
    chosen: frozenset[int] = frozenset()
    helpful = (action for action, gain in gains.items() if gain > 0)
    for action in sorted(helpful, key=lambda action: -gains[action] / actions[action].cost):
        if actions[action].question in {actions[other].question for other in chosen}:
            continue
        chosen |= {action}
        if _cost(actions, chosen) >= bound:
            return []
        if _overtaken(refit.lead(chosen)):
            return [_pruned(actions, chosen, refit)]
    return []


def _pruned(actions: Sequence[Action], chosen: frozenset[int], refit: _Refit) -> frozenset[int]:
    for action in sorted(chosen, key=lambda action: -actions[action].cost):
        if _overtaken(refit.lead(chosen - {action})):
            chosen -= {action}
    return chosen


def _overtaken(lead: Float[Array, " M"] | None) -> bool:
    # More than rounding: strengths that are equal in theory must not count as a flip.
    return lead is not None and bool(lead.max() > 1e-9)


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
