"""Class maps as run lengths: packed small, read back fast, and brought to one size by one rule."""

from __future__ import annotations

from collections.abc import Sequence

import numba
import numpy as np

from dissensus.arrays import Array, Int, UInt8
from dissensus.errors import PredictionError
from dissensus.records import MOST_CLASSES, VOID, Maps

SIZE_OF_NO_MAP = (0, 0)


def packed(labels: UInt8[Array, "H W"]) -> bytes:
    """A map as run lengths, in the form that `Maps` describes."""
    flat = np.ascontiguousarray(labels, np.uint8).reshape(-1)
    room = np.empty(_packed_size(flat), np.uint8)
    _pack(flat, room)
    return room.tobytes()


def unpacked(data: bytes | UInt8[Array, " B"], height: int, width: int) -> UInt8[Array, "H W"]:
    """The map of some run lengths.

    Raises:
        PredictionError: they do not fill a map of this size.
    """
    runs = np.frombuffer(data, np.uint8) if isinstance(data, bytes) else data
    labels = np.empty(height * width, np.uint8)
    if _unpack(runs, labels) != len(labels):
        raise PredictionError(f"the run lengths are damaged: they do not fill a map of {height}×{width}")
    return labels.reshape(height, width)


def maps_of(labels: Sequence[UInt8[Array, "H W"] | None]) -> Maps:
    """Some maps together; None where there is none."""
    data = [b"" if one is None else packed(one) for one in labels]
    sizes = np.array([SIZE_OF_NO_MAP if one is None else one.shape for one in labels], np.int64).reshape(-1, 2)
    offsets = np.concatenate([[0], np.cumsum([len(one) for one in data])]).astype(np.int64)
    return Maps(np.frombuffer(b"".join(data), np.uint8), offsets, sizes[:, 0], sizes[:, 1])


def map_at(maps: Maps, number: int) -> UInt8[Array, "H W"]:
    """One of them, as an array."""
    runs = maps.data[maps.offsets[number] : maps.offsets[number + 1]]
    return unpacked(runs, int(maps.heights[number]), int(maps.widths[number]))


def resized(labels: UInt8[Array, "H W"], height: int, width: int) -> UInt8[Array, "h w"]:
    """The map in another size: every pixel takes the label at its own centre (nearest neighbour).

    Labels are no numbers to be averaged. In whole numbers, so that all machines agree: pixel i of h looks at
    ⌊(2i + 1)·H / 2h⌋.
    """
    if labels.shape == (height, width):
        return labels
    rows = (2 * np.arange(height) + 1) * labels.shape[0] // (2 * height)
    columns = (2 * np.arange(width) + 1) * labels.shape[1] // (2 * width)
    return np.ascontiguousarray(labels[rows[:, None], columns])


def checked_map(labels: Array, classes: int) -> UInt8[Array, "H W"]:
    """A map in 8 bits, where every label is a class or VOID.

    Raises:
        PredictionError: it is no map, or holds a label that is no class.
    """
    if labels.ndim != 2 or labels.size == 0 or labels.dtype.kind not in "iub":
        raise PredictionError(f"an array of {labels.dtype} and shape {labels.shape} is no map: give whole numbers, H×W")
    is_outside = (labels < 0) | ((labels >= classes) & (labels != VOID))
    if is_outside.any():
        raise PredictionError(
            f"label {int(labels[is_outside][0])} is no class: there are {classes}, 0 to {classes - 1}; {VOID} is 'ignore'"
        )
    return labels.astype(np.uint8, copy=False)


def class_pixels(maps: Maps, classes: int) -> Int[Array, "N C"]:
    """How many pixels of each map every class has; what is VOID belongs to none."""
    counts = np.zeros((len(maps), MOST_CLASSES + 1), np.int64)
    _count(maps.data, maps.offsets, counts)
    return counts[:, :classes]


@numba.njit(cache=True, nogil=True)
def _packed_size(flat):  # type: ignore[no-untyped-def]
    size, start, n = 0, 0, len(flat)
    for i in range(1, n + 1):
        if i == n or flat[i] != flat[start]:
            length = i - start
            size += 2
            while length >= 128:
                size += 1
                length >>= 7
            start = i
    return size


@numba.njit(cache=True, nogil=True)
def _pack(flat, room):  # type: ignore[no-untyped-def]
    at, start, n = 0, 0, len(flat)
    for i in range(1, n + 1):
        if i == n or flat[i] != flat[start]:
            length = i - start
            room[at] = flat[start]
            at += 1
            while length >= 128:
                room[at] = (length & 127) | 128
                at += 1
                length >>= 7
            room[at] = length
            at += 1
            start = i


@numba.njit(cache=True, nogil=True)
def _unpack(runs, labels):  # type: ignore[no-untyped-def]
    """Fill the labels; the number of pixels that the runs hold, or -1 where they hold more than there is room."""
    at, filled, n = 0, 0, len(labels)
    while at + 1 < len(runs):
        label = runs[at]
        at += 1
        length, shift = np.int64(0), 0
        while at < len(runs):
            byte = runs[at]
            at += 1
            length |= np.int64(byte & 127) << shift
            shift += 7
            if byte < 128 or shift > 56:
                break
        if length > n - filled or length < 0:
            return -1
        labels[filled : filled + length] = label
        filled += length
    return filled if at == len(runs) else -1


@numba.njit(cache=True, nogil=True)
def _count(data, offsets, counts):  # type: ignore[no-untyped-def]
    for number in range(len(offsets) - 1):
        at = offsets[number]
        while at < offsets[number + 1]:
            label = data[at]
            at += 1
            length, shift = np.int64(0), 0
            while True:
                byte = data[at]
                at += 1
                length |= np.int64(byte & 127) << shift
                shift += 7
                if byte < 128:
                    break
            counts[number, label] += length
