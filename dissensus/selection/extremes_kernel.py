"""The inner loops for the extremes: one pass over the rows, for all attackers of all defenders at once.

Scores are kept as they are, column by column; the *place* of a score is how many edges of its model it reaches: 0 below
the first edge or if there is no score, e + 1 in cell e. Most rows are done after a few vector instructions per column:
between the lowest and the highest place of the item, no defender's cell has a bound that one of its scores can exceed.
The few others are examined row by row, all attackers as one vector, and finally defender by defender.
"""

from __future__ import annotations

import numba
import numpy as np

TILE = 8192  # rows of a column that stay in the cache while all models are scanned
EDGES = 8  # edges a score is compared with at once; fewer loads and stores than one by one
LANES = 16  # attackers compared at once; rows are padded to a multiple, so that there is no scalar remainder


@numba.njit(cache=True, nogil=True, error_model="numpy")
def scan_rows(scores, first_item, edges, places, bounds, counts, kept_scores, kept_items):  # type: ignore[no-untyped-def]
    """Count the rows in every cell, and keep every attacker's most extreme scores in each cell.

    The first axis of `bounds`, `kept_scores` and `kept_items` is 0 for the lowest and 1 for the highest. Highest scores
    are stored negated, so that both lists ascend. `bounds[side, defender, place, attacker]`: the bound that a score
    must lie strictly beyond. Edges are padded with NaN to a multiple of EDGES. Everything but scores and edges is
    updated in place.
    """
    models, last, lanes = scores.shape[0], bounds.shape[2] - 1, bounds.shape[3]
    lowest, highest = np.empty(TILE, places.dtype), np.empty(TILE, places.dtype)
    is_beyond = np.empty(TILE, np.uint8)
    found = np.empty(TILE + 1, np.int64)
    rows = np.zeros((TILE, lanes), scores.dtype)
    loosest = np.empty((2, last + 1, last + 1, lanes), scores.dtype)
    is_open = np.empty((last + 1, last + 1), np.uint8)
    for tile in range(0, scores.shape[1], TILE):
        size = min(TILE, scores.shape[1] - tile)
        _loosen(bounds, loosest)
        _open(loosest, edges, is_open)
        lowest[:size], highest[:size], is_beyond[:size] = last, 0, 0
        for model in range(models):
            column = scores[model, tile : tile + size]
            _find_places(column, edges[model], places[model])
            _count(places[model, :size], counts[model])
            _widen(places[model], size, lowest, highest)
            _mark(column, loosest[0, 0, last, model], loosest[1, 0, last, model], is_beyond)
        left = _candidates(is_beyond, lowest, highest, is_open, size, found)
        for model in range(models):
            _pick(scores[model, tile : tile + size], found, left, rows, model)
        for i in range(left):
            row = found[i]
            low, high = lowest[row], highest[row]
            if _is_beyond(rows, i, loosest[0, low, high], loosest[1, low, high]):
                for defender in range(models):
                    place = places[defender, row]
                    low_bounds, high_bounds = bounds[0, defender, place], bounds[1, defender, place]
                    if _is_beyond(rows, i, low_bounds, high_bounds):
                        kept = kept_scores[:, defender, place - 1], kept_items[:, defender, place - 1]
                        _keep(rows[i], first_item + tile + row, low_bounds, high_bounds, *kept)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _loosen(bounds, loosest):  # type: ignore[no-untyped-def]
    """For every lowest and highest place of an item: the loosest bounds of all defenders' cells in between."""
    _, models, places, lanes = bounds.shape
    for lowest in range(places):
        for j in range(lanes):
            loosest[0, lowest, lowest, j], loosest[1, lowest, lowest, j] = -np.inf, np.inf
        for defender in range(models):
            for j in range(lanes):
                low, high = bounds[0, defender, lowest, j], bounds[1, defender, lowest, j]
                loosest[0, lowest, lowest, j] = max(loosest[0, lowest, lowest, j], low)
                loosest[1, lowest, lowest, j] = min(loosest[1, lowest, lowest, j], high)
    for lowest in range(places):
        for highest in range(lowest + 1, places):
            for j in range(lanes):
                low, high = loosest[0, highest, highest, j], loosest[1, highest, highest, j]
                loosest[0, lowest, highest, j] = max(loosest[0, lowest, highest - 1, j], low)
                loosest[1, lowest, highest, j] = min(loosest[1, lowest, highest - 1, j], high)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _open(loosest, edges, is_open):  # type: ignore[no-untyped-def]
    """Whether any score can lie beyond the loosest bounds, given an item's lowest and highest place."""
    models, last = edges.shape[0], is_open.shape[0] - 1
    for lowest in range(last + 1):
        for highest in range(lowest, last + 1):
            is_open[lowest, highest] = 0
            for j in range(models):
                least = edges[j, lowest - 1] if lowest > 0 else -np.inf
                most = edges[j, highest] if highest < last else np.inf
                low, high = loosest[0, lowest, highest, j], loosest[1, lowest, highest, j]
                is_open[lowest, highest] |= (least < low) | (high < most)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _find_places(column, edges, places):  # type: ignore[no-untyped-def]
    """The place of every score: how many edges it reaches. No score reaches a NaN edge."""
    places[: column.size] = 0
    for e in range(0, edges.size, EDGES):
        a, b, c, d = edges[e], edges[e + 1], edges[e + 2], edges[e + 3]
        f, g, h, k = edges[e + 4], edges[e + 5], edges[e + 6], edges[e + 7]
        for i in range(column.size):
            x = column[i]
            places[i] += (x >= a) + (x >= b) + (x >= c) + (x >= d) + (x >= f) + (x >= g) + (x >= h) + (x >= k)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count(places, counts):  # type: ignore[no-untyped-def]
    """Add to `counts[e]` how many scores reach edge e."""
    for e in range(counts.size):
        edge = places.dtype.type(e)  # small types, so that a vector has many lanes; a tile does not overflow the count
        count = np.uint16(0)
        for i in range(places.size):
            count = np.uint16(count + np.uint16(places[i] > edge))
        counts[e] += count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _widen(places, size, lowest, highest):  # type: ignore[no-untyped-def]
    """Update the lowest and the highest place of every row with one more model's places."""
    for i in range(size):
        lowest[i] = min(lowest[i], places[i])
        highest[i] = max(highest[i], places[i])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _mark(column, low, high, is_beyond):  # type: ignore[no-untyped-def]
    """Mark the rows where the model's score lies beyond the loosest bounds of all cells."""
    for i in range(column.size):
        is_beyond[i] |= (column[i] < low) | (column[i] > high)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _candidates(is_beyond, lowest, highest, is_open, size, found):  # type: ignore[no-untyped-def]
    """Write the rows that are left to examine to `found`, and return how many there are."""
    count = 0
    for i in range(size):  # branch-free: the next row overwrites one that is not a candidate
        found[count] = i
        count += is_beyond[i] & is_open[lowest[i], highest[i]]
    return count


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pick(column, found, count, rows, model):  # type: ignore[no-untyped-def]
    """Copy a model's scores of the rows found; one that is not finite is missing (NaN), and lies beyond no bound."""
    for i in range(count):
        score = column[found[i]]
        rows[i, model] = score if np.isfinite(score) else np.nan


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _is_beyond(rows, i, low, high):  # type: ignore[no-untyped-def]
    """True if any score of the row lies beyond its attacker's bounds; a missing score (NaN) never does."""
    count = np.int32(0)  # counting compiles to vector instructions, but stopping at the first would not
    for j in range(low.size):
        score = rows[i, j]
        count = np.int32(count + ((score < low[j]) | (score > high[j])))
    return count > 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _keep(row, item, low, high, scores, items):  # type: ignore[no-untyped-def]
    """Put the row's extreme scores in the lists of one cell, and tighten its bounds."""
    for attacker in range(scores.shape[1]):
        score = row[attacker]
        if score < low[attacker]:
            low[attacker] = min(low[attacker], _inserted(score, item, scores[0, attacker], items[0, attacker]))
        if score > high[attacker]:
            high[attacker] = max(high[attacker], -_inserted(-score, item, scores[1, attacker], items[1, attacker]))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _inserted(score, item, scores, items):  # type: ignore[no-untyped-def]
    """Insert a score after equal ones, as items come in ascending order; returns the last score of the list."""
    slot = scores.size - 1
    while slot > 0 and score < scores[slot - 1]:
        scores[slot], items[slot] = scores[slot - 1], items[slot - 1]
        slot -= 1
    scores[slot], items[slot] = score, item
    return scores[-1]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def pair_up(scores, items, counts, levels, window, wanted, gone, starts, most):  # type: ignore[no-untyped-def]
    """All pairs in order (attacker, defender, level, rank, both items), their scores, and whether the lists sufficed.

    The lists are those that `scan_rows` keeps. Items in gone[starts[d] : starts[d + 1]] are skipped, where d is
    defender · M + attacker.
    """
    models = len(counts)
    size = wanted.sum() * len(levels) * most
    found, values, count = np.empty((size, 6), np.int64), np.empty((size, 2)), 0
    for defender in range(models):
        for level in range(len(levels)):
            first, last = levels[level]
            for attacker in range(models):
                if wanted[attacker, defender]:
                    duel = defender * models + attacker
                    lists = scores[:, defender, first:last, attacker], items[:, defender, first:last, attacker]
                    out = found[count : count + most], values[count : count + most]
                    passed = gone[starts[duel] : starts[duel + 1]]
                    pairs = _pair_level(*lists, counts[defender, first:last], window, passed, *out)
                    if pairs < 0:
                        return found[:count], values[:count], False
                    for rank in range(pairs):
                        found[count + rank, :4] = (attacker, defender, level, rank + 1)
                    count += pairs
    return found[:count], values[:count], True


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _pair_level(scores, items, counts, window, gone, found, values):  # type: ignore[no-untyped-def]
    """Find pairs in the lists of one level's cells; returns how many, or −1 if longer lists are needed to tell.

    The pair with the largest difference in any window comes first; ties go to the smaller low item, then the smaller
    high item.
    """
    cells, most = counts.size, len(found)
    passed = np.concatenate((gone, np.empty(2 * most, np.int64)))
    for rank in range(most):
        used = gone.size + 2 * rank
        best = (0.0, 0, 0, 0.0, 0.0)
        for start in range(max(1, cells - window + 1)):
            stop = min(start + window, cells)
            low, low_item, low_rest = _first_left(scores[0], items[0], counts, start, stop, passed[:used])
            high, high_item, high_rest = _first_left(scores[1], items[1], counts, start, stop, passed[:used])
            if (low_rest <= low or high_rest <= high) and min(low, low_rest) < -min(high, high_rest):
                return -1
            pair = (low + high, low_item, high_item, low, -high)  # the larger the difference, the further below zero
            if low < -high and pair < best:
                best = pair
        if best[0] == 0.0:
            return rank
        _, found[rank, 4], found[rank, 5], values[rank, 0], values[rank, 1] = best
        passed[used : used + 2] = found[rank, 4:]
    return most


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _first_left(scores, items, counts, start, stop, passed):  # type: ignore[no-untyped-def]
    """The first score and item in the cells' lists not passed over; the lowest score that may follow a used-up list."""
    first, first_item, rest = np.inf, -1, np.inf
    depth = items.shape[1]
    for cell in range(start, stop):
        slot = 0
        while slot < depth and items[cell, slot] >= 0 and (passed == items[cell, slot]).any():
            slot += 1
        if slot == depth:
            if counts[cell] > depth:
                rest = min(rest, scores[cell, depth - 1])
        elif items[cell, slot] >= 0 and (scores[cell, slot], items[cell, slot]) < (first, first_item):
            first, first_item = scores[cell, slot], items[cell, slot]
    return first, first_item, rest
