"""The command that looks for near-duplicates in a pool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import Engine, Json, StudyPath
from dissensus.study import Study


@app.command()
def duplicates(
    study: StudyPath,
    radius: Annotated[
        float | None,
        typer.Option(help="Distance up to which two pictures are near-duplicates, 0 to 2.", show_default="0.45"),
    ] = None,
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--approximate",
            help="Compare all pairs, or only those whose 64-bit codes are similar, which may miss some.",
            show_default="exact up to 200,000 different pictures",
        ),
    ] = None,
    bits: Annotated[
        int | None,
        typer.Option(
            help="In how many bits codes may differ, 0 to 16; fewer are faster and miss more.", show_default="11"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the groups to a .csv or .jsonl file: group, item, kept, distance, identical.",
            show_default=False,
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write the pool with one item of every group to a .csv file, for select --eligible or for pool.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    json: Json = False,
) -> None:
    """Look for near-duplicates in the pool of STUDY: recompressed, scaled, brighter, grey or slightly cropped copies.

    Nothing is removed. To leave copies out of the selection, write the items to keep (--keep) and give that file to
    `dissensus select --eligible` (labels), or make a new study from it with `dissensus pool`. Of every group, the
    picture with most pixels is kept. Pictures that cannot be read are counted. Run it again to resume; if items were
    added to the pool, only these are read.

    Example: `dissensus duplicates birds --radius 0.3 --out groups.csv --keep kept.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress, engine)
        found = opened.duplicates(radius, bits, exact=exact, out=out, keep=keep)
    printing.show_duplicates(study, found, opened.settings, out, keep, json)
