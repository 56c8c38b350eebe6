"""Commands of the laconic test."""

from __future__ import annotations

from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, serving
from dissensus.cli.asking import kept_password
from dissensus.cli.options import StudyPath
from dissensus.study import Study

laconic = typer.Typer(no_args_is_help=True, help="How little of an image is enough, for classifiers and for people.")
app.add_typer(laconic, name="laconic")


@laconic.command("serve")
def laconic_serve(
    study: StudyPath,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.", show_default="study.toml, or 127.0.0.1")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port; 0 picks a free one.", show_default="study.toml, or 8765")
    ] = None,
    answers: Annotated[
        int | None, typer.Option(help="Players per question; 1 to try it alone.", show_default="study.toml, or 3")
    ] = None,
    database: Annotated[
        str | None, typer.Option(help="postgresql://…: store answers there instead of in a file.", show_default=False)
    ] = None,
) -> None:
    """Let people play in their browsers: who needs the least of a picture to say what it shows?

    Players sign in with personal links: `dissensus annotators add`. Nobody gets the same picture twice, so many of them
    are needed. Options given here are saved in study.toml.

    Example: `dissensus laconic serve pets --answers 1`
    """
    with serving():
        ready = printing.show_serving(study)
        Study(study).laconic_serve(ready, host, port, printing.say, answers=answers, database=kept_password(database))
    printing.say("stopped; every acknowledged answer is stored")
