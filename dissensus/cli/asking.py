"""Commands for questions and answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import agreed, app, judgements, serving
from dissensus.cli.options import Database, Format, Host, Json, Port, PublicTitle, StudyPath, Trust, Until
from dissensus.study import Study


@app.command()
def questions(
    study: StudyPath,
    sheet: Annotated[
        Path | None,
        typer.Argument(
            metavar="SHEET", help="Write the questions to this .html, .csv or .jsonl file.", show_default=False
        ),
    ] = None,
    image_url: Annotated[
        str | None,
        typer.Option(help="Base URL of the images: adds a column for crowdsourcing platforms.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List the open questions, or write them to an answer sheet.

    For labels, the sheet can be an .html page that works offline in any browser, a .csv or a .jsonl file. For scores
    it is .csv or .jsonl, for masks .jsonl.

    Example: `dissensus questions birds sheet.html`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).questions(sheet, image_url)
    printing.show_questions(found, sheet, study, json)


@judgements.command("import")
def judgements_import(
    study: StudyPath,
    file: Annotated[
        Path, typer.Argument(help="A table with item, label, annotator and answer, or another tool's export.")
    ],
    format: Format = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who answered, if the file does not say.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Import the answers in FILE, all or nothing; answers that are already stored are not stored twice.

    FILE is a .jsonl, .csv or .parquet table, or an export from Label Studio, LabelMe (a folder or .zip) or COCO.
    Answers to 'does it contain …?' are yes, no, unsure or unfit. Slider answers are numbers from −100 (the first item
    is better) to 100 (the second is better), or unfit; choices are first, second or same. Masks come as a folder or
    .zip of LabelMe files, or of indexed PNGs named after the items (these need --annotator).

    Example: `dissensus judgements import birds answers.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        new = opened.judgements_import(file, format, annotator)
    printing.show_import(new, opened.status(), json)


@judgements.command("export")
def judgements_export(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A .jsonl, .csv or .parquet file; see --format for others.")],
    format: Format = None,
    json: Json = False,
) -> None:
    """Write all answers to FILE, in the order in which they were given.

    With --format png, FILE is a new folder or a .zip that gets the latest mask of every item as an indexed PNG.

    Example: `dissensus judgements export birds answers.parquet`
    """
    notes: list[str] = []
    written = Study(study).judgements_export(file, format, notes.append)
    printing.show_export(file, written, notes, json)


@app.command()
def ask(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A .jsonl or .csv file of questions: kind, its fields, expected, note.")],
    role: Annotated[str, typer.Option("--as", help="Role of the questions: asked, control or training.")] = "asked",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Add your own questions, or questions with known answers: controls mixed in with the rest, or training up front.

    Example: `dissensus ask birds controls.csv --as control`
    """
    new, total = agreed(Study(study), trust).ask(file, role)
    printing.show_asked(new, total, role, json)


@app.command()
def serve(
    study: StudyPath,
    host: Host = None,
    port: Port = None,
    answers: Annotated[
        int | None, typer.Option(help="Annotators per question; 1 to try it alone.", show_default="study.toml, or 3")
    ] = None,
    database: Database = None,
    until: Until = None,
    public_title: PublicTitle = None,
    examples: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Example pictures: a subfolder, or a picture, with the name of each class.",
            show_default="study.toml, or none",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Serve the questions to annotators' browsers without revealing the models; stop with Ctrl-C, no answer is lost.

    Annotators sign in with personal links: `dissensus annotators add`. Each question goes to three people unless
    --answers or study.toml says otherwise, except masks: one person draws, another checks. What that costs is printed
    first.
    With --until, questions are drawn at random, more often where they decide more, until that is known (labels only).
    Options given here are saved in study.toml.

    Example: `dissensus serve birds --answers 5`
    """
    database, notify = kept_password(database, json), printing.say_beside(json)
    with serving():
        ready = printing.show_serving(study, json)
        Study(study).serve(
            ready, host, port, notify, answers=answers, database=database, until=until,
            public_title=public_title, examples=examples,
        )  # fmt: skip
    notify("stopped; every acknowledged answer is stored")


def kept_password(database: str | None, json: bool) -> str | None:
    """The URL of a database, if it may be saved in a file; one with a password applies to this process only."""
    from dissensus.store.database import VARIABLE, has_password

    if database is None or not has_password(database):
        return database
    os.environ[VARIABLE] = database
    told = f"The database URL has a password and is not saved in study.toml: set {VARIABLE} for other commands."
    printing.say_beside(json)(told)
    return None
