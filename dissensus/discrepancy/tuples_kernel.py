"""Pixel counts per tuple of labels (one label per model) in a small exact table, from which pairs are counted."""

from __future__ import annotations

import numba
import numpy as np

from dissensus.discrepancy.measures_kernel import measured

SLOTS = 2048  # a power of two; when half of them are used, the counts are passed on and the table is cleared
SLOT_SHIFT = np.uint64(64 - (SLOTS.bit_length() - 1))
WORD_BITS = 64
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # odd, near 2⁶⁴ divided by the golden ratio: separates similar keys


@numba.njit(cache=True, nogil=True)
def layout_of(models, classes):  # type: ignore[no-untyped-def]
    """Shift and word of each model's label in a key, the mask of a label, and VOID's code: the number of classes."""
    bits = 1
    while classes >> bits:
        bits += 1
    room = WORD_BITS // bits
    numbers = np.arange(models)
    return (numbers % room * bits).astype(np.uint64), numbers // room, np.uint64((1 << bits) - 1), classes


@numba.njit(cache=True, nogil=True)
def empty_table(layout):  # type: ignore[no-untyped-def]
    """The number of the key in each slot, −1 for none; the keys; their pixels; how many keys there are."""
    keys = np.empty((SLOTS // 2, layout[1][-1] + 1), np.uint64)
    return np.full(SLOTS, -1, np.int16), keys, np.empty(SLOTS // 2, np.int64), np.zeros(1, np.int64)


@numba.njit(cache=True, nogil=True)
def empty_sums(layout, references):  # type: ignore[no-untyped-def]
    """The sums that the measures need, in pixels, all zero.

    `agreed[y, i, j]`: both i and j say y, for j after i and i among the references. `given[i, y]`: i says y.
    `lost[i, j, y]`: i says y where j says VOID.
    """
    models, classes = len(layout[0]), layout[3]
    agreed = np.zeros((classes, references, models), np.int64)
    return agreed, np.zeros((models, classes + 1), np.int64), np.zeros((models, models, classes), np.int64)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def count(keys, pixels, layout, table, sums):  # type: ignore[no-untyped-def]
    """Count the pixels of some keys."""
    slots, known, counts, filled = table
    words = keys.shape[1]
    for i in range(len(keys)):
        mixed = keys[i, 0]
        for w in range(1, words):
            mixed = ((mixed * SPREAD) >> np.uint64(29)) ^ keys[i, w]
        first = np.int64((mixed * SPREAD) >> SLOT_SHIFT)
        slot = first
        while slots[slot] >= 0:
            entry = slots[slot]
            is_same = True
            for w in range(words):
                is_same &= known[entry, w] == keys[i, w]
            if is_same:
                break
            slot = (slot + 1) & (SLOTS - 1)
        entry = slots[slot]
        if entry < 0:
            if filled[0] == len(known):
                hand_on(layout, table, sums)
                slot = first
            entry = filled[0]
            filled[0] = entry + 1
            slots[slot] = entry
            for w in range(words):
                known[entry, w] = keys[i, w]
            counts[entry] = 0
        counts[entry] += pixels[i]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def hand_on(layout, table, sums):  # type: ignore[no-untyped-def]
    """Add the table's counts to the sums, and empty it."""
    shift, word, mask, void = layout
    slots, keys, counts, filled = table
    agreed, given, lost = sums
    _, references, models = agreed.shape
    labels = np.empty(models, np.int64)
    for entry in range(filled[0]):
        pixels, voids = counts[entry], 0
        for m in range(models):
            label = np.int64((keys[entry, word[m]] >> shift[m]) & mask)
            labels[m] = label
            given[m, label] += pixels
            voids += label == void
        for i in range(references):
            if labels[i] != void:
                row = agreed[labels[i], i]
                for j in range(models):
                    row[j] += pixels if labels[j] == labels[i] else 0
        if voids > 0:
            for j in range(models):
                if labels[j] == void:
                    for i in range(models):
                        if labels[i] != void:
                            lost[i, j, labels[i]] += pixels
    slots[:] = -1
    filled[0] = 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def conclude(measure, is_truth, sums, value, is_comparable, differs):  # type: ignore[no-untyped-def]
    """Compute the measure for every reference (row) and every model (column), and reset the sums to zero.

    Between models, a pixel that either leaves VOID does not count. If the reference is ground truth, only its own VOID
    is left out: pixels that the other leaves VOID still count, and agree with nothing.
    """
    agreed, given, lost = sums
    classes, references, models = agreed.shape
    same, first, second = np.empty((3, classes), np.int64)
    for i in range(references):
        for j in range(models):
            pixels, alike = 0, 0
            for y in range(classes):
                same[y] = agreed[y, i, j]
                first[y] = given[i, y] - (0 if is_truth else lost[i, j, y])
                second[y] = given[j, y] - lost[j, i, y]
                pixels += first[y]
                alike += same[y]
            value[i, j], is_comparable[i, j] = measured(measure, same, first, second)
            differs[i, j] = alike < pixels
    agreed[:] = 0
    given[:] = 0
    lost[:] = 0
