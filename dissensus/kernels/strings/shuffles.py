"""Shuffled strings with the same pairs of neighbouring letters: unbound sequences of the same composition."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool
from dissensus.errors import KernelError
from dissensus.kernels.strings.alphabets import Alphabet, Strings, encode
from dissensus.kernels.strings.ngrams import Texts


def dinucleotide_shuffles(
    sequences: Texts, copies: int = 1, seed: int = 0, alphabet: str | Alphabet = "dna"
) -> Strings:
    """Shuffles of each string, drawn uniformly from all strings with exactly its counts of pairs of neighbours.

    The first and the last letter stay where they are, which the counts imply unless both are the same; an unknown
    letter is one more letter. String i has the shuffles i·copies, …, (i + 1)·copies − 1. A shuffle may be the string
    itself, always so if no other has its counts: see `unchanged`. (Altschul and Erickson, 1985.)

    Raises:
        KernelError: `copies` is less than 1, or a string has characters that the alphabet lacks.
    """
    from dissensus.kernels.strings.shuffles_kernel import shuffle_rows

    strings = encode(sequences, alphabet)
    if copies < 1:
        raise KernelError(f"{copies} shuffles of each sequence: give at least 1")
    lengths = np.repeat(strings.lengths(), copies)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    letters = np.empty(starts[-1], np.uint8)
    random = np.random.default_rng(seed)
    shuffle_rows(strings.letters, strings.starts, len(strings.alphabet) + 1, copies, random, letters)
    return Strings(strings.alphabet, letters, starts)


def unchanged(strings: Strings, shuffles: Strings) -> Bool[Array, " n"]:
    """Which of the shuffles are the string itself."""
    copies = len(shuffles) // max(len(strings), 1)
    pairs = zip((one for one in strings for _ in range(copies)), shuffles, strict=True)
    return np.array([np.array_equal(one, other) for one, other in pairs], bool)
