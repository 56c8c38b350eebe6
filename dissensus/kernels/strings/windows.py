"""The n-grams of strings: which windows count, and their numbers.

A window counts if it lies inside one string and all its letters are known. Everything in this folder counts the same
windows, so that the kernels, their random features and the counts of n-grams are about the same thing.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import KernelError
from dissensus.kernels.strings.alphabets import Strings

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


def window_counts(strings: Strings, n: int) -> Int[Array, " N"]:
    """How many windows of each string count.

    Raises:
        KernelError: a string has none: it is too short, or has an unknown letter in every window.
    """
    check_length(n)
    before = np.concatenate([[0], np.cumsum(whole_windows(strings, n))])
    counts = np.diff(before[strings.starts])
    if len(counts) and counts.min() == 0:
        raise KernelError(_no_window(strings, n, int(np.argmax(counts == 0)), int((counts == 0).sum())))
    return counts


def _no_window(strings: Strings, n: int, row: int, count: int) -> str:
    length = int(strings.lengths()[row])
    of = "" if count == 1 else f" (and {count - 1:,} more like it)"
    if length < n:
        return f"sequence {row + 1} has {length} letters{of}, too few for n-grams of {n}: leave it out, or choose n ≤ {length}"
    return f"sequence {row + 1} has an unknown letter in each of its n-grams of {n}{of}: leave it out, or choose a smaller n"


def window_numbers(strings: Strings, n: int, offset: int, length: int) -> Int[Array, " W"]:
    """The letters offset..offset+length−1 of every window of n that counts, read as one number in base len(alphabet)."""
    if len(strings.alphabet) ** length > MOST_NUMBERS:
        raise KernelError(f"{length}-grams of {len(strings.alphabet)} letters are too many to number: choose a smaller n")
    places = np.flatnonzero(whole_windows(strings, n))
    numbers = np.zeros(len(places), np.int64)
    for step in range(offset, offset + length):
        numbers *= len(strings.alphabet)
        numbers += strings.letters[places + step]
    return numbers
