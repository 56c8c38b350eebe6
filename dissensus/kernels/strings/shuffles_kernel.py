"""Compiled loop of the dinucleotide shuffles: a random Euler walk through the letters of each string."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True, error_model="numpy")
def shuffle_rows(letters, starts, size, copies, random, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write `copies` shuffles of each string to `out`, one after the other; letters are numbers below `size`."""
    tails, counts, last = np.empty(size + 1, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    is_reached = np.empty(size, np.bool_)
    at = 0
    for row in range(len(starts) - 1):
        string = letters[starts[row] : starts[row + 1]]
        for _ in range(copies):
            _shuffle(string, size, tails, counts, last, is_reached, random, out[at : at + len(string)])
            at += len(string)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _shuffle(string, size, tails, counts, last, is_reached, random, out):  # type: ignore[no-untyped-def]
    """One shuffle. Letters are vertices, and each pair of neighbours is an edge from one to the next.

    A tree of last exits that leads from every letter to the final one is drawn first, all trees alike (Wilson, 1996);
    the other exits of each letter come in random order. Every walk then has the same probability (the BEST theorem),
    and so does every string, because each is spelled by the same number of walks.
    """
    length = len(string)
    out[:] = string
    if length < 4:
        return
    tails[:] = 0
    for place in range(length - 1):
        tails[string[place] + 1] += 1
    for letter in range(size):
        tails[letter + 1] += tails[letter]
    heads = np.empty(length - 1, string.dtype)
    counts[:] = tails[:size]
    for place in range(length - 1):
        heads[counts[string[place]]] = string[place + 1]
        counts[string[place]] += 1
    _draw_tree(tails, heads, string[length - 1], last, is_reached, random)
    for letter in range(size):
        first, end = tails[letter], tails[letter + 1]
        if last[letter] >= 0:
            end -= 1
            heads[last[letter]], heads[end] = heads[end], heads[last[letter]]
        for place in range(end - 1, first, -1):
            other = first + int(random.random() * (place - first + 1))
            heads[place], heads[other] = heads[other], heads[place]
    counts[:] = tails[:size]
    for place in range(1, length):
        letter = out[place - 1]
        out[place] = heads[counts[letter]]
        counts[letter] += 1


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _draw_tree(tails, heads, final, last, is_reached, random):  # type: ignore[no-untyped-def]
    """Last exits of all letters that have any, except the final one's (−1): walks whose loops are forgotten."""
    size = len(last)
    last[:] = -1
    is_reached[:] = False
    is_reached[final] = True
    for start in range(size):
        if tails[start] == tails[start + 1]:
            continue
        letter = start
        while not is_reached[letter]:
            last[letter] = tails[letter] + int(random.random() * (tails[letter + 1] - tails[letter]))
            letter = heads[last[letter]]
        letter = start
        while not is_reached[letter]:
            is_reached[letter] = True
            letter = heads[last[letter]]
