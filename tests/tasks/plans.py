"""Plans of rounds that need no study."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.competition.select import duels_of
from dissensus.competition.selector import Plan


def plan_of(wanted: np.ndarray, names: list[str] | None = None) -> Plan[Any]:
    """A round of the duels with `wanted[attacker, defender]`."""
    models = [f"m{number}" for number in range(len(wanted))] if names is None else names
    return Plan(1, models, np.argwhere(wanted), {}, ())


def attacks_of(models: int, newcomers: int = 0) -> np.ndarray:
    """True at [attacker, defender] of every duel; with newcomers (the last models) of those that have one."""
    names = [f"m{number}" for number in range(models)]
    return Plan(1, names, duels_of(models, newcomers, is_ordered=True), {}, ()).wanted
