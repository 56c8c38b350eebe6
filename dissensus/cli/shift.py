"""Commands about two test sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import Json
from dissensus.errors import TransferError
from dissensus.study.comparing import compare_test_sets, write_shift_page

shift = typer.Typer(
    no_args_is_help=True, help="Does a score survive a new test set? Build one, and compare models on both."
)
app.add_typer(shift, name="shift")


@shift.command("compare")
def shift_compare(
    table: Annotated[
        Path | None,
        typer.Argument(
            metavar="TABLE",
            help="CSV or Parquet with the columns model, original, new; optional: n_original, n_new, family, fresh.",
            show_default=False,
        ),
    ] = None,
    original: Annotated[
        Path | None,
        typer.Option(metavar="STUDY", help="Study with predictions on the original set.", show_default=False),
    ] = None,
    new: Annotated[
        Path | None, typer.Option(metavar="STUDY", help="Study with predictions on the new set.", show_default=False)
    ] = None,
    truth_original: Annotated[
        Path | None, typer.Option(help="Table with item and label: the true classes there.", show_default=False)
    ] = None,
    truth_new: Annotated[
        Path | None, typer.Option(help="Table with item and label: the true classes there.", show_default=False)
    ] = None,
    near_duplicates: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE[,ACCURACY]",
            help="Share of near-duplicates in the original set, and the accuracy on them (1 if not given): 0.08,1.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML page to write.", show_default=False)
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write every figure here as SVG, PDF and CSV, and every table as CSV.", show_default=False),
    ] = None,
    resamples: Annotated[int, typer.Option(help="Bootstrap samples of the models.")] = 100_000,
    seed: Annotated[int, typer.Option(help="Seed of the bootstrap.")] = 0,
    json: Json = False,
) -> None:
    """Compare models on two test sets: does a score survive, who drops more than expected, and why?

    From a TABLE of accuracies (fractions if all are at most 1 and none has a per cent sign, otherwise per cent), or
    from the predictions of two studies, whose models are matched by name.

    Example: `dissensus shift compare accuracies.csv --output page.html`
    """
    if table is not None and output is not None and output.resolve() == table.resolve():
        raise TransferError(f"{output} is the table itself: choose another file for the page")
    result = compare_test_sets(
        table,
        original=original,
        new=new,
        truth_original=truth_original,
        truth_new=truth_new,
        near_duplicates=_duplicates(near_duplicates),
        resamples=resamples,
        seed=seed,
    )
    write_shift_page(result, output, figures)
    printing.show_shift(result, output, json)


def _duplicates(text: str | None) -> tuple[float, float] | None:
    """Share of near-duplicates and the accuracy on them."""
    if text is None:
        return None
    try:
        share, *rest = (float(part) for part in text.split(","))
        (accuracy,) = rest or (1.0,)
    except ValueError:
        raise TransferError(f"--near-duplicates {text}: give a share and an accuracy, such as 0.08,1") from None
    return share, accuracy
