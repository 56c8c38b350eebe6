"""A short descriptor of a picture, 68 bytes, and a 64-bit code of it: a perceptual hash.

A descriptor consists of the 65 lowest frequencies of the brightness of a thumbnail, without its mean, and of the mean
colour. It was chosen among several by how many disturbed copies it finds: docs/methods/near-duplicates.md.
"""

from __future__ import annotations

import numba
import numpy as np
import pyarrow as pa

from dissensus.arrays import Array, Int, UInt8

SIDE = 32
"""Width and height of the thumbnails."""
ORDERS = 10
"""The highest frequency: u + v for a wave with u half periods down and v across."""
PLACES = np.array([(u, total - u) for total in range(1, ORDERS + 1) for u in range(total + 1)])
"""The frequencies, lowest first."""
COLOUR_WEIGHT = 0.5
"""A picture that is brighter or grey is still the same one, but a red page and a blue one are not."""
FAINT = 0.05
"""Added to the length of all frequencies, so that the noise of an empty picture does not become its descriptor."""
UNIT = 127
"""The value of a byte that stands for 1: distances between descriptors are divided by it."""
LENGTH = len(PLACES) + 3
DULL = 2
"""The largest value whose bit is 0: what is near zero changes its sign by chance, and would change its bit."""
VERSION = 1
"""Raised whenever the same picture would get another descriptor."""

_WAVES = np.cos(np.pi * np.outer(np.arange(ORDERS + 1), np.arange(SIDE) + 0.5) / SIDE) * np.sqrt(2 / SIDE)
_WAVES[0] /= np.sqrt(2)


def descriptors(thumbnails: UInt8[Array, "n 32 32 3"]) -> Int[Array, "n 68"]:
    """Descriptors of thumbnails, as int8; each depends on nothing but its own thumbnail.

    Frequencies are multiplied by u + v, as pictures have less of the higher ones, and scaled to length one, so that a
    change of contrast makes no difference. A difference of `UNIT` is a distance of 1.
    """
    thumbnails = np.ascontiguousarray(thumbnails, np.uint8).reshape(-1, SIDE, SIDE, 3)
    out = np.empty((len(thumbnails), LENGTH), np.int8)
    _describe(thumbnails, _WAVES, PLACES, out)
    return out


def codes(described: Int[Array, "n 68"]) -> Int[Array, " n"]:
    """The codes of descriptors, as uint64: bit i says whether frequency i is clearly above zero."""
    bits = described[:, :64] > DULL
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").ravel().astype(np.uint64)


def distinct(described: Int[Array, "n d"]) -> tuple[Int[Array, " m"], Int[Array, " n"]]:
    """Positions of the descriptors that differ from all before them, and which of these each descriptor equals."""
    if not len(described):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    data = pa.py_buffer(np.ascontiguousarray(described, np.int8))
    column = pa.Array.from_buffers(pa.binary(described.shape[1]), len(described), [None, data])
    which = column.dictionary_encode().indices.to_numpy().astype(np.int64)
    return np.unique(which, return_index=True)[1], which


def squared(one: Int[Array, "n d"], other: Int[Array, "n d"]) -> Int[Array, " n"]:
    """Squared distances of descriptors, row by row, in bytes."""
    away = one.astype(np.int32) - other
    return np.einsum("ij,ij->i", away, away)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _describe(thumbnails, waves, places, out):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """One picture at a time and in one order, so that no byte depends on how many there are."""
    size, orders = thumbnails.shape[1], waves.shape[0]
    shade, rows = np.empty((size, size)), np.empty((orders, size))
    found, mean = np.empty(len(places)), np.empty(3)
    for number in range(len(thumbnails)):
        mean[:] = 0
        for y in range(size):
            for x in range(size):
                red, green, blue = thumbnails[number, y, x]
                shade[y, x] = (299 * int(red) + 587 * int(green) + 114 * int(blue)) / 255_000
                mean[0] += red
                mean[1] += green
                mean[2] += blue
        for u in range(orders):
            for x in range(size):
                total = 0.0
                for y in range(size):
                    total += waves[u, y] * shade[y, x]
                rows[u, x] = total
        length = 0.0
        for place in range(len(places)):
            u, v = places[place]
            total = 0.0
            for x in range(size):
                total += rows[u, x] * waves[v, x]
            found[place] = total * (u + v) / size
            length += found[place] ** 2
        length = np.sqrt(length) + FAINT
        for place in range(len(places)):
            out[number, place] = np.int8(np.rint(found[place] / length * UNIT))
        for colour in range(3):
            share = mean[colour] / (255 * size * size)
            out[number, len(places) + colour] = np.int8(np.rint(COLOUR_WEIGHT * share * UNIT))
