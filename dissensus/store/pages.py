"""Numbers read straight from the pages of a Parquet file: one read into memory, without decoding.

In a file of ours, a column of numbers without nulls is not encoded, and each of its row groups is one page. So its
values lie at the end of that page, byte for byte, and reading them is as fast as copying memory. What the library
verifies by a checksum of the page, we verify by a sum that is computed as fast: every word of four bytes times an odd
number for its place in a tile, and every tile times one of its own, modulo 2⁶⁴. A change of one word always changes the
sum; any other change leaves it as it was with a probability of about 2⁻³².
"""

from __future__ import annotations

import os
import weakref
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np
import pyarrow as pa

from dissensus.arrays import Array
from dissensus.mixing import GOLDEN, mixed

TILE = 2048
"""Words that have the same weights in every tile: few enough to stay in the cache."""


class DamageError(ValueError):
    """A page does not match its sum, or is cut off."""


@dataclass(frozen=True)
class Page:
    """Where the values of a column begin in a row group, how many there are, their type in the file, and their sum."""

    start: int
    count: int
    stored: np.dtype
    sum: int


def is_plain(field: pa.Field) -> bool:
    """Whether a column can be read from its pages: numbers, none of them null."""
    kind = field.type
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_number and not field.nullable)


def page_sum(values: Array) -> int:
    """The sum of a column's values in one row group, as they are stored."""
    return int(_sum(_words(np.ascontiguousarray(values, stored_as(values.dtype)))))


def stored_as(kind: np.dtype) -> np.dtype:
    """The type in the file of numbers of this type: integers take four bytes or eight."""
    if kind.kind in "iu":
        return np.dtype(f"{kind.kind}{max(kind.itemsize, 4)}")
    return kind


class Pages:
    """The pages of an open file; safe to use from several threads."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        weakref.finalize(self, os.close, self.handle)

    def read(self, page: Page) -> Array:
        """The values of a page, as they are stored.

        Raises:
            DamageError: they do not match the page's sum.
        """
        values = np.empty(page.count, page.stored)
        left, place = memoryview(values.view(np.uint8)), page.start  # type: ignore[arg-type]
        while left:  # a file system on a network may send a page in parts
            read = os.preadv(self.handle, [left], place)
            if not read:
                raise DamageError("a page is cut off")
            left, place = left[read:], place + read
        if _sum(_words(values)) != page.sum:
            raise DamageError("a page does not match its sum")
        return values


def _words(values: Array) -> Array:
    return values.view(np.uint16 if values.dtype.itemsize == 2 else np.uint32)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _weight(number):  # type: ignore[no-untyped-def]
    """Mixed bits for a number: if weights grew evenly, changes of several words could cancel out."""
    return mixed((number + np.uint64(1)) * GOLDEN)


WEIGHTS = (mixed.py_func(np.arange(1, TILE + 1, dtype=np.uint64) * GOLDEN) >> np.uint64(32)).astype(
    np.uint32
) | np.uint32(1)
"""An odd number for every place in a tile."""


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sum(words):  # type: ignore[no-untyped-def]
    """Every word times its weight, every tile times its own."""
    total = np.uint64(0)
    for start in range(0, words.size, TILE):
        total += _sum_of_tile(words[start : start + TILE], WEIGHTS) * (_weight(np.uint64(start)) | np.uint64(1))
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _sum_of_tile(words, weights):  # type: ignore[no-untyped-def]
    """Products of 32-bit numbers, which vector instructions add up in 64 bits."""
    total = np.uint64(0)
    for i in range(words.size):
        total += np.uint64(np.uint32(words[i])) * np.uint64(np.uint32(weights[i]))
    return total
