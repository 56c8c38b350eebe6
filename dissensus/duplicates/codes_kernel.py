"""Compiled loops of the search for codes that differ in few bits."""

from __future__ import annotations

import numba
import numpy as np

from dissensus.duplicates.links import link, root

FEW = 32
"""Codes in a bucket that are looked at one by one, rather than searched for the first one that counts."""


@numba.njit(cache=True, nogil=True)
def in_buckets(values, numbers, shift, width):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """A counting sort by the bits of a band; equal ones stay in order."""
    mask = np.uint64((1 << width) - 1)
    starts = np.zeros((1 << width) + 1, np.int64)
    for code in values:
        starts[np.int64((code >> np.uint64(shift)) & mask) + 1] += 1
    for bucket in range(1 << width):
        starts[bucket + 1] += starts[bucket]
    free = starts[:-1].copy()
    order, ordered = np.empty_like(numbers), np.empty_like(values)
    for number in numbers:
        own = np.int64((values[number] >> np.uint64(shift)) & mask)
        order[free[own]], ordered[free[own]] = number, values[number]
        free[own] += 1
    return starts, order, ordered


@numba.njit(cache=True, nogil=True)
def ones(word):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Number of bits that are set; compilers make it one instruction."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@numba.njit(cache=True, nogil=True)
def after(order, start, stop, row):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """The first place in a bucket whose position is larger than `row`."""
    while stop - start > FEW:
        middle = (start + stop) // 2
        if order[middle] > row:
            stop = middle + 1
        else:
            start = middle + 1
    return start


@numba.njit(cache=True, nogil=True)
def is_close(described, one, other, limit):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    total = np.int32(0)
    for place in range(described.shape[1]):
        away = np.int32(described[one, place]) - np.int32(described[other, place])
        total += away * away
    return total <= limit


@numba.njit(cache=True, nogil=True)
def look_in(  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    values, described, starts, order, ordered, shift, width, flips, first, last, bits, limit, parent
):
    """Link rows to later ones in the buckets around them; what is linked already is not measured again."""
    mask, most = np.uint64((1 << width) - 1), np.uint64(bits)
    for row in range(first, last):
        code = values[row]
        own = np.int64((code >> np.uint64(shift)) & mask)
        for flip in flips:
            bucket = own ^ flip
            stop = starts[bucket + 1]
            for place in range(after(order, starts[bucket], stop, row), stop):
                other = order[place]
                differing = code ^ ordered[place]
                if (
                    ones(differing) <= most
                    and (differing != 0 or shift == 0)  # equal codes share all bands: the first is enough
                    and other > row
                    and root(parent, row) != root(parent, other)
                    and is_close(described, row, other, limit)
                ):
                    link(parent, row, other)
