"""A hash of many strings at once, which depends on nothing but the strings."""

from __future__ import annotations

import numba
import numpy as np

from dissensus.mixing import mixed

SEED = 14_695_981_039_346_656_037
"""Where every hash starts; the same for all pools, so that a pool that grows keeps the order of its items."""


@numba.njit(cache=True, nogil=True)
def hashes(text, starts):  # type: ignore[no-untyped-def]
    """FNV-1a of every string, 64 bits, with its bits mixed at the end: ids that differ in one digit end up far apart.

    String n is `text[starts[n] : starts[n + 1]]`, in UTF-8.
    """
    found = np.empty(starts.size - 1, np.uint64)
    for n in range(found.size):
        state = np.uint64(SEED)
        for i in range(starts[n], starts[n + 1]):
            state = (state ^ np.uint64(text[i])) * np.uint64(1_099_511_628_211)
        found[n] = mixed(state)
    return found
