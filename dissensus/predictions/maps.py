"""Class maps as run lengths: compact, fast to read, and resized by a single rule."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from dissensus.arrays import Array, Int, UInt8
from dissensus.errors import PredictionError
from dissensus.records import MOST_CLASSES, VOID, Maps

SIZE_OF_NO_MAP = (0, 0)
MOST_PIXELS = 1 << 28
"""Of one map, 16,384 × 16,384: no memory is allocated for a corrupt size."""
LONGEST = 5  # bytes of a run length: no map has more pixels than 35 bits can count


def packed(labels: UInt8[Array, "H W"]) -> bytes:
    """A map as run lengths, in the form that `Maps` describes."""
    flat = np.ascontiguousarray(labels, np.uint8).reshape(-1)
    if flat.size == 0:
        return b""
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    room = np.empty(len(starts) * (1 + LONGEST), np.uint8)
    return room[: _pack(flat, starts, room)].tobytes()


def unpacked(data: bytes | UInt8[Array, " B"], height: int, width: int) -> UInt8[Array, "H W"]:
    """Unpack run lengths into a map.

    Raises:
        PredictionError: they do not fill a map of this size, or the size is invalid.
    """
    if min(height, width) < 0 or height * width > MOST_PIXELS:
        raise PredictionError(f"invalid map size {height}×{width}: at most {MOST_PIXELS:,} pixels are supported")
    runs = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    labels = np.empty(height * width, np.uint8)
    if not _unpack(runs, labels):
        raise PredictionError(
            f"the run lengths are damaged, as they do not fill a map of {height}×{width}: predict again"
        )
    return labels.reshape(height, width)


def maps_of(labels: Sequence[UInt8[Array, "H W"] | None]) -> Maps:
    """Pack several maps together; None stands for a missing map."""
    data = [b"" if one is None else packed(one) for one in labels]
    sizes = np.array([SIZE_OF_NO_MAP if one is None else one.shape for one in labels], np.int64).reshape(-1, 2)
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in data])]).astype(np.int64)
    return Maps(np.frombuffer(b"".join(data), np.uint8), offsets, sizes[:, 0], sizes[:, 1])


def map_at(maps: Maps, number: int) -> UInt8[Array, "H W"]:
    """One map, as an array."""
    runs = maps.data[maps.offsets[number] : maps.offsets[number + 1]]
    return unpacked(runs, int(maps.heights[number]), int(maps.widths[number]))


def resized(labels: UInt8[Array, "H W"], height: int, width: int) -> UInt8[Array, "h w"]:
    """Resize a map: every pixel takes the label at its own centre (nearest neighbour).

    Labels cannot be averaged. Uses integer arithmetic, so that all machines agree: pixel i of h takes
    ⌊(2i + 1)·H / 2h⌋.
    """
    if labels.shape == (height, width):
        return labels
    rows = (2 * np.arange(height) + 1) * labels.shape[0] // (2 * height)
    columns = (2 * np.arange(width) + 1) * labels.shape[1] // (2 * width)
    return labels.take(rows, axis=0).take(columns, axis=1)  # faster than both at once


def checked_map(labels: Array, classes: int) -> UInt8[Array, "H W"]:
    """An 8-bit map in which every label is a class or VOID.

    Raises:
        PredictionError: it is not a map, or has a label that is not a class.
    """
    if labels.ndim != 2 or labels.size == 0 or labels.dtype.kind not in "iub":
        raise PredictionError(
            f"an array of {labels.dtype} and shape {labels.shape} is not a map: give whole numbers, H×W"
        )
    if labels.min() >= 0 and labels.max() < classes:  # true of most maps, and far faster than checking each pixel
        return labels.astype(np.uint8, copy=False)
    is_outside = (labels < 0) | ((labels >= classes) & (labels != VOID))
    if is_outside.any():
        raise PredictionError(
            f"label {labels[is_outside][0]} is not a class: there are {classes}, 0 to {classes - 1}; "
            f"use {VOID} for 'ignore'"
        )
    return labels.astype(np.uint8, copy=False)


def class_pixels(maps: Maps, classes: int) -> Int[Array, "N C"]:
    """The number of pixels of every class in each map; VOID pixels belong to none.

    Raises:
        PredictionError: a map is damaged, or has a label that is not a class.
    """
    counts = np.zeros((len(maps), MOST_CLASSES + 1), np.int64)
    lengths = np.diff(maps.offsets, prepend=0, append=len(maps.data))
    if len(maps.offsets) != len(maps) + 1 or (lengths < 0).any():
        raise PredictionError("the maps are damaged, as their offsets do not fit their data: predict again")
    damaged = _count(maps.data, maps.offsets.astype(np.int64), maps.heights.astype(np.int64) * maps.widths, counts)
    if damaged >= 0:
        raise PredictionError(f"map {damaged} is damaged, as its run lengths do not fill it: predict again")
    if counts[:, classes:VOID].any():
        number, label = np.argwhere(counts[:, classes:VOID])[0]
        raise PredictionError(f"map {number} has label {classes + label}, which is not a class: there are {classes}")
    return counts[:, :classes]


@numba.njit(cache=True, nogil=True)
def _pack(flat, starts, room):  # type: ignore[no-untyped-def]
    """Write the runs that begin at `starts`; returns the number of bytes."""
    at = 0
    for run in range(len(starts)):
        length = (starts[run + 1] if run + 1 < len(starts) else len(flat)) - starts[run]
        room[at] = flat[starts[run]]
        at += 1
        while length >= 128:
            room[at] = (length & 127) | 128
            at += 1
            length >>= 7
        room[at] = length
        at += 1
    return at


@numba.njit(cache=True, nogil=True)
def _run(runs, at, stop):  # type: ignore[no-untyped-def]
    """Label and length of the run at a byte, and the byte after it; length 0 if it is truncated or too long."""
    label, length = runs[at], np.int64(0)
    at += 1
    for i in range(LONGEST):
        if at == stop:
            break
        byte = runs[at]
        at += 1
        length |= np.int64(byte & 127) << (7 * i)
        if byte < 128:
            return label, length, at
    return label, np.int64(0), at


@numba.njit(cache=True, nogil=True)
def _unpack(runs, labels):  # type: ignore[no-untyped-def]
    """Fill the labels; returns whether the runs fill them exactly."""
    at, filled = 0, 0
    while at < len(runs):
        label, length, at = _run(runs, at, len(runs))
        if length == 0 or length > len(labels) - filled:
            return False
        labels[filled : filled + length] = label
        filled += length
    return filled == len(labels)


@numba.njit(cache=True, nogil=True)
def _count(data, offsets, pixels, counts):  # type: ignore[no-untyped-def]
    """Add up the runs of each label; returns the first map that they do not fill, or −1."""
    for number in range(len(pixels)):
        at, stop, filled = offsets[number], offsets[number + 1], 0
        while at < stop:
            label, length, at = _run(data, at, stop)
            if length == 0 or length > pixels[number] - filled:
                return number
            counts[number, label] += length
            filled += length
        if filled != pixels[number]:
            return number
    return -1
