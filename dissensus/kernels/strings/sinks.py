"""Convolutional kitchen sinks (Algorithm 2 of the thesis): random features of strings whose products are a kernel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError
from dissensus.kernels.strings.alphabets import Alphabet, alphabet_named, encode
from dissensus.kernels.strings.ngrams import Texts, check_gamma
from dissensus.kernels.strings.windows import check_length, window_counts, window_numbers
from dissensus.processors import on_all_cores

BLOCK = 128
"""Features whose tables are used together: 512 KB for DNA and two pieces of four letters, which the cache holds."""
MOST_ROWS = 512
"""Entries of a table; a longer n-gram is cut into more pieces."""
Pooling = Literal["sum", "mean"]


@dataclass(frozen=True, eq=False)
class KitchenSinks:
    """Random filters of n letters, one weight for each letter at each place, and their phases.

    Products of features approximate `ngram_kernel(…, power=1)` with the same n and γ, without bias: with weights of
    variance γ, the mean of 2 cos(w·u + b) cos(w·v + b) over w and b is exp(−γ ‖u − v‖² / 2), and ‖u − v‖² is twice the
    number of letters in which two n-grams differ. `pooling="mean"` divides by the number of n-grams of each string.
    """

    alphabet: Alphabet
    gamma: float
    weights: Float[Array, "M n q"]
    """For γ = 1; the same seed gives the same filters, only wider ones, for every γ."""
    phases: Float[Array, " M"]
    pooling: Pooling = "sum"

    @property
    def n(self) -> int:
        return self.weights.shape[1]

    def __len__(self) -> int:
        return len(self.phases)

    @cached_property
    def pieces(self) -> list[tuple[int, int]]:
        """Offset and length of the pieces that an n-gram is cut into, as equal as possible."""
        longest = 1
        while len(self.alphabet) ** (longest + 1) <= MOST_ROWS:
            longest += 1
        ends = np.linspace(0, self.n, -(-self.n // longest) + 1).round().astype(int)
        return [(int(a), int(b - a)) for a, b in pairwise(ends)]

    @cached_property
    def tables(self) -> list[Float[Array, "p r 2 f"]]:
        """Cosines and sines of every possible piece, for each block of features."""
        rows = len(self.alphabet) ** max(length for _, length in self.pieces)
        return [self._table(slice(first, first + BLOCK), rows) for first in range(0, len(self), BLOCK)]

    def _table(self, block: slice, rows: int) -> Float[Array, "p r 2 f"]:
        weights = np.sqrt(self.gamma) * self.weights[block]
        table = np.zeros((len(self.pieces), rows, 2, len(weights)), np.float32)
        for piece, (offset, length) in enumerate(self.pieces):
            angles = np.zeros((1, len(weights))) if piece else self.phases[block][None]
            for place in range(offset, offset + length):
                angles = (angles[:, None] + weights[:, place].T).reshape(-1, len(weights))
            table[piece, : len(angles), 0], table[piece, : len(angles), 1] = np.cos(angles), np.sin(angles)
        return table

    def features(self, sequences: Texts) -> Float[Array, "N M"]:
        """The features of every string, float32.

        Raises:
            KernelError: a string has no n-gram that counts, or is of another alphabet.
        """
        from dissensus.kernels.strings.sinks_kernel import summed_cosines

        strings = encode(sequences, self.alphabet)
        if strings.alphabet != self.alphabet:
            raise KernelError(f"the strings are of {strings.alphabet.name}, the sinks of {self.alphabet.name}")
        counts = window_counts(strings, self.n)
        bounds = np.concatenate([[0], np.cumsum(counts)])
        numbers = np.stack([window_numbers(strings, self.n, *piece) for piece in self.pieces], axis=1).astype(np.int32)
        out = np.empty((len(strings), len(self)), np.float32)

        def fill(block: int) -> None:
            columns = slice(block * BLOCK, (block + 1) * BLOCK)
            summed_cosines(self.tables[block], numbers, bounds, out[:, columns])

        self.tables  # noqa: B018 (made once, before threads ask for it)
        on_all_cores(fill, range(-(-len(self) // BLOCK)))
        out *= self._scale(counts)
        return out

    def _scale(self, counts: Int[Array, " N"]) -> Float[Array, "N 1"]:
        scale = np.full(len(counts), np.sqrt(2 / len(self)))
        return (scale / counts if self.pooling == "mean" else scale).astype(np.float32)[:, None]


def draw_sinks(
    n: int = 8,
    features: int = 8192,
    gamma: float = 1.0,
    seed: int = 0,
    alphabet: str | Alphabet = "dna",
    pooling: Pooling = "sum",
) -> KitchenSinks:
    """Random filters; the first ones are the same for every number of features.

    Raises:
        KernelError: n, the number of features or γ is not positive, or the pooling is unknown.
    """
    check_length(n)
    check_gamma(gamma)
    if features < 1:
        raise KernelError(f"{features} features: give at least 1")
    if pooling not in ("sum", "mean"):
        raise KernelError(f"pooling '{pooling}': choose sum or mean")
    alphabet = alphabet_named(alphabet)
    for_weights, for_phases = np.random.SeedSequence(seed).spawn(2)
    weights = np.random.default_rng(for_weights).standard_normal((features, n, len(alphabet)))
    phases = np.random.default_rng(for_phases).uniform(0, 2 * np.pi, features)
    return KitchenSinks(alphabet, float(gamma), weights, phases, pooling)


def kitchen_sinks(
    sequences: Texts,
    n: int = 8,
    features: int = 8192,
    gamma: float = 1.0,
    seed: int = 0,
    alphabet: str | Alphabet = "dna",
    pooling: Pooling = "sum",
) -> Float[Array, "N M"]:
    """Random features of strings (Algorithm 2), whose products approximate `ngram_kernel` with the same n and γ.

    Raises:
        KernelError: a string has no n-gram that counts, or a setting is not positive.
    """
    strings = encode(sequences, alphabet)
    return draw_sinks(n, features, gamma, seed, strings.alphabet, pooling).features(strings)
