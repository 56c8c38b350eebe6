"""Exact kernels of strings: the n-gram kernel, printed and as random features have it, and the spectrum kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError
from dissensus.kernels.strings.alphabets import Alphabet, Strings, encode
from dissensus.kernels.strings.windows import check_length, whole_windows, window_counts, window_numbers
from dissensus.processors import on_all_cores

Texts = Sequence[str] | Strings
POWERS = (1, 2)
MOST_DENSE = 1 << 16


def ngram_kernel(
    x: Texts, z: Texts | None = None, n: int = 8, gamma: float = 1.0, power: int = 1, alphabet: str | Alphabet = "dna"
) -> Float[Array, "N M"]:
    """The sum of exp(−γ Hᵖ) over all pairs of n-grams, where H is how many of their letters differ; z is x by default.

    With p = 1 it is the kernel that kitchen sinks approximate (Algorithm 2), always positive semidefinite. With p = 2
    it is Eq. 6.2.1 of the thesis as printed, which is not positive semidefinite for small γ, so no features have it.
    n-grams with unknown letters do not count. It takes time in proportion to the product of the lengths, whatever n.

    Raises:
        KernelError: a string has no n-gram that counts, or γ is not a positive number, or p is neither 1 nor 2.
    """
    check_gamma(gamma)
    if power not in POWERS:
        raise KernelError(f"power {power}: choose 1 (as kitchen sinks have it) or 2 (as printed)")
    check_length(n)
    return _summed(x, z, n, window_values(n, gamma, power), alphabet)


def window_values(n: int, gamma: float, power: int = 1) -> Float[Array, " n+1"]:
    """The kernel of two n-grams that differ in 0, 1, …, n letters."""
    return np.exp(-gamma * np.arange(n + 1, dtype=float) ** power)


def window_eigenvalues(n: int, letters: int, values: Float[Array, " n+1"]) -> Float[Array, " n+1"]:
    """The distinct eigenvalues of a kernel of n-grams that depends only on how many letters differ.

    They are sums over Krawtchouk polynomials; the kernel is positive semidefinite if none of them is negative. For
    exp(−γH) they are (1 + (q − 1) e^−γ)^(n−j) (1 − e^−γ)^j, all positive.
    """
    from math import comb

    def krawtchouk(h: int, j: int) -> int:
        return sum((-1) ** i * (letters - 1) ** (h - i) * comb(j, i) * comb(n - j, h - i) for i in range(h + 1))

    return np.array([sum(values[h] * krawtchouk(h, j) for h in range(n + 1)) for j in range(n + 1)])


def spectrum_kernel(
    x: Texts, z: Texts | None = None, n: int = 8, alphabet: str | Alphabet = "dna"
) -> Float[Array, "N M"]:
    """How often two strings have the same n-gram, summed over n-grams (Eq. 6.2.2): the n-gram kernel for γ → ∞.

    Raises:
        KernelError: a string has no n-gram that counts.
    """
    x = encode(x, alphabet)
    z = x if z is None else _same_alphabet(x, encode(z, x.alphabet))
    window_counts(x, n), window_counts(z, n)
    numbers = [window_numbers(strings, n, 0, n) for strings in (x, z)]
    known, places = np.unique(np.concatenate(numbers), return_inverse=True)
    first = _count_matrix(x, n, places[: len(numbers[0])], len(known))
    second = _count_matrix(z, n, places[len(numbers[0]) :], len(known))
    return np.asarray((first @ second.T).todense(), dtype=float)


def ngram_counts(strings: Texts, n: int = 6, alphabet: str | Alphabet = "dna") -> Float[Array, "N K"]:
    """How often every possible n-gram occurs in each string, in alphabetical order of the n-grams.

    Raises:
        KernelError: there are more than 65,536 of them, or a string has no n-gram that counts.
    """
    strings = encode(strings, alphabet)
    window_counts(strings, n)
    size = len(strings.alphabet) ** n
    if size > MOST_DENSE:
        raise KernelError(f"there are {size:,} n-grams of {n} letters, at most {MOST_DENSE:,} fit: choose a smaller n")
    return np.asarray(_count_matrix(strings, n, window_numbers(strings, n, 0, n), size).todense(), np.float32)


def _count_matrix(strings: Strings, n: int, numbers: Int[Array, " W"], size: int) -> Any:
    from scipy.sparse import csr_matrix

    rows = np.repeat(np.arange(len(strings)), window_counts(strings, n))
    return csr_matrix((np.ones(len(rows)), (rows, numbers)), shape=(len(strings), size))


def _summed(
    x: Texts, z: Texts | None, n: int, values: Float[Array, " n+1"], alphabet: str | Alphabet
) -> Float[Array, "N M"]:
    from dissensus.kernels.strings.ngrams_kernel import kernel_rows

    x, is_symmetric = encode(x, alphabet), z is None
    z = x if z is None else _same_alphabet(x, encode(z, x.alphabet))
    window_counts(x, n), window_counts(z, n)
    out = np.zeros((len(x), len(z)))
    left, right = ((s.letters, s.starts, whole_windows(s, n)) for s in (x, z))

    def fill(row: int) -> None:
        kernel_rows(*left, *right, n, values, row, row + 1, is_symmetric, out)

    on_all_cores(fill, range(len(x)))
    return np.triu(out) + np.triu(out, 1).T if is_symmetric else out


def _same_alphabet(x: Strings, z: Strings) -> Strings:
    if z.alphabet != x.alphabet:
        raise KernelError(f"the strings are of {x.alphabet.name} and of {z.alphabet.name}: use one alphabet for both")
    return z


def check_gamma(gamma: float) -> None:
    """Refuse a width that makes no kernel.

    Raises:
        KernelError: γ is not a positive, finite number.
    """
    if not np.isfinite(gamma) or gamma <= 0:
        raise KernelError(f"γ = {gamma}: give a positive number")
