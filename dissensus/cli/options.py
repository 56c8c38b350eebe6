"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

# Keys of registries, written out so that --help does not have to import them; a test keeps them in sync.
RANKERS = "perron, hodgerank, bradley-terry"
ATTACK_RANKERS = "thurstone, bradley-terry, hodgerank, perron"
FORMATS = "rows, label-studio, labelme, coco, png"
DISTANCES = "weighted, weighted-exactly, hops, zero-one"
MEASURES = "miou, miou-all, fwiou, mpa"
RULES = "adaptive, random, disagree, mad"
GOALS = "order, best"
DISTORTIONS = "jpeg,jpeg2000,noise,blur"

StudyPath = Annotated[Path, typer.Argument(metavar="STUDY", help="The study folder.", show_default=False)]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help="What has to be decided: best, order, ε=0.01 (or eps=1%: differences to ±1 point), or order,ε=0.01.",
        show_default=False,
    ),
]
Host = Annotated[str | None, typer.Option(help="Address to listen on.", show_default="study.toml, or 127.0.0.1")]
Port = Annotated[int | None, typer.Option(help="Port; 0 picks a free one.", show_default="study.toml, or 8765")]
Database = Annotated[
    str | None, typer.Option(help="postgresql://…: store answers there instead of in a file.", show_default=False)
]
PublicTitle = Annotated[
    str | None,
    typer.Option(
        help="Heading that annotators see; it must not tell what is compared.", show_default="study.toml, or Questions"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document, with the sentences in `words`.")]
Models = Annotated[list[str], typer.Argument(metavar="NAME=BACKEND:TARGET", help="Models to add.", show_default=False)]
Format = Annotated[
    str | None,
    typer.Option("--format", help=f"One of {FORMATS}; detected by default.", show_default=False),
]
Ranked = Annotated[
    str | None,
    typer.Option(
        "--method",
        help=f"One of {RANKERS}; for scores and masks {ATTACK_RANKERS}.",
        show_default="study.toml",
    ),
]
Trust = Annotated[
    bool, typer.Option("--trust", help="Agree to run the code that STUDY refers to; needed once for others' studies.")
]
Engine = Annotated[
    str,
    typer.Option(
        "--engine",
        help="Where to compute: local (all cores), ray (the cluster at $RAY_ADDRESS, or one on this machine), or "
        "ray:ADDRESS.",
    ),
]
PersonName = Annotated[str, typer.Argument(metavar="NAME", help="The annotator's name.", show_default=False)]
Lower = Annotated[
    list[str] | None,
    typer.Option(
        "--lower", metavar="NAME", help="A model for which lower scores are better (scores).", show_default=False
    ),
]
Preprocessing = Annotated[
    list[str] | None,
    typer.Option(
        "--preprocess",
        "-p",
        metavar="KEY=VALUE",
        help="Preprocessing for these models, such as size=160; for masks also labels=voc.",
    ),
]
