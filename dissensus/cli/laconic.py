"""Commands of the laconic test."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import agreed, app, serving
from dissensus.cli.asking import kept_password
from dissensus.cli.options import Database, Host, Json, Port, StudyPath, Trust
from dissensus.study import Study

laconic = typer.Typer(no_args_is_help=True, help="How little of an image is enough, for classifiers and for people.")
app.add_typer(laconic, name="laconic")


Truth = Annotated[
    Path | None,
    typer.Option(
        help="Table with the columns item and label: the true class of each image. Needed once; kept in the study.",
        show_default=False,
    ),
]
Classes = Annotated[
    Path | None,
    typer.Option(
        help="Coarser classes (such as dog): .txt with a name per line, or .csv with name and label. Needs --truth.",
        show_default="the study's",
    ),
]


@laconic.command("find")
def laconic_find(
    study: StudyPath,
    truth: Truth = None,
    classes: Classes = None,
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Search only this model; may be repeated.", show_default=False),
    ] = None,
    naive: Annotated[
        bool, typer.Option("--naive", help="Also accept images that no unbroken path of right answers leads to.")
    ] = False,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Find how little of each image is enough for each model of STUDY, and who recognises whose reduced images.

    Images lose colours, resolution or their borders step by step, as long as the model is still right. An interrupted
    search resumes when you run the command again.

    Example: `dissensus laconic find pets --truth truth.csv --classes coarse.txt`
    """
    opened = agreed(Study(study), trust, models=True, again=[*Study(study).settings.models])
    with printing.progress(quiet=json) as progress:
        opened.progress = progress
        found = opened.laconic(truth, classes, models=model or (), naive=naive)
    printing.show_laconic(study, found, json)


@laconic.command("report")
def laconic_report(
    study: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML file to write.", show_default="STUDY/results/laconic.html"),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(
            help="Also write every figure here as SVG, PDF and CSV, and every table as CSV.", show_default=False
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write one HTML page: who needs least, what is left of the images, and who recognises whose.

    Example: `dissensus laconic report pets --figures figures`
    """
    opened = Study(study)
    path = opened.laconic_report(output, figures)
    printing.show_laconic_report(path, opened.laconic_reported(), json)


@laconic.command("pool")
def laconic_pool(
    study: StudyPath,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder for the reduced images.", show_default=False)],
    reduction: Annotated[
        str | None, typer.Option(help="Only images reduced this way, such as combined.", show_default="all")
    ] = None,
    json: Json = False,
) -> None:
    """Write the reduced images of STUDY as a pool, to see where models disagree when information runs out.

    Example: `dissensus laconic pool pets reduced --reduction combined`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        written = opened.laconic_pool(folder, reduction)
    printing.show_reduced_pool(written, json)


@laconic.command("serve")
def laconic_serve(
    study: StudyPath,
    host: Host = None,
    port: Port = None,
    answers: Annotated[
        int | None, typer.Option(help="Players per question; 1 to try it alone.", show_default="study.toml, or 3")
    ] = None,
    database: Database = None,
    truth: Truth = None,
    classes: Classes = None,
    json: Json = False,
) -> None:
    """Let people play in their browsers: who needs to see least of a picture to say what it shows?

    Players sign in with personal links: `dissensus annotators add`. Nobody gets the same picture twice, so many players
    are needed; how many is printed first. Options given here are saved in study.toml. Stop with Ctrl-C.

    Example: `dissensus laconic serve pets --answers 1`
    """
    with serving():
        ready = printing.show_serving(study, json)
        opened, password, notify = Study(study), kept_password(database, json), printing.say_beside(json)
        opened.laconic_serve(
            ready, host, port, notify, answers=answers, database=password, truth=truth, classes=classes
        )
    printing.say_beside(json)("stopped; every acknowledged answer is stored")
