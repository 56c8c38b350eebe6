"""Compiled loop over all pairs of windows of two strings."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def kernel_rows(  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    x, x_starts, x_whole, z, z_starts, z_whole, n, values, first, last, is_symmetric, out
):
    """Fill the rows first..last−1: for each pair of strings, the sum of values[mismatches] over pairs of windows.

    Along a diagonal, the next pair of windows differs in one letter that leaves and one that enters, so a pair of
    windows costs the same whatever n is. Only entries on and right of the diagonal are filled if `is_symmetric`.
    """
    counts = np.empty(n + 1, np.int64)
    for row in range(first, last):
        a, a_end = x_starts[row], x_starts[row + 1]
        for column in range(row if is_symmetric else 0, len(z_starts) - 1):
            b, b_end = z_starts[column], z_starts[column + 1]
            counts[:] = 0
            for shift in range(n - (b_end - b), a_end - a - n + 1):
                i, j = a + max(shift, 0), b + max(-shift, 0)
                windows = min(a_end - i, b_end - j) - n + 1
                mismatches = 0
                for step in range(n - 1):
                    mismatches += x[i + step] != z[j + step]
                for step in range(windows):
                    mismatches += x[i + step + n - 1] != z[j + step + n - 1]
                    if x_whole[i + step] and z_whole[j + step]:
                        counts[mismatches] += 1
                    mismatches -= x[i + step] != z[j + step]
            total = 0.0
            for mismatches in range(n + 1):
                total += counts[mismatches] * values[mismatches]
            out[row, column] = total
