"""The loops of `frozen`: Newton steps with a fixed Hessian, for a block of tables at once.

Tables lie side by side, so that the innermost loops go over tables and use vector instructions. The probabilities need
no exponential per pair: with s = exp(θ / 2), i wins with s_i² / (s_i² + s_j² + ν s_i s_j).
"""

from __future__ import annotations

import numba
import numpy as np

FAR = 150.0
"""Half a log-strength beyond which nothing changes any more: exp(2 · 150) is still a number."""


@numba.njit(cache=True, nogil=True, error_model="numpy")
def ascents(start, inverse, begins, second, won, lost, tied, is_wanted, steps, small):  # type: ignore[no-untyped-def]
    """Strengths with mean zero of a block of tables, and which of them were found: their steps vanished.

    Pairs are sorted by their first model; those of model i begin at `begins[i]`. `tied` has no rows if there are no
    ties. Tables that are not wanted are left out. What is found for a table does not depend on the others of its block.
    """
    free, tables = len(inverse), won.shape[1]
    models = len(begins) - 1
    trials, balance = _constants(begins, second, won, lost, tied, free)
    point, root = np.empty((free, tables)), np.empty((free, tables))
    slope, step = np.empty((free, tables)), np.empty((free, tables))
    for place in range(free):
        point[place] = start[place]
    size, is_going, is_done = np.empty(tables), is_wanted.astype(np.float64), np.zeros(tables, np.bool_)
    for _ in range(steps):
        if not is_going.any():
            break
        _slopes(point, root, begins, second, trials, balance, slope)
        size[:] = 0.0
        for place in range(free):
            step[place] = 0.0
            for other in range(free):
                for table in range(tables):
                    step[place, table] += inverse[place, other] * slope[other, table]
            for table in range(tables):
                point[place, table] += step[place, table] * is_going[table]
                size[table] = max(size[table], abs(step[place, table]))
        for table in range(tables):
            if is_going[table] and not (small <= size[table] < 1e3):
                is_done[table] = size[table] < small
                is_going[table] = 0.0
    strengths = np.empty((tables, models))
    for table in range(tables):
        strengths[table] = point[:models, table] - point[:models, table].mean()
    return strengths, is_done


@numba.njit(cache=True, nogil=True)
def _constants(begins, second, won, lost, tied, free):  # type: ignore[no-untyped-def]
    """Trials of every pair; and half the wins minus losses of every model, then the number of ties."""
    models, tables = len(begins) - 1, won.shape[1]
    trials, balance = np.empty(won.shape), np.zeros((free, tables))
    for i in range(models):
        for pair in range(begins[i], begins[i + 1]):
            for table in range(tables):
                trials[pair, table] = won[pair, table] + lost[pair, table]
            for table in range(tables):
                balance[i, table] += 0.5 * (won[pair, table] - lost[pair, table])
            for table in range(tables):
                balance[second[pair], table] -= 0.5 * (won[pair, table] - lost[pair, table])
    for pair in range(len(tied)):
        for table in range(tables):
            trials[pair, table] += tied[pair, table]
        for table in range(tables):
            balance[models, table] += tied[pair, table]
    return trials, balance


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def _slopes(point, root, begins, second, trials, balance, slope):  # type: ignore[no-untyped-def]
    """Gradient of the log-likelihood; without ties, ν is zero."""
    models, tables = len(begins) - 1, point.shape[1]
    nu, expected, own, more = np.zeros(tables), np.zeros(tables), np.empty(tables), np.empty(tables)
    for place in range(models):
        for table in range(tables):
            root[place, table] = np.exp(min(max(0.5 * point[place, table], -FAR), FAR))
    if len(point) > models:
        for table in range(tables):
            nu[table] = np.exp(min(max(point[models, table], -2 * FAR), 2 * FAR))
    slope[:] = balance
    for i in range(models):
        own[:], more[:] = root[i], 0.0
        for pair in range(begins[i], begins[i + 1]):
            j = second[pair]
            for table in range(tables):
                one, other = own[table], root[j, table]
                even = one * other
                share = trials[pair, table] / (one * one + other * other + nu[table] * even)
                lead = 0.5 * share * (one * one - other * other)
                expected[table] += share * even
                more[table] += lead
                slope[j, table] += lead
        for table in range(tables):
            slope[i, table] -= more[table]
    if len(point) > models:
        for table in range(tables):
            slope[models, table] -= nu[table] * expected[table]


@numba.njit(cache=True, nogil=True)
def are_strong(models, first, second, won, lost):  # type: ignore[no-untyped-def]
    """For every table, whether wins lead from every model to every other."""
    tables = won.shape[1]
    is_strong = np.ones(tables, np.bool_)
    for ways in ((won, lost), (lost, won)):
        ahead, back = ways
        is_reached = np.zeros((models, tables), np.uint8)
        is_reached[0] = 1
        has_grown = True
        while has_grown:
            has_grown = False
            for pair in range(len(first)):
                i, j = first[pair], second[pair]
                grown = np.uint8(0)
                for table in range(tables):
                    one, other = is_reached[i, table], is_reached[j, table]
                    now = one | (other & np.uint8(back[pair, table] > 0))
                    then = other | (one & np.uint8(ahead[pair, table] > 0))
                    grown |= (now ^ one) | (then ^ other)
                    is_reached[i, table], is_reached[j, table] = now, then
                has_grown = has_grown or bool(grown)
        for model in range(models):
            for table in range(tables):
                is_strong[table] &= is_reached[model, table] > 0
    return is_strong
