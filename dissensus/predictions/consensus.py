"""A ranking without people: how often a model votes with the plurality."""

from __future__ import annotations

import numpy as np
from numba import njit

from dissensus.arrays import MISSING, Array, Int, UInt16


def plurality_agreement(labels: UInt16[Array, "M n"]) -> tuple[Int[Array, " M"], int]:
    """Number of items on which each model's label is the plurality's, and the number of items counted.

    Items for which any model has no label are not counted. Labels that tie for the most votes all count as the
    plurality's. Both numbers add up over chunks of items.
    """
    return _agreement(np.ascontiguousarray(labels, dtype=np.uint16))


@njit(cache=True, nogil=True)
def _agreement(labels: UInt16[Array, "M n"]) -> tuple[Int[Array, " M"], int]:
    models, items = labels.shape
    counts = np.zeros(models, np.int64)
    votes = np.empty(models, np.int64)
    counted = 0
    unanimous = 0
    for item in range(items):
        first = labels[0, item]
        same = True
        complete = first != MISSING
        for model in range(1, models):
            same &= labels[model, item] == first
            complete &= labels[model, item] != MISSING
        counted += complete
        if complete and same:
            unanimous += 1
        elif complete:
            most = 0
            for model in range(models):
                votes[model] = 0
                for other in range(models):
                    votes[model] += labels[model, item] == labels[other, item]
                most = max(most, votes[model])
            for model in range(models):
                counts[model] += votes[model] == most
    return counts + unanimous, counted
