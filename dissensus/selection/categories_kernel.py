"""The inner loop for the groups: one pass over the items, for all duels at once.

The categories that an item counts for are found once per defender; each attacker then costs a look at its concordance
and, for each of these categories, a comparison with the group's floor.
"""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def collect(value, is_comparable, differs, share, start, first_item, scales, floors, counts, columns):  # type: ignore[no-untyped-def]
    """Append candidates from item `start` on until there may be no room for those of another item.

    Returns the item where it stopped, and the number of candidates. `floors` are the concordance and the item of the
    last candidate that each group [attacker, defender, category] still takes. `counts` (predicted, in scale, valid) and
    `columns` (attacker, defender, category, item, concordance, share, whether the item counts for no other category of
    the defender) are updated in place.
    """
    items, models, classes = share.shape
    floor_value, floor_item = floors
    predicted, in_scale, valid = counts
    attackers, defenders, categories, numbers, values, shares, is_alone = columns
    found = np.empty(classes, np.int64)
    filled = 0
    for n in range(start, items):
        if filled + models * (models - 1) * (classes - 1) > numbers.size:
            return n, filled
        for i in range(models):
            count = 0
            for y in range(1, classes):
                if share[n, i, y] > 0:
                    predicted[i, y] += 1
                    if scales[y, 0] <= share[n, i, y] <= scales[y, 1]:
                        in_scale[i, y] += 1
                        found[count] = y
                        count += 1
            if count == 0:
                continue
            for j in range(models):
                concordance = value[n, i, j]
                if i == j or not (is_comparable[n, i, j] and differs[n, i, j] and np.isfinite(concordance)):
                    continue
                for at in range(count):
                    y = found[at]
                    valid[j, i, y] += 1
                    last = floor_value[j, i, y]
                    if concordance < last or (concordance == last and first_item + n < floor_item[j, i, y]):
                        attackers[filled], defenders[filled], categories[filled] = j, i, y
                        numbers[filled] = first_item + n
                        values[filled], shares[filled] = concordance, share[n, i, y]
                        is_alone[filled] = count == 1
                        filled += 1
    return items, filled
