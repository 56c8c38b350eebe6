"""Compiled loops of the kitchen sinks: sums of cosines, from tables that stay in the cache."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract", "nsz"})
def summed_cosines(tables, numbers, bounds, out):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """For each string the sum of cos(angle) over its windows, for one block of features.

    An angle is the sum of the angles of a window's pieces, whose cosines and sines are in tables[piece, number, 0 or 1,
    feature], so cos and sin of the whole follow from cos(a + b) = cos a cos b − sin a sin b. Window w has the pieces
    numbers[w]; string i has the windows bounds[i]..bounds[i + 1] − 1.
    """
    pieces, width = numbers.shape[1], tables.shape[3]
    total = np.empty(width, np.float32)
    real, imaginary = np.empty(width, np.float32), np.empty(width, np.float32)
    for row in range(len(bounds) - 1):
        total[:] = 0.0
        for window in range(bounds[row], bounds[row + 1]):
            last = tables[pieces - 1, numbers[window, pieces - 1]]
            if pieces == 1:
                for f in range(width):
                    total[f] += last[0, f]
                continue
            first = tables[0, numbers[window, 0]]
            if pieces == 2:
                for f in range(width):
                    total[f] += first[0, f] * last[0, f] - first[1, f] * last[1, f]
                continue
            for f in range(width):
                real[f], imaginary[f] = first[0, f], first[1, f]
            for piece in range(1, pieces - 1):
                other = tables[piece, numbers[window, piece]]
                for f in range(width):
                    turned = real[f] * other[0, f] - imaginary[f] * other[1, f]
                    imaginary[f] = real[f] * other[1, f] + imaginary[f] * other[0, f]
                    real[f] = turned
            for f in range(width):
                total[f] += real[f] * last[0, f] - imaginary[f] * last[1, f]
        out[row] = total
