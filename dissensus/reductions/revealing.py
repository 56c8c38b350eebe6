"""Images that people uncover step by step: from nothing to the original in at most `STEPS` steps per axis (laconic,
section 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import ReductionError
from dissensus.reductions.pictures import Levels, Reduction

STEPS = 20
Spacing = Literal["even", "geometric"]
"""How much a step adds: always the same number of atomic steps, as in the paper, or always the same share of what is
there already. Even steps show 14 values per channel at once, far more than people need."""


def levels_at(
    reduction: Reduction, shape: tuple[int, int], steps: Sequence[int], spacing: Spacing = "geometric"
) -> Levels:
    """The levels after this many steps along each axis: none leaves nothing, `STEPS` along all axes everything.

    Raises:
        ReductionError: the number of steps is not that of axes, or one is not from 0 to `STEPS`.
    """
    if len(steps) != len(reduction.axes) or not all(0 <= step <= STEPS for step in steps):
        raise ReductionError(f"expected {len(reduction.axes)} numbers from 0 to {STEPS}, not {list(steps)}")
    nothing = reduction.nothing(shape)
    return tuple(most - int(_added(most, spacing)[step]) for most, step in zip(nothing, steps, strict=True))


@lru_cache(4096)
def _added(most: int, spacing: Spacing) -> Int[Array, " s"]:
    """How many atomic steps are undone after 0 to `STEPS` steps; every step undoes at least one while there are any."""
    share = np.arange(STEPS + 1) / STEPS
    if spacing == "even":
        return np.rint(most * share).astype(np.int64)
    grown = np.rint((most + 1.0) ** share - 1).astype(np.int64)
    return np.minimum(np.maximum(grown, np.arange(STEPS + 1)), most)
