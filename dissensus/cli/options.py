"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus.ranking import ATTACK_RANKERS, RANKERS
from dissensus.store.exchange import FORMATS

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study folder.", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Models = Annotated[list[str], typer.Argument(metavar="NAME=BACKEND:TARGET", help="Models.", show_default=False)]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"One of {', '.join(FORMATS)}; found out unless said.", show_default=False),
]
Ranked = Annotated[
    str | None,
    typer.Option(
        "--method",
        help=f"One of {', '.join(RANKERS)}; of scores and masks {', '.join(ATTACK_RANKERS)}.",
        show_default="study.toml's",
    ),
]
PersonName = Annotated[str, typer.Argument(metavar="NAME", help="The annotator.", show_default=False)]
Lower = Annotated[
    list[str] | None,
    typer.Option("--lower", metavar="NAME", help="Models whose lower scores are better (scores).", show_default=False),
]
Preprocessing = Annotated[
    list[str] | None,
    typer.Option(
        "--preprocess",
        "-p",
        metavar="KEY=VALUE",
        help="Preprocessing of these models, such as size=160; of maps also labels=voc.",
    ),
]
