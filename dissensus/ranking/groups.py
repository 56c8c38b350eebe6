"""Which models can be compared with each other at all."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import RankingError


def connected_groups(compared: Bool[Array, "M M"]) -> tuple[tuple[int, ...], ...]:
    """Groups of models connected by judged items, directly or indirectly: largest first, then by smallest member."""
    from scipy.sparse.csgraph import (
        connected_components,  # takes a quarter of a second to import, and few commands need it
    )

    _, group = connected_components(compared, directed=False)
    members = [tuple(np.flatnonzero(group == number).tolist()) for number in np.unique(group)]
    return tuple(sorted(members, key=lambda models: (-len(models), models)))


def require_connected(compared: Bool[Array, "M M"]) -> None:
    """Reject comparisons that do not connect all models.

    Raises:
        RankingError: no judged item connects one group of models with another.
    """
    if np.all(compared | np.eye(len(compared), dtype=bool)):  # the usual case; checked for every resample
        return
    groups = connected_groups(compared)
    if len(groups) > 1:
        raise RankingError(
            f"no judged item connects {numbered(groups[1])} with {numbered(groups[0])}: "
            "judge items on which they differ, or rank each group separately"
        )


def numbered(models: Iterable[int]) -> str:
    """'model 3, model 5', as errors of this package refer to models; `words.named` fills in their names."""
    return ", ".join(f"model {model}" for model in models)
