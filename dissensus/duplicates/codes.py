"""Pairs of 64-bit codes that differ in few bits, without comparing all of them (Norouzi, Punjani & Fleet, 2012).

A code is cut into m bands. If two codes differ in at most r = m·t + a bits (a < m), then they differ in at most t bits
in one of the first a + 1 bands, or in at most t − 1 bits in one of the others: otherwise they would differ in at least
(a + 1)(t + 1) + (m − a − 1)t = r + 1 bits. Codes with the same band lie in one bucket, so only the buckets of bands
that differ in so few bits have to be looked at. No pair within r bits is missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any, Self

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.duplicates.codes_kernel import in_buckets, look_in
from dissensus.duplicates.descriptors import codes
from dissensus.duplicates.links import Links, alone, links_of
from dissensus.errors import DuplicatesError

BITS = 11
"""Bits in which the codes of near-duplicates may differ; four bands with up to two bits each find them."""
MOST_BITS = 16
WIDEST = 22
"""Bits of the widest band: its table of buckets takes 32 MB."""
LOOK, COMPARE = 4.0, 1.0
"""Time to look up a bucket, and to compare a code in it."""


@dataclass(frozen=True)
class Band:
    """Bits of a code from `shift` on, and in how many of them two codes may differ."""

    shift: int
    width: int
    radius: int

    @property
    def flips(self) -> Int[Array, " f"]:
        """Every way to change at most `radius` of the bits."""
        sums = [sum(1 << bit for bit in chosen) for t in range(self.radius + 1) for chosen in _chosen(self.width, t)]
        return np.array(sums, np.int64)


def _chosen(width: int, count: int) -> combinations[tuple[int, ...]]:
    return combinations(range(width), count)


def bands_for(count: int, bits: int) -> list[Band]:
    """The bands that find all pairs of so many codes within so many bits in the least time, for random codes.

    Raises:
        DuplicatesError: the number of bits is negative or too large.
    """
    if not 0 <= bits <= MOST_BITS:
        raise DuplicatesError(f"codes cannot be compared within {bits} bits: choose 0 to {MOST_BITS}")
    plans = [_divided(number, bits) for number in range(-(-64 // WIDEST), 17)]
    return min(plans, key=lambda bands: sum(_cost(band, count) for band in bands))


def _divided(number: int, bits: int) -> list[Band]:
    """So many bands; those that differ in fewer than no bits are left out."""
    ends = [64 * place // number for place in range(number + 1)]
    least, more = divmod(bits, number)
    bands = [
        Band(ends[place], ends[place + 1] - ends[place], least if place <= more else least - 1)
        for place in range(number)
    ]
    return [band for band in bands if band.radius >= 0]


def _cost(band: Band, count: int) -> float:
    looks = sum(comb(band.width, changed) for changed in range(band.radius + 1))
    return count * looks * (LOOK + COMPARE * count / 2**band.width) + LOOK * 2**band.width


def approximate(described: Int[Array, "n 68"], radius: float, bits: int = BITS) -> Links:
    """Groups that pairs of descriptors connect: within the radius, in bytes, and with codes within so many bits.

    What `exact` finds within the same radius contains these groups. Pairs whose codes differ in more bits are missed.

    Raises:
        DuplicatesError: the radius or the number of bits is not possible.
    """
    search = NearCodes(described, radius, bits)
    return search.links(range(len(search)))


class NearCodes:
    """A search for pairs with similar codes, each measured by its descriptors, which can be divided by rows."""

    def __init__(
        self, described: Int[Array, "n d"], radius: float, bits: int = BITS, values: Int[Array, " n"] | None = None
    ) -> None:
        if not 0 <= radius < np.inf:
            raise DuplicatesError(f"a radius of {radius} is not a distance: give a number from 0 on")
        self.described = np.ascontiguousarray(described, np.int8)
        self.codes = np.ascontiguousarray(codes(self.described) if values is None else values, np.uint64)
        self.bits, self.limit = bits, _whole_square(radius)
        self.bands = bands_for(len(self), bits)
        self.given = self.described, radius, bits, self.codes
        numbers = alone(len(self))
        self.buckets = [in_buckets(self.codes, numbers, band.shift, band.width) for band in self.bands]
        """For each band, where each bucket starts, the positions of the codes in it, and the codes."""

    def __len__(self) -> int:
        return len(self.described)

    def __reduce__(self) -> tuple[type[Self], tuple[Any, ...]]:
        """To be sent to a worker, which makes its own buckets: they are larger than the codes, and quickly made."""
        return type(self), self.given

    def links(self, rows: range) -> Links:
        """Groups that pairs of these rows with later rows form."""
        parent = alone(len(self))
        for band, known in zip(self.bands, self.buckets, strict=True):
            look_in(
                self.codes, self.described, *known, band.shift, band.width, band.flips, rows.start, rows.stop,
                self.bits, self.limit, parent
            )  # fmt: skip
        return links_of(parent)


def _whole_square(radius: float) -> int:
    """The largest squared distance of descriptors whose root is not above the radius."""
    square = int(min(radius, 2**20) ** 2) + 1
    return square if np.sqrt(square) <= radius else square - 1
