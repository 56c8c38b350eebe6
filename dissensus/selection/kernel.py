"""The inner loop of the selection: one pass over the rows, for all duels at once.

Most rows are done after a few vector instructions, as all confident models agree. Most others have two different
labels, and are done after one look at the distance of these, as it is below what the least demanding duel still takes.
Only the rest are examined duel by duel, the least demanding first. Distances are small integers (levels), so that equal
distances are equal.
"""

from __future__ import annotations

import numba
import numpy as np

from dissensus.arrays import MISSING

MANY = 16  # times as many candidates as are enough: only then is it worth looking for those of the same two labels
TILE = 1024  # rows whose labels stay in the fastest cache while all models are scanned


@numba.njit(cache=True, nogil=True, error_model="numpy")
def collect(labels, start, item_offset, levels, first, second, floor_level, floor_item, lists, filled):  # type: ignore[no-untyped-def]
    """Append candidates from row `start` on to the duels' lists until one is full; returns the row where it stopped.

    A candidate comes before its duel's floor: level above `floor_level`, or equal and item number below `floor_item`.
    `lists` is (duels, capacity, 4): item, first label, second label, level. `levels` is empty if all classes are
    equally far apart.
    """
    models, rows = labels.shape
    capacity = lists.shape[1]
    order = np.argsort(floor_level)
    lowest = floor_level[order[0]]
    latest = floor_item[floor_level == lowest].max()
    low, high = np.empty(TILE, np.uint16), np.empty(TILE, np.uint16)
    above, below = np.empty(TILE, np.uint16), np.empty(TILE, np.uint16)
    found = np.empty(TILE + 1, np.int64)
    own, distinct = np.empty(models, np.uint16), np.empty(models, np.uint16)
    apart = np.empty(len(order), np.int64)
    fullest = filled.max()
    for tile in range(start, rows, TILE):
        size = min(TILE, rows - tile)
        _extreme_labels(labels, tile, size, low, high)
        left = _disputed(low, high, size, found)
        if left == 0:
            continue
        _inner_labels(labels, tile, size, low, high, above, below)
        left = _promising(found, left, low, high, above, below, levels, lowest)
        for at in range(left):
            i = found[at]
            row = tile + i
            largest = _largest_of_three(levels, low[i], below[i], high[i] - 1)
            for model in range(models):
                own[model] = labels[model, row]
            if above[i] < below[i]:
                largest = _largest_level(own, levels, distinct)
            item = item_offset + row
            if largest < lowest or (largest == lowest and item >= latest):
                continue
            if fullest == capacity:
                return row
            count = 0
            for duel in order:
                if floor_level[duel] > largest:
                    break
                apart[count] = duel  # branch-free: the next duel overwrites one that agrees
                one, other = own[first[duel]], own[second[duel]]
                count += (one != other) & (one != MISSING) & (other != MISSING)
            for duel in apart[:count]:
                one, other = own[first[duel]], own[second[duel]]
                level = level_of(levels, one, other)
                if level > floor_level[duel] or (level == floor_level[duel] and item < floor_item[duel]):
                    place = filled[duel]
                    lists[duel, place, 0] = item
                    lists[duel, place, 1] = one
                    lists[duel, place, 2] = other
                    lists[duel, place, 3] = level
                    filled[duel] = place + 1
                    fullest = max(fullest, place + 1)
    return rows


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def level_of(levels, one, other):  # type: ignore[no-untyped-def]
    """The level of the distance between two different labels."""
    return np.int64(levels[one, other]) if levels.size else np.int64(1)


@numba.njit(cache=True, nogil=True, error_model="numpy", inline="always")
def _largest_of_three(levels, low, middle, high):  # type: ignore[no-untyped-def]
    """The largest distance between three labels in ascending order, of which the first two may be equal."""
    inner = max(level_of(levels, low, middle), level_of(levels, middle, high))
    return max(inner, level_of(levels, low, high))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _extreme_labels(labels, tile, size, low, high):  # type: ignore[no-untyped-def]
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
def _disputed(low, high, size, found):  # type: ignore[no-untyped-def]
    """Write the rows with two labels or more to `found`, and return how many there are; `high` counts from one."""
    count = np.int64(0)
    for i in range(size):  # branch-free: the next row overwrites one on which all agree
        found[count] = i
        count += np.int64(high[i]) > np.int64(low[i]) + 1
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _inner_labels(labels, tile, size, low, high, above, below):  # type: ignore[no-untyped-def]
    """The labels next to the smallest and to the largest one; with two labels, these are each other's.

    So `above` > `below` if there are two labels, they are equal if there are three, and `above` < `below` if there are
    more. MISSING is larger than any label.
    """
    for i in range(size):
        above[i], below[i] = high[i] - np.uint16(1), low[i]
    for model in range(labels.shape[0]):
        column = labels[model, tile : tile + size]
        for i in range(size):
            label = column[i]
            above[i] = min(above[i], label if label > low[i] else np.uint16(MISSING))
            below[i] = max(below[i], label if label < np.uint16(high[i] - np.uint16(1)) else np.uint16(0))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _promising(found, count, low, high, above, below, levels, lowest):  # type: ignore[no-untyped-def]
    """Keep the rows with labels that are far enough apart, or with more than three; return how many there are."""
    kept = 0
    for at in range(count):  # branch-free, so that many lookups are under way at once
        i = found[at]
        found[kept] = i
        kept += (above[i] < below[i]) | (_largest_of_three(levels, low[i], below[i], high[i] - 1) >= lowest)
    return kept


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _largest_level(own, levels, distinct):  # type: ignore[no-untyped-def]
    """Largest distance between any two labels of a row."""
    count = 0
    largest = np.int64(0)
    for label in own:
        known = label == MISSING
        for i in range(count):
            known |= distinct[i] == label
        if not known:
            for i in range(count):
                largest = max(largest, level_of(levels, distinct[i], label))
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


@numba.njit(cache=True, nogil=True, error_model="numpy")
def in_order(rows, starts):  # type: ignore[no-untyped-def]
    """The rows of each duel by (higher level, smaller item); duel d has those from starts[d] to starts[d + 1]."""
    found = np.empty_like(rows)
    for duel in range(starts.size - 1):
        own = rows[starts[duel] : starts[duel + 1]]
        # both as one number: levels take 16 bits, and items 47
        found[starts[duel] : starts[duel + 1]] = own[
            np.argsort((np.int64(1 << 16) - own[:, 3]) * (1 << 47) + own[:, 0])
        ]
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def joined(one, one_starts, other, other_starts):  # type: ignore[no-untyped-def]
    """The rows of two sets as one, still in order within each duel; fast if one set has few rows."""
    starts = one_starts + other_starts
    rows = np.empty((starts[-1], 4), np.int64)
    for duel in range(starts.size - 1):
        many, few = one[one_starts[duel] : one_starts[duel + 1]], other[other_starts[duel] : other_starts[duel + 1]]
        if len(few) > len(many):
            many, few = few, many
        place, copied = starts[duel], 0
        for row in few:
            before = _before(many, copied, row)
            rows[place : place + before - copied] = many[copied:before]
            place, copied = place + before - copied, before
            rows[place] = row
            place += 1
        rows[place : starts[duel + 1]] = many[copied:]
    return rows, starts


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _before(rows, known, row):  # type: ignore[no-untyped-def]
    """How many rows, of which some are known to be, come before another one."""
    low, high = known, len(rows)
    while low < high:
        middle = (low + high) // 2
        if rows[middle, 3] > row[3] or (rows[middle, 3] == row[3] and rows[middle, 0] < row[0]):
            low = middle + 1
        else:
            high = middle
    return low


@numba.njit(cache=True, nogil=True, error_model="numpy")
def reduced(rows, starts, is_new, floors, cap, enough, most, taken, classes):  # type: ignore[no-untyped-def]
    """The candidates of each duel that can still be taken, and the floors beyond which none can.

    Rows are in order. Duels without `is_new` have been reduced before. For the other numbers, see `Rule`.
    """
    kept, ends, floors = np.empty_like(rows), np.zeros_like(starts), floors.copy()
    for duel in range(starts.size - 1):
        own = rows[starts[duel] : starts[duel + 1]]
        if is_new[duel] and len(own) >= enough:
            walked, needed = capped(own[:, 1], own[:, 2], cap, enough, classes)
            if needed == cap:
                last = own[walked[-1]]
                own = own[: walked[-1] + 1]
                tighten(floors[duel], last[3], last[0] + 1)
            if len(own) > MANY * enough:
                own = own[_first_of_cells(own, min(2 * needed, most) + taken, classes)]
        ends[duel + 1] = ends[duel] + len(own)
        kept[ends[duel] : ends[duel + 1]] = own
    return kept[: ends[-1]].copy(), ends, floors


@numba.njit(cache=True, nogil=True, error_model="numpy")
def make_room(lists, filled, floors, cap, enough, most, taken, classes):  # type: ignore[no-untyped-def]
    """Reduce every list that is half full in place, as one full list interrupts the pass for all."""
    is_new = np.ones(1, np.bool_)
    for duel in range(len(lists)):
        if filled[duel] > lists.shape[1] // 2:
            starts = np.array([0, filled[duel]])
            rows = in_order(lists[duel, : filled[duel]], starts)
            rows, starts, floor = reduced(
                rows, starts, is_new, floors[duel : duel + 1], cap, enough, most, taken, classes
            )
            lists[duel, : len(rows)] = rows
            filled[duel], floors[duel] = len(rows), floor[0]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def tighten(floor, level, item):  # type: ignore[no-untyped-def]
    """Replace a floor by a stricter one: a higher level, or the same level and a smaller item."""
    if level > floor[0] or (level == floor[0] and item < floor[1]):
        floor[0], floor[1] = level, item


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _first_of_cells(rows, depth, classes):  # type: ignore[no-untyped-def]
    """False for rows with the same two labels as `depth` earlier ones."""
    cells = rows[:, 1] * classes + rows[:, 2]
    order = np.argsort(cells, kind="mergesort")
    is_first = np.ones(len(rows), np.bool_)
    place = 0
    for at in range(1, len(rows)):
        place = place + 1 if cells[order[at]] == cells[order[at - 1]] else 0
        is_first[order[at]] = place < depth
    return is_first
