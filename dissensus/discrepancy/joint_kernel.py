"""The inner loops of the concordance: one pass over an item's maps counts pixels for all pairs of models.

Neighbouring pixels mostly have the same labels in all maps. So the maps of all models are cut into *joint runs*, in
which no label changes; the labels of a run, a few bits each, are its key; and a small table counts the pixels of each
key. A quarter of a million pixels leave a few hundred distinct keys, and only those are needed to fill the pairs'
counts. All counts are integers, so that nothing depends on the order of summation.

Stored maps are joined without being unpacked: where a run of a model begins, that model's bits of the key change, which
is one XOR into `change` at this pixel, in any order of the models.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic

from dissensus.discrepancy.tuples_kernel import conclude, count, empty_sums, empty_table, hand_on, layout_of
from dissensus.records import VOID

TILE = 16_384  # pixels whose changes stay in the cache while all models are scanned; a multiple of 8
LONGEST = 5  # bytes of a run length: no map has more pixels than 35 bits can count
FINE, DAMAGED, NO_CLASS = range(3)


@intrinsic
def _trailing_zeros(_: Any, word: Any) -> Any:  # noqa: ARG001
    """Number of zero bits below the lowest set bit of a nonzero word."""

    def generate(_: Any, builder: Any, __: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], cgutils.true_bit)

    return types.uint64(types.uint64), generate


@numba.njit(cache=True, nogil=True, error_model="numpy")
def concord_runs(data, starts, pixels, classes, references, measure, is_truth, value, is_comparable, differs):  # type: ignore[no-untyped-def]
    """Fill in the values of all items; returns the first problem, with the model and item, or FINE.

    `data[starts[m, n] : starts[m, n + 1]]` are the run lengths of model m's map of item n, which has `pixels[m, n]`
    pixels; if that is 0, there is no map, and all of it counts as VOID. The first `references` models are compared with
    all models.
    """
    models, items = pixels.shape
    layout = layout_of(models, classes)
    table, sums = empty_table(layout), empty_sums(layout, references)
    scratch = _scratch(layout)
    for n in range(items):
        state, model = _join_runs(data, starts[:, n], starts[:, n + 1], pixels[:, n], scratch, layout, table, sums)
        if state != FINE:
            return state, model, n
        conclude(measure, is_truth, sums, value[n], is_comparable[n], differs[n])
    return FINE, 0, 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def concord_arrays(labels, classes, measure, value, is_comparable, differs):  # type: ignore[no-untyped-def]
    """The same for maps held as arrays: `labels[n, m]` are the pixels of model m's map of item n, row by row."""
    items, models, _ = labels.shape
    layout = layout_of(models, classes)
    table, sums = empty_table(layout), empty_sums(layout, models)
    scratch = _scratch(layout)
    for n in range(items):
        state, model = _join_arrays(labels[n], scratch, layout, table, sums)
        if state != FINE:
            return state, model, n
        conclude(measure, False, sums, value[n], is_comparable[n], differs[n])
    return FINE, 0, 0


@numba.njit(cache=True, nogil=True)
def _scratch(layout):  # type: ignore[no-untyped-def]
    """Buffers. Per pixel of a tile: how the key changes, whether it may. Per joint run: first pixel, key, length."""
    words = layout[1][-1] + 1
    change, flags = np.zeros((TILE, words), np.uint64), np.zeros(TILE, np.uint8)
    return change, flags, np.empty(TILE, np.int64), np.empty((TILE + 1, words), np.uint64), np.empty(TILE + 1, np.int64)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _join_runs(data, starts, stops, pixels, scratch, layout, table, sums):  # type: ignore[no-untyped-def]
    """Count the joint runs of one item's stored maps; returns the first problem and its model, or FINE."""
    shift, word, _, classes = layout
    change, flags, found, keys, lengths = scratch
    models = len(shift)
    at, place, held = starts.copy(), np.zeros(models, np.int64), np.zeros(models, np.uint64)
    size, since, tile = pixels.max(), 0, 0
    keys[0] = 0
    for m in range(models):
        if pixels[m] == 0:
            keys[0, word[m]] |= np.uint64(classes) << shift[m]
            place[m] = size
    while tile < size:
        following = size
        for m in range(models):
            if place[m] < tile + TILE:
                run = at[m], stops[m], place[m], held[m]
                into = change[:, word[m]], flags
                at[m], place[m], held[m], state = _mark(data, run, tile, size, classes, shift[m], into)
                if state != FINE:
                    return state, m
            following = min(following, place[m])
        runs = _boundaries(flags, found)
        _key_changes(change, found[:runs], keys)
        since = _lengths(found[:runs], tile, since, lengths)
        count(keys[:runs], lengths[:runs], layout, table, sums)
        keys[0] = keys[runs]
        tile = max(tile + TILE, following)
    lengths[0] = size - since
    count(keys[:1], lengths[:1], layout, table, sums)
    hand_on(layout, table, sums)
    for m in range(models):
        if at[m] != stops[m]:
            return DAMAGED, m
    return FINE, 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _key_changes(change, found, keys):  # type: ignore[no-untyped-def]
    """Compute the key after every boundary; `keys[0]` is the key before the first one. Resets the changes to zero."""
    for w in range(change.shape[1]):
        key = keys[0, w]
        for i in range(found.size):
            key ^= change[found[i], w]
            change[found[i], w] = 0
            keys[i + 1, w] = key


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _lengths(found, tile, since, lengths):  # type: ignore[no-untyped-def]
    """Fill in the length of the joint run before each boundary; returns where the run after the last one begins."""
    for i in range(found.size):
        lengths[i] = tile + found[i] - since
        since = tile + found[i]
    return since


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _mark(data, run, tile, size, classes, shift, into):  # type: ignore[no-untyped-def]
    """Mark where a map's runs begin within a tile, and how the key changes; returns where it stopped, and its state."""
    at, stop, place, held = run
    change, flags = into
    while place < tile + TILE and place < size:
        if at + 1 >= stop:
            return at, place, held, DAMAGED
        label, byte = data[at], data[at + 1]
        at += 2
        length = np.int64(byte & 127)
        if byte >= 128:
            if at == stop:
                return at, place, held, DAMAGED
            byte = data[at]
            at += 1
            length |= np.int64(byte & 127) << 7
            bits = 14
            while byte >= 128:
                if at == stop or bits == 7 * LONGEST:
                    return at, place, held, DAMAGED
                byte = data[at]
                at += 1
                length |= np.int64(byte & 127) << bits
                bits += 7
        if length == 0 or length > size - place:
            return at, place, held, DAMAGED
        if label >= classes and label != VOID:
            return at, place, held, NO_CLASS
        code = np.uint64(min(label, classes))
        change[place - tile] ^= (code ^ held) << shift
        flags[place - tile] = 1
        held = code
        place += length
    return at, place, held, FINE


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _join_arrays(labels, scratch, layout, table, sums):  # type: ignore[no-untyped-def]
    """Count the joint runs of one item's maps, one row of pixels per model; returns like `_join_runs`."""
    shift, word, _, classes = layout
    _, flags, found, keys, lengths = scratch
    models, size = labels.shape
    since = 0
    keys[0] = 0
    for tile in range(0, size, TILE):
        first, stop = max(tile, 1), min(tile + TILE, size)
        for m in range(models):
            _mark_changes(labels[m, first - 1 : stop - 1], labels[m, first:stop], flags[first - tile :])
        if tile == 0:
            flags[0] = 1
        runs = _boundaries(flags, found)
        keys[1 : runs + 1] = 0
        for m in range(models):
            if not _gather(labels[m, tile:stop], found[:runs], classes, shift[m], keys[1:, word[m]]):
                return NO_CLASS, m
        since = _lengths(found[:runs], tile, since, lengths)
        count(keys[:runs], lengths[:runs], layout, table, sums)
        keys[0] = keys[runs]
    lengths[0] = size - since
    count(keys[:1], lengths[:1], layout, table, sums)
    hand_on(layout, table, sums)
    return FINE, 0


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _gather(labels, found, classes, shift, keys):  # type: ignore[no-untyped-def]
    """Add a map's labels at the boundaries to the keys; returns whether all of them are classes or VOID."""
    is_fine = True
    for i in range(found.size):
        label = labels[found[i]]
        is_fine &= label < classes or label == VOID
        keys[i] |= np.uint64(min(label, classes)) << shift
    return is_fine


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _mark_changes(before, after, flags):  # type: ignore[no-untyped-def]
    for i in range(after.size):
        flags[i] |= np.uint8(before[i] != after[i])


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _boundaries(flags, found):  # type: ignore[no-untyped-def]
    """Write the positions of all set flags to `found`, clear the flags, and return how many there were."""
    count = 0
    words = flags.view(np.uint64)
    for w in range(words.size):
        left = words[w]
        if left == 0:
            continue
        words[w] = 0
        while left != 0:
            found[count] = 8 * w + np.int64(_trailing_zeros(left) >> np.uint64(3))
            count += 1
            left &= left - np.uint64(1)
    return count
