"""What the tasks share where they say on what each model fails."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool


def beside(
    models: Sequence[str], known: Bool[Array, " M"], failed: Bool[Array, " M"], own: int
) -> dict[str, tuple[str, ...]]:
    """The other models that are right, and those that are wrong, on one item."""
    others = [number for number in np.flatnonzero(known).tolist() if number != own]
    return {
        "right": tuple(models[number] for number in others if not failed[number]),
        "wrong": tuple(models[number] for number in others if failed[number]),
    }
