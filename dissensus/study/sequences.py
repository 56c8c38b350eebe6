"""Which sequences are bound, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dissensus.errors import KernelError

if TYPE_CHECKING:
    from dissensus.progress import Progress
    from dissensus.records.sequences import SequenceResult


def learn_sequences(
    train: str | Path,
    test: str | Path | None = None,
    *,
    negatives: str | Path | None = None,
    n: int = 8,
    features: int = 8192,
    gamma: float | None = None,
    penalty: float | None = None,
    shuffles: int = 3,
    baseline: bool = False,
    alphabet: str = "dna",
    seed: int = 0,
    strands: int | None = None,
    progress: Progress | None = None,
) -> SequenceResult:
    """Learn which sequences are bound by convolutional kitchen sinks, and how well that works on others.

    Args:
        train: A FASTA or DeepBind file, compressed with gzip or not. Sequences without a label count as bound. If none
            is unbound, dinucleotide shuffles of the bound ones take their place.
        test: The same, for the test; a fifth of `train` by default.
        negatives: More sequences to learn from, all unbound.
        n: Letters of an n-gram.
        features: Random features.
        gamma: Width of the kernel; tuned on held-out sequences of `train` by default.
        penalty: Of the ridge regression, relative to the spread of the features; tuned by default.
        shuffles: Of each bound sequence.
        baseline: Also learn from counts of 6-mers.
        alphabet: dna, rna, protein, or all letters.
        seed: Of the features, the shuffles and what is held out.
        strands: 2 if a sequence and its reverse complement are the same molecule, otherwise 1; by default 2 for dna.
        progress: Is told what is being done, how much of it is done, and how much there is.

    Raises:
        KernelError: a file cannot be read, or there is nothing to learn from it.
    """
    from dissensus.progress import silent
    from dissensus.steps import sequences

    settings = sequences.SequenceSettings(n, features, gamma, penalty, shuffles, baseline, alphabet, seed, strands)
    paths = [None if path is None else Path(path) for path in (test, negatives)]
    return sequences.learn_sequences(Path(train), paths[0], paths[1], settings, progress or silent)


def write_scores(result: SequenceResult, path: str | Path) -> None:
    """Write the names and scores of the test sequences as CSV, best first.

    Raises:
        KernelError: there were none in a file of their own.
    """
    from dissensus.store.files import csv_text, write_text

    if not result.names:
        raise KernelError("there are scores only for a test file: give one, too")
    rows = sorted(zip(result.names, result.scores, strict=True), key=lambda row: -row[1])
    write_text(Path(path), csv_text([("sequence", "score"), *((name, f"{score:.6f}") for name, score in rows)]))
