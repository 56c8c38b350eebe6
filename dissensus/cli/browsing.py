"""The command to look through predictions."""

from __future__ import annotations

from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, serving
from dissensus.cli.options import Json, StudyPath
from dissensus.study import Study


@app.command()
def browse(
    study: StudyPath,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(help="Port; 0 picks a free one.", show_default="study.toml, or a free one if that is in use"),
    ] = None,
    json: Json = False,
) -> None:
    """Look through what the models predict, item by item, in your browser; stop with Ctrl-C.

    The page is for you only. It shows every model's prediction and filters items by class, model, disagreement and
    confidence. It needs no questions and changes nothing. While a study is served, its dashboard links to the same
    page.

    Example: `dissensus browse birds`
    """
    with serving():
        Study(study).browse(printing.show_browsing(study, json), host, port)
    printing.say_beside(json)("stopped")
