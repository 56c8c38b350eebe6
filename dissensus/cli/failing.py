"""Commands for failures and their causes."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, causes
from dissensus.cli.options import Json, StudyPath
from dissensus.errors import counted
from dissensus.study import Study


@app.command()
def failures(
    study: StudyPath,
    model: Annotated[str | None, typer.Option(help="Only this model.", show_default=False)] = None,
    worst: Annotated[int, typer.Option(help="How many of the worst errors to list for each model.", min=0)] = 5,
    json: Json = False,
) -> None:
    """Where does each model fail? Its worst errors, which classes it confuses, and what sets it apart from the others.

    Example: `dissensus failures birds --model resnet --json`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).failures(model)
    printing.show_failures(found, worst, json)


@causes.command("export")
def causes_export(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A new .csv file for people to fill in.")],
    json: Json = False,
) -> None:
    """Write all failures of the models to FILE, with their causes so far.

    Fill in the last column in a spreadsheet: a few words, the same for failures with the same cause.

    Example: `dissensus causes export birds failures.csv`
    """
    number = Study(study).causes_export(file)
    with printing.document(json, {"file": str(file), "failures": number}):
        printing.say(f"{file}: {counted(number, 'failure')}; fill in the causes")
        printing.say_next(f"dissensus causes import {shlex.quote(str(study))} {shlex.quote(str(file))}")


@causes.command("import")
def causes_import(
    study: StudyPath,
    file: Annotated[Path, typer.Argument(help="A .csv file with item, model and cause, and optionally by.")],
    by: Annotated[str, typer.Option(help="Who tagged them, if the file does not say.")] = "owner",
    json: Json = False,
) -> None:
    """Add the causes in FILE, all or nothing; earlier tags are kept, and the last one counts.

    An empty cause takes a tag back.

    Example: `dissensus causes import birds failures.csv --by ann`
    """
    new = Study(study).causes_import(file, by)
    with printing.document(json, {"new": new}):
        printing.say(counted(new, "cause is new or changed", "causes are new or changed"))
        printing.say_next(f"dissensus report {shlex.quote(str(study))}")


@causes.command("list")
def causes_list(study: StudyPath, json: Json = False) -> None:
    """Show how many failures of each model have which cause.

    Example: `dissensus causes list birds`
    """
    opened = Study(study)
    printing.show_causes(opened.failures().failures, opened.causes(), json)
