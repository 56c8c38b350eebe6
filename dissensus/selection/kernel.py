"""The inner loop of the selection: one pass over the rows, for all duels at once.

Most rows are done after a few vector instructions, as all confident models agree. Most others are done after a look at
the few distinct labels, as their largest distance is below what the least demanding duel still takes. Only the rest are
examined duel by duel. Distances are small integers (levels), so that equal distances are equal.
"""

from __future__ import annotations

import numba
import numpy as np

from dissensus.arrays import MISSING

TILE = 4096  # rows whose labels stay in the cache while all models are scanned


@numba.njit(cache=True, nogil=True, error_model="numpy")
def collect(labels, start, item_offset, levels, first, second, floor_level, floor_item, lists, filled):  # type: ignore[no-untyped-def]
    """Append candidates from row `start` on to the duels' lists until one is full; returns the row where it stopped.

    A candidate comes before its duel's floor: level above `floor_level`, or equal and item number below `floor_item`.
    `lists` is (duels, capacity, 4): item, first label, second label, level.
    """
    models, rows = labels.shape
    capacity = lists.shape[1]
    lowest = floor_level.min()
    latest = floor_item[floor_level == lowest].max()
    low = np.empty(TILE, np.uint16)
    high = np.empty(TILE, np.uint16)
    distinct = np.empty(models, np.uint16)
    for tile in range(start, rows, TILE):
        size = min(TILE, rows - tile)
        _label_range(labels, tile, size, low, high)
        for i in range(size):
            if high[i] <= low[i] + 1:  # all labels agree, or fewer than two are given; `high` counts from one
                continue
            row = tile + i
            largest = _largest_level(labels, row, levels, distinct)
            if largest < lowest or (largest == lowest and item_offset + row >= latest):
                continue
            for duel in range(first.size):
                if filled[duel] == capacity:
                    return row
            item = item_offset + row
            for duel in range(first.size):
                one, other = labels[first[duel], row], labels[second[duel], row]
                if one == other or MISSING in (one, other):
                    continue
                level = levels[one, other]
                if level > floor_level[duel] or (level == floor_level[duel] and item < floor_item[duel]):
                    place = filled[duel]
                    lists[duel, place, 0] = item
                    lists[duel, place, 1] = one
                    lists[duel, place, 2] = other
                    lists[duel, place, 3] = level
                    filled[duel] = place + 1
    return rows


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _label_range(labels, tile, size, low, high):  # type: ignore[no-untyped-def]
    """Smallest label and one more than the largest label of each row; MISSING + 1 wraps to zero and so never counts."""
    low[:size] = MISSING
    high[:size] = 0
    for model in range(labels.shape[0]):
        column = labels[model, tile : tile + size]
        for i in range(size):
            label = column[i]
            after = np.uint16(label + np.uint16(1))
            low[i] = min(low[i], label)
            high[i] = max(high[i], after)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _largest_level(labels, row, levels, distinct):  # type: ignore[no-untyped-def]
    """Largest distance between any two labels of a row."""
    count = 0
    largest = 0
    for model in range(labels.shape[0]):
        label = labels[model, row]
        known = label == MISSING
        for i in range(count):
            known |= distinct[i] == label
        if not known:
            for i in range(count):
                largest = max(largest, levels[distinct[i], label])
            distinct[count] = label
            count += 1
    return largest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def capped(first_label, second_label, cap, most, classes):  # type: ignore[no-untyped-def]
    """The positions of `most` rows, or of all, in the order in which they are taken, and the cap that this needed.

    Rows are taken greedily in the given order, at most `cap` per label of either model. The cap rises by one, and the
    walk starts again, as long as there are too few. Each walk takes something: the first row left fits a higher cap.
    """
    first_count = np.zeros(classes, np.int64)
    second_count = np.zeros(classes, np.int64)
    is_taken = np.zeros(first_label.size, np.bool_)
    taken = np.empty(min(most, first_label.size), np.int64)
    count = 0
    while True:
        for i in range(first_label.size):
            if count == taken.size:
                return taken, cap
            if is_taken[i] or first_count[first_label[i]] >= cap or second_count[second_label[i]] >= cap:
                continue
            first_count[first_label[i]] += 1
            second_count[second_label[i]] += 1
            is_taken[i] = True
            taken[count] = i
            count += 1
        if count == taken.size:
            return taken, cap
        cap += 1
