"""The command about sequences that are bound or not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.kernel import kernel
from dissensus.cli.options import Json
from dissensus.errors import KernelError


@kernel.command("sequences")
def kernel_sequences(
    train: Annotated[
        Path,
        typer.Argument(
            metavar="TRAIN",
            help="FASTA or DeepBind file, .gz or not; without unbound sequences, shuffles take their place.",
            show_default=False,
        ),
    ],
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Sequences to test on, as TRAIN.", show_default="a fifth of TRAIN"),
    ] = None,
    negatives: Annotated[
        Path | None, typer.Option(metavar="FILE", help="More sequences for TRAIN, all unbound.", show_default=False)
    ] = None,
    n: Annotated[int, typer.Option("--n", help="Letters of an n-gram.")] = 8,
    features: Annotated[int, typer.Option(help="Random features.")] = 8192,
    gamma: Annotated[
        float | None, typer.Option(help="Width γ: a mismatch costs a factor e^−γ.", show_default="tuned")
    ] = None,
    penalty: Annotated[
        float | None, typer.Option(help="Penalty λ of the ridge regression.", show_default="tuned")
    ] = None,
    shuffles: Annotated[int, typer.Option(help="Dinucleotide shuffles of each bound sequence.")] = 3,
    baseline: Annotated[bool, typer.Option("--baseline", help="Also learn from counts of 6-mers.")] = False,
    alphabet: Annotated[str, typer.Option(help="dna, rna, protein, or all letters, such as abc.")] = "dna",
    both_strands: Annotated[
        bool | None,
        typer.Option(
            "--both-strands/--one-strand",
            help="Whether a sequence and its reverse complement are the same.",
            show_default="both for dna, one for the rest",
        ),
    ] = None,
    scores: Annotated[
        Path | None, typer.Option(metavar="FILE", help="CSV of test sequences with scores.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(help="Of the features, the shuffles and what is held out.")] = 0,
    json: Json = False,
) -> None:
    """Learn which sequences a protein binds, by convolutional kitchen sinks, and print how well that works (AUC).

    γ and λ are tuned on a quarter of TRAIN that is held out; TEST is never used for that.

    Example: `dissensus kernel sequences train.seq.gz --test test.seq.gz --baseline`
    """
    from dissensus.study.sequences import learn_sequences, write_scores

    if scores is not None and test is None:
        raise KernelError("--scores are those of a test file: give --test, too")
    if scores is not None and scores.resolve() in {path.resolve() for path in (train, test, negatives) if path}:
        raise KernelError(f"{scores} is one of the files to read: choose another one for the scores")
    if scores is not None and scores.is_dir():
        raise KernelError(f"{scores} is a folder: give the name of a CSV file")
    strands = None if both_strands is None else 1 + both_strands
    with printing.progress(quiet=json) as progress:
        result = learn_sequences(
            train, test, negatives=negatives, n=n, features=features, gamma=gamma, penalty=penalty, shuffles=shuffles,
            baseline=baseline, alphabet=alphabet, seed=seed, strands=strands, progress=progress,
        )  # fmt: skip
    if scores is not None:
        write_scores(result, scores)
    printing.show_sequences(result, scores, json)
