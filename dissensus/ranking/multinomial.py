"""Multinomial counts of many cells, drawn fast: with millions of judgements, a lookup or two per cell.

Independent Poisson counts with means in the right proportion are multinomial, given their sum. So every cell gets a
Poisson count, with means that add up to a little less than n, and the rest is drawn one by one. If the sum exceeds n,
which is rare, the counts are drawn again. Both leave the distribution exactly multinomial.

A Poisson count is looked up in an alias table (Walker, 1977; Vose, 1991). A table for every count of judgements would
be too many; but sums of Poisson counts are Poisson, so there is one for every hexadecimal digit at every place.
"""

from __future__ import annotations

import math

import numba
import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.mixing import GOLDEN, mixed

BITS = 4
DIGIT = 1 << BITS
PLACES = 6
"""Digits of a count that have tables of their own; what is left above them is looked up several times."""

MOST = 1 << 40
"""The most judgements; more would need larger tables."""

WIDTH = 9.0
"""Standard deviations on either side of the mean of a Poisson count; what lies outside is less than rounding."""

SHORT = 2.0
"""By how many standard deviations the mean of the sum stays below n."""

UNIT = 2.0**-53
NOTHING = np.zeros(0, np.int64)


class Multinomial:
    """As many judgements as there are, drawn with replacement, and counted by cell."""

    def __init__(self, cells: Int[Array, " c"]) -> None:
        self.cells = np.ascontiguousarray(cells, np.int64)
        self.total = int(self.cells.sum())
        share = max(1.0 - SHORT / math.sqrt(max(self.total, 1)), 0.0)
        values, having = _digits(self.cells)
        self.cuts, self.order = np.cumsum([0, *map(len, having)]), np.concatenate(having)
        pairs = [_poisson(value * share) for value in values]
        self.lowest = np.array([lowest for lowest, _ in pairs], np.int64)
        self.starts = np.cumsum([0, *(len(chances) for _, chances in pairs)])
        columns = [_alias(chances) for _, chances in pairs]
        self.keep, self.other = (np.concatenate(column) for column in zip(*columns, strict=True))
        self.cell_keep, self.cell_other = _alias(self.cells / max(self.total, 1))

    def drawn(self, streams: Int[Array, " B"]) -> Float[Array, "c B"]:
        """The counts of one resample per stream of random numbers (see `streams`)."""
        tables = self.cuts, self.order, self.lowest, self.starts, self.keep, self.other
        return np.asarray(_drawn(streams, self.total, tables, self.cell_keep, self.cell_other))


def streams(seed: int, count: int) -> Int[Array, " B"]:
    """Where the random numbers of each resample begin: it has its own, whatever is drawn before it or beside it."""
    return np.random.SeedSequence(seed).generate_state(count, np.uint64)


def _digits(cells: Int[Array, " c"]) -> tuple[list[int], list[Int[Array, " n"]]]:
    """Values of hexadecimal digits by their places, and the cells that have each; what is above them counts as ones."""
    values, found = [], []
    for place in range(PLACES):
        rest = cells >> (BITS * place)
        is_last = place == PLACES - 1
        for digit in range(1, DIGIT):
            having = np.flatnonzero((rest & (DIGIT - 1)) == digit) if not is_last else NOTHING
            if is_last and digit == 1:
                having = np.repeat(np.arange(len(cells)), rest)
            if len(having):
                values.append(digit << (BITS * place))
                found.append(having)
    return values, found


def _poisson(mean: float) -> tuple[int, Float[Array, " n"]]:
    """The lowest count that may occur, and the probabilities of the counts from there on."""
    if mean <= 0:
        return 0, np.ones(1)
    far = WIDTH * math.sqrt(mean) + 4 * WIDTH
    lowest, highest = max(int(mean - far), 0), int(mean + far)
    counts = np.arange(lowest, highest + 1)
    # log of p(k) / p(k − 1) = mean / k, added up from the most likely count, where nothing underflows
    steps = np.log(mean / np.maximum(counts, 1))
    steps[0] = 0.0
    logs = np.cumsum(steps)
    chances = np.exp(logs - logs.max())
    return lowest, chances / chances.sum()


@numba.njit(cache=True, nogil=True)
def _alias(chances):  # type: ignore[no-untyped-def]
    """(how likely each slot is kept, what is taken instead), for slots that are all equally likely."""
    count = len(chances)
    keep, other = chances * count, np.arange(count)
    small, large = np.flatnonzero(keep < 1.0), np.flatnonzero(keep >= 1.0)
    waiting, left = len(small), len(large)
    stack = np.empty(count, np.int64)
    stack[:waiting] = small
    while waiting and left:
        waiting -= 1
        one, donor = stack[waiting], large[left - 1]
        other[one] = donor
        keep[donor] -= 1.0 - keep[one]
        if keep[donor] < 1.0:
            left -= 1
            stack[waiting] = donor
            waiting += 1
    for place in range(waiting):  # only by rounding
        keep[stack[place]] = 1.0
    return keep, other


@numba.njit(inline="always")
def _uniform(state):  # type: ignore[no-untyped-def]
    """A number from 0 to below 1."""
    return np.float64(np.int64(mixed(state) >> np.uint64(11))) * UNIT


@numba.njit(inline="always")
def _slot(uniform, start, size, keep, other):  # type: ignore[no-untyped-def]
    """A draw from an alias table: the integer part chooses a slot, the rest whether it is kept."""
    scaled = uniform * size
    slot = int(scaled)
    is_kept = np.int64(scaled - slot < keep[start + slot])  # no branch: half of them would be guessed wrong
    return is_kept * slot + (1 - is_kept) * other[start + slot]


@numba.njit(cache=True, nogil=True)
def _drawn(streams, total, tables, cell_keep, cell_other):  # type: ignore[no-untyped-def]
    cuts, order, lowest, starts, keep, other = tables
    counts = np.empty((len(cell_keep), len(streams)))
    own = np.empty(len(cell_keep), np.int64)
    for table in range(len(streams)):
        state = np.uint64(streams[table])
        left = np.int64(-1)
        while left < 0:
            left = total
            own[:] = 0
            for value in range(len(lowest)):
                least, start, size = lowest[value], starts[value], starts[value + 1] - starts[value]
                for place in range(cuts[value], cuts[value + 1]):
                    state += GOLDEN
                    count = least + _slot(_uniform(state), start, size, keep, other)
                    own[order[place]] += count
                    left -= count
        for _ in range(left):
            state += GOLDEN
            own[_slot(_uniform(state), 0, len(cell_keep), cell_keep, cell_other)] += 1
        for cell in range(len(own)):
            counts[cell, table] = own[cell]
    return counts
