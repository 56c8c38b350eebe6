"""Kernels of strings: n-grams, spectra, random features of them, and shuffles that keep dinucleotides."""

from dissensus.kernels.strings.alphabets import (
    ALPHABETS,
    Alphabet,
    Strings,
    alphabet_named,
    both_strands,
    encode,
    reverse_complements,
)
from dissensus.kernels.strings.ngrams import ngram_counts, ngram_kernel, spectrum_kernel
from dissensus.kernels.strings.shuffles import dinucleotide_shuffles
from dissensus.kernels.strings.sinks import KitchenSinks, draw_sinks, kitchen_sinks

__all__ = [
    "ALPHABETS",
    "Alphabet",
    "KitchenSinks",
    "Strings",
    "alphabet_named",
    "both_strands",
    "dinucleotide_shuffles",
    "draw_sinks",
    "encode",
    "kitchen_sinks",
    "ngram_counts",
    "ngram_kernel",
    "reverse_complements",
    "spectrum_kernel",
]
