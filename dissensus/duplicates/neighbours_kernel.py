"""Compiled loops of the search for nearest neighbours.

Every query has a heap of its k best points so far, as squared distances with positions, worst first; of two equal ones,
the larger position is worse.
"""

from __future__ import annotations

import numba
import numpy as np

STEP = 64
"""Dimensions between two looks at whether a distance is already too large."""
LANES = 64
"""Bounds that are looked at together: hardly any of them is small enough."""


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def squared(queries, row, among, column, limit):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Squared distance as a sum of squared differences in float64; a partial sum above the limit if it is larger."""
    total = 0.0
    size = queries.shape[1]
    whole = size - size % STEP
    for start in range(0, whole, STEP):
        part = 0.0
        for place in range(STEP):
            difference = np.float64(queries[row, start + place]) - np.float64(among[column, start + place])
            part += difference * difference
        total += part
        if total > limit:
            return total
    for place in range(whole, size):
        difference = np.float64(queries[row, place]) - np.float64(among[column, place])
        total += difference * difference
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def push(distances, positions, distance, position):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Replace the worst of a heap by something better."""
    size, place = len(distances), 0
    while True:
        child = 2 * place + 1
        if child >= size:
            break
        if child + 1 < size and (
            distances[child + 1] > distances[child]
            or (distances[child + 1] == distances[child] and positions[child + 1] > positions[child])
        ):
            child += 1
        if distances[child] < distance or (distances[child] == distance and positions[child] < position):
            break
        distances[place], positions[place] = distances[child], positions[child]
        place = child
    distances[place], positions[place] = distance, position


@numba.njit(cache=True, nogil=True, error_model="numpy")
def first_limits(bounds, queries, among, self_at, k, limits):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The largest distance of the k points of a tile with the least bounds: the k nearest are no farther away.

    `self_at` is the column of the first query itself, negative if it is not among the points.
    """
    least, places = np.empty(k, np.float64), np.empty(k, np.int64)
    for row in range(bounds.shape[0]):
        least[:], places[:] = np.inf, len(among)
        for column in range(bounds.shape[1]):
            if bounds[row, column] < least[0] and (self_at < 0 or column != row + self_at):
                push(least, places, np.float64(bounds[row, column]), column)
        farthest = 0.0
        for place in places:
            farthest = max(farthest, squared(queries, row, among, place, np.inf))
        limits[row] = farthest


@numba.njit(cache=True, nogil=True, error_model="numpy")
def any_below(bounds, row, start, row_bound, column_bound):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Whether any of the next bounds of a row is small enough; as a loop that compilers can vectorise."""
    hits = np.int32(0)
    for lane in range(start, start + LANES):
        hits += np.int32((bounds[row, lane] <= row_bound) | (bounds[row, lane] <= column_bound[lane]))
    return hits > 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def close_pairs(  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    bounds, queries, among, row_bound, column_bound, row_limit, column_limit, first_column, rows, columns, distances
):
    """Measure all pairs of a tile whose bound does not exclude them; keep those within a limit, and return how many.

    A pair is excluded if its bound is above both the row's and the column's. `first_column` is the number of the first
    row's own column in a tile of points with themselves, where only what is to the right of it counts; otherwise it is
    smaller than −rows.
    """
    found = 0
    height, width = bounds.shape
    for row in range(height):
        start = max(0, row + first_column + 1)
        while start < width:
            stop = min(start + LANES, width)
            if stop - start < LANES or any_below(bounds, row, start, row_bound[row], column_bound):
                for column in range(start, stop):
                    if bounds[row, column] <= row_bound[row] or bounds[row, column] <= column_bound[column]:
                        limit = max(row_limit[row], column_limit[column])
                        distance = squared(queries, row, among, column, limit)
                        if distance <= limit:
                            rows[found], columns[found], distances[found] = row, column, distance
                            found += 1
            start = stop
    return found


@numba.njit(cache=True, nogil=True, error_model="numpy")
def enter(heaps, positions, who, others, names, distances):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Enter measured pairs into the heaps of one side."""
    for number in range(len(who)):
        one, name, distance = who[number], names[others[number]], distances[number]
        if distance < heaps[one, 0] or (distance == heaps[one, 0] and name < positions[one, 0]):
            push(heaps[one], positions[one], distance, name)
