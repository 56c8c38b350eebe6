"""Playing the planner on pools whose truth is known: what it reports at each budget, and how often that is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.pools import Collection, credit
from benchmarks.tables import Row
from dissensus.arrays import Array, Float
from dissensus.planning.draws import Shares
from dissensus.planning.guard import guarded
from dissensus.planning.planner import Planner
from dissensus.planning.replay import Look, replay

BUDGETS = (250, 700, 2000)
LABELS = (10, 25, 50, 75, 100, 150, 200, 300, 500)
"""Budgets where one answer is the true label of an item."""


def seeded(*seed: int) -> np.random.Generator:
    """The generator for one purpose (the first number), run and so on."""
    return np.random.default_rng([15, *seed])


def looks_at(looks: Iterator[Look], budgets: Sequence[int]) -> list[Look]:
    """The looks at the budgets; the last one once everything has been asked."""
    found = list(looks)
    return [next((look for look in found if look.answers >= budget), found[-1]) for budget in budgets]


def reported(look: Look) -> Float[Array, " M"]:
    """The accuracies that people are told: those of the belief, or what the guard makes of them."""
    return guarded(look.known, look.ledger).known.mean


def found_best(data: Collection, budgets: Sequence[int], seed: int, shares: Shares | None = None) -> list[float]:
    """Whether the planner chooses the best model, at each number of labels."""
    cases, truth = data.pool.cases(is_named=True)
    planner = Planner(cases, is_whole=True, is_exclusive=True, goal="best", shares=shares)
    return [
        credit(reported(look), data.pool.is_best) for look in looks_at(replay(planner, truth, budgets, seed), budgets)
    ]


def shares_at(values: Float[Array, "r b"], budgets: Sequence[int]) -> Row:
    """Means at each budget, and the first budget from which on they are at least 90 % and 100 %."""
    means = values.mean(axis=0)
    row: Row = {str(budget): round(float(mean), 3) for budget, mean in zip(budgets, means, strict=True)}
    for level in (0.9, 1.0):
        low = np.flatnonzero(means < level - 1e-9)
        first = 0 if len(low) == 0 else int(low[-1]) + 1
        row[f"first with {level:.0%}"] = budgets[first] if first < len(budgets) else f"> {budgets[-1]}"
    return row
