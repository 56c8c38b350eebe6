"""The n-grams of strings: which windows count, and their numbers.

A window counts if it lies inside one string and all its letters are known. Everything in this folder counts the same
windows, so that the kernels, their random features and the counts of n-grams are about the same thing.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import KernelError
from dissensus.kernels.strings.alphabets import Strings, place_words

MOST_NUMBERS = 2**62


def check_length(n: int) -> None:
    """Refuse n-grams of no length.

    Raises:
        KernelError: n is not a whole number of at least 1.
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise KernelError(f"n-grams of {n} letters: give a whole number of at least 1")


def whole_windows(strings: Strings, n: int) -> Bool[Array, " t"]:
    """For every letter of all strings: whether a window that counts starts there."""
    total = len(strings.letters)
    whole = np.zeros(total, bool)
    unknown = np.concatenate([[0], np.cumsum(strings.letters >= len(strings.alphabet))])
    ends = np.repeat(strings.starts[1:], strings.lengths())
    if total >= n:
        places = np.arange(total - n + 1)
        whole[places] = (places + n <= ends[places]) & (unknown[places + n] == unknown[places])
    return whole


def window_counts(strings: Strings, n: int, places: Sequence[str] | None = None) -> Int[Array, " N"]:
    """How many windows of each string count.

    Raises:
        KernelError: a string has none: it is too short, or has an unknown letter in every window.
    """
    check_length(n)
    before = np.concatenate([[0], np.cumsum(whole_windows(strings, n))])
    counts = np.diff(before[strings.starts])
    if len(counts) and counts.min() == 0:
        raise KernelError(_no_window(strings, n, np.flatnonzero(counts == 0), places))
    return counts


def _no_window(strings: Strings, n: int, rows: Int[Array, " k"], places: Sequence[str] | None) -> str:
    length, place = int(strings.lengths()[rows[0]]), place_words(places, int(rows[0]))
    more = "" if len(rows) == 1 else f" (and {len(rows) - 1:,} more like it)"
    if length < n:
        rest = "leave it out" if length == 0 else f"leave it out, or choose n ≤ {length}"
        return f"{place} has {length} letters{more}, too few for n-grams of {n}: {rest}"
    return f"{place} has an unknown letter in each of its n-grams of {n}{more}: leave it out, or choose a smaller n"


def window_numbers(strings: Strings, n: int, offset: int, length: int) -> Int[Array, " W"]:
    """The letters offset..offset+length−1 of every window of n that counts, as one number in base len(alphabet)."""
    if len(strings.alphabet) ** length > MOST_NUMBERS:
        raise KernelError(
            f"{length}-grams of {len(strings.alphabet)} letters are too many to number: choose a smaller n"
        )
    places = np.flatnonzero(whole_windows(strings, n))
    numbers = np.zeros(len(places), np.int64)
    for step in range(offset, offset + length):
        numbers *= len(strings.alphabet)
        numbers += strings.letters[places + step]
    return numbers
