"""The measures themselves, from three counts per class: the same code, and so the same floats, for every caller.

Counts are integers, every class is divided once, and classes are summed in order: equal counts give equal values,
however they were accumulated.
"""

from __future__ import annotations

import numba
import numpy as np

MIOU, MIOU_ALL, FWIOU, MPA = range(4)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def measured(measure, agreed, reference, other):  # type: ignore[no-untyped-def]
    """The value of a measure, and whether any pixel counts; 0 if none does.

    For each class: the pixels where both maps have it, where the reference has it, and where the other map has it.
    """
    total, weight, pixels = 0.0, 0, 0
    for y in range(agreed.size):
        pixels += reference[y]
        if measure == MPA:
            if reference[y] > 0:
                total += agreed[y] / reference[y]
                weight += 1
            continue
        union = reference[y] + other[y] - agreed[y]
        if union > 0:
            share = agreed[y] / union
            if measure == FWIOU:
                total += reference[y] * share
            else:
                total += share
                weight += 1
    if pixels == 0:
        return 0.0, False
    if measure == FWIOU:
        return total / pixels, True
    if measure == MIOU_ALL:
        return total / agreed.size, True
    return total / weight, True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def measured_rows(measure, agreed, reference, other):  # type: ignore[no-untyped-def]
    """The same for many pairs of maps, one per row."""
    values, is_comparable = np.empty(len(agreed)), np.empty(len(agreed), np.bool_)
    for row in range(len(agreed)):
        values[row], is_comparable[row] = measured(measure, agreed[row], reference[row], other[row])
    return values, is_comparable
