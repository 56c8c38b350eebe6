"""The command about classifiers over many data sets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import Json
from dissensus.study.suites import compare_classifiers, write_suite_figures


@app.command()
def suite(
    table: Annotated[
        Path,
        typer.Argument(
            metavar="TABLE",
            help="CSV or Parquet: the column dataset and one per classifier, or dataset, classifier and accuracy.",
            show_default=False,
        ),
    ],
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Write profiles and mean ranks here as SVG, PDF and CSV, and tables as CSV.", show_default=False
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Confidence level of the tests.")] = 0.95,
    skip_incomplete: Annotated[
        bool, typer.Option("--skip-incomplete", help="Leave out data sets on which an accuracy is missing.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare classifiers over many data sets: Friedman ranks, P90, P95, PMA, tests and performance profiles.

    Accuracies are fractions if all are at most 1 and none has a per cent sign, otherwise per cent.

    Example: `dissensus suite accuracies.csv --figures figures`
    """
    result = compare_classifiers(table, level=level, skip_incomplete=skip_incomplete)
    written = [] if figures is None else write_suite_figures(result, figures)
    printing.show_suite(result, written, json)
