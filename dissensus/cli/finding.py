"""What came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import Json, Ranked, StudyPath
from dissensus.discrepancy.labels import DISCREPANCIES, class_distances, default_discrepancy
from dissensus.records import Rankings
from dissensus.store.classes import classes_of, read_classes
from dissensus.study import Study


@app.command()
def rank(
    study: StudyPath,
    method: Ranked = None,
    json: Json = False,
) -> None:
    """Rank the models of STUDY, best first, with intervals, rank sets and what they mean in words.

    Example: `dissensus rank birds --method perron --json`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        ranking = opened.rank(method)
        if isinstance(ranking, Rankings):
            return printing.show_rankings(ranking, json)
        agreement = opened.consensus() if opened.settings.task == "labels" else None
    return printing.show_ranking(ranking, opened.classes, agreement, opened.benchmark(ranking), json)


@app.command()
def report(
    study: StudyPath,
    method: Ranked = None,
    benchmark: Annotated[
        Path | None,
        typer.Option(help="CSV of model and a score to compare with, kept with the study.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Rank the models and write one HTML page with everything: results/report.html.

    Example: `dissensus report birds --benchmark accuracy.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        path = opened.report(method, benchmark)
    printing.show_report(path, json)


@app.command()
def status(study: StudyPath, json: Json = False) -> None:
    """Say how far STUDY has come and what to do next.

    Example: `dissensus status birds`
    """
    printing.show_status(Study(study).status(), json)


@app.command()
def distance(
    a: Annotated[str, typer.Argument(metavar="A", help="A class: name, number or id (wnid).")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    classes: Annotated[str, typer.Option(help="imagenet, or a file of classes.")] = "imagenet",
    taxonomy: Annotated[Path | None, typer.Option(help="CSV of child,parent.", show_default=False)] = None,
    method: Annotated[
        str | None,
        typer.Option("--distance", help=f"One of {', '.join(DISCREPANCIES)}.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Print how far apart two classes are.

    Example: `dissensus distance drake "American coot" --classes imagenet`
    """
    known = classes_of(read_classes(classes, taxonomy))
    name = method or default_discrepancy(known)
    one, other = known.index_of(a), known.index_of(b)
    value = float(class_distances(known, name)[one, other])
    printing.show_distance(known, one, other, name, value, json)
