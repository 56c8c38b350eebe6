"""Bits of a number that look unrelated to those of its neighbours: SplitMix64 (Steele, Lea and Flood, 2014)."""

from __future__ import annotations

import numba
import numpy as np

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
"""What is added to the state for the next number."""


@numba.njit(inline="always")
def mixed(state):  # type: ignore[no-untyped-def]
    """The number that belongs to a state; both have 64 bits without a sign."""
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))
