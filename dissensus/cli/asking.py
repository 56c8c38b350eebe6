"""Questions and answers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, ignore_signals, judgements
from dissensus.cli.options import Format, Json, StudyPath
from dissensus.store.database import VARIABLE, has_password
from dissensus.study import Study


@app.command()
def questions(
    study: StudyPath,
    sheet: Annotated[
        Path | None,
        typer.Argument(metavar="SHEET", help="Write them to .html (to click), .csv or .jsonl.", show_default=False),
    ] = None,
    image_url: Annotated[
        str | None,
        typer.Option(help="How picture addresses begin: a column for crowdsourcing platforms.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """List the questions that wait for answers, or write an answer sheet.

    The page that works offline in any browser is for classifiers; pairs are written as .csv or .jsonl, images to be
    drawn as .jsonl.

    Example: `dissensus questions birds sheet.html`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).questions(sheet, image_url)
    printing.show_questions(found, sheet, study, json)


@judgements.command("import")
def judgements_import(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A table of item, label, annotator, answer, or another tool's file.")],
    format: Format = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who answered, where the file does not say.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Store the answers of FILE, all or none; an answer stored before is stored once.

    FILE is a .jsonl, .csv or .parquet table, or an export of Label Studio, LabelMe (a folder or .zip) or COCO. Answers
    to 'does it contain …?' are yes, no, unsure and unfit. Answers about pairs are −100 (the first is better) to 100
    (the second) or unfit on a slider, and first, second or same of a choice. Masks are a folder or .zip of LabelMe's
    files, or of indexed PNG named like the items (with --annotator).

    Example: `dissensus judgements import birds answers.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        new = opened.judgements_import(file, format, annotator)
    printing.show_import(new, opened.status(), json)


@judgements.command("export")
def judgements_export(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="Ends in .jsonl, .csv or .parquet, unless --format says otherwise.")],
    format: Format = None,
) -> None:
    """Write every answer to FILE, in the order in which they came.

    With --format png FILE is a new folder or a .zip, with the last mask of every item as an indexed PNG.

    Example: `dissensus judgements export birds answers.parquet`
    """
    written = Study(study).judgements_export(file, format, printing.say)
    printing.say(f"{file}: {written:,} answers")


@app.command()
def ask(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A .jsonl or .csv of questions: kind, its fields, expected, note.")],
    role: Annotated[str, typer.Option("--as", help="asked, control or training.")] = "asked",
) -> None:
    """Add questions of your own, or questions with known answers: controls among the others, or training beforehand.

    Example: `dissensus ask birds controls.csv --as control`
    """
    new, total = Study(study).ask(file, role)
    known = f"; {total - new:,} were there, with this file's answers and notes from now on" if total > new else ""
    printing.say(f"{new:,} new questions ({role}){known}")


@app.command()
def serve(
    study: StudyPath,
    host: Annotated[
        str | None, typer.Option(help="Where to listen.", show_default="study.toml's, or 127.0.0.1")
    ] = None,
    port: Annotated[int | None, typer.Option(help="0: any free one.", show_default="study.toml's, or 8765")] = None,
    answers: Annotated[
        int | None, typer.Option(help="People who answer each question.", show_default="study.toml's, or 1")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="postgresql://…: keep answers there, not in a file.", show_default=False)
    ] = None,
) -> None:
    """Let people answer in their browsers, blind to the models; stop with Ctrl-C, nothing is lost.

    People come in by personal links: `dissensus annotators add`. Settings given here are kept in study.toml.

    Example: `dissensus serve birds --answers 3`
    """
    if database is not None and has_password(database):
        os.environ[VARIABLE], database = database, None
        printing.say(f"Its address has a password, so study.toml does not keep it: set {VARIABLE} for other commands.")
    Study(study).configure(answers=answers, database=database, host=host, port=port)
    opened = Study(study)
    ignore_signals()
    opened.serve(printing.show_serving(study), host, port)
    printing.say("stopped; every answer that was acknowledged is stored")
