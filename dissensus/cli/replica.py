"""Commands that collect a test set again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import serving
from dissensus.cli.asking import kept_password
from dissensus.cli.options import Database, Host, Json, Port, StudyPath
from dissensus.cli.shift import shift
from dissensus.study import Study

Strategy = Annotated[str, typer.Option(help="matched (MatchedFrequency), threshold (Threshold) or top (TopImages).")]


@shift.command("collect")
def shift_collect(
    study: StudyPath,
    originals: Annotated[
        Path | None,
        typer.Option(help="The original test set: a folder with a subfolder per class, or a CSV.", show_default=False),
    ] = None,
    candidates: Annotated[
        Path | None,
        typer.Option(help="New images, in the same form; more can be added later.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Collect originals and candidates in STUDY, and compose the tasks for people.

    A CSV has the columns item or path, and label; optionally keyword and date, and anything else, which is kept.

    Example: `dissensus shift collect pets --originals test-set --candidates candidates.csv`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).shift_collect(originals, candidates)
    printing.show_collected(study, found, json)


@shift.command("duplicates")
def shift_duplicates(
    study: StudyPath,
    features: Annotated[
        Path | None,
        typer.Option(
            help=".npz with the arrays item and features, such as those of a network.",
            show_default="gradients and colours",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Look for near-duplicates among the candidates of STUDY, and between them and the originals.

    Nothing is removed before a person has looked at the pairs: `dissensus shift serve STUDY --page pairs`.

    Example: `dissensus shift duplicates pets`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).shift_duplicates(features)
    printing.show_found_pairs(study, found, json)


@shift.command("serve")
def shift_serve(
    study: StudyPath,
    page: Annotated[
        str,
        typer.Option(help="grid (which images show the class), pairs (near-duplicates) or review (a revision)."),
    ] = "grid",
    host: Host = None,
    port: Port = None,
    answers: Annotated[
        int | None,
        typer.Option(help="People per question of this page.", show_default="study.toml, or 10 for grids, otherwise 1"),
    ] = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Ask people about candidates in their browsers.

    They sign in with personal links: `dissensus annotators add`. Options given here are saved in study.toml. Stop with
    Ctrl-C.

    Example: `dissensus shift serve pets --page grid`
    """
    with serving():
        ready = printing.show_serving(study, json)
        opened, password = Study(study), kept_password(database, json)
        opened.shift_serve(ready, page, host, port, printing.say_beside(json), answers=answers, database=password)
    printing.say_beside(json)("stopped; every acknowledged answer is stored")


@shift.command("sample")
def shift_sample(
    study: StudyPath,
    strategy: Strategy = "matched",
    per_class: Annotated[int | None, typer.Option(help="Images per class.", show_default="study.toml, or 10")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws.", show_default="study.toml, or 0")] = None,
    votes: Annotated[
        int | None, typer.Option(help="Fewest workers who must have seen an image.", show_default="study.toml, or 10")
    ] = None,
    keywords: Annotated[
        bool | None,
        typer.Option("--keywords", help="Also match the originals' distribution of keywords.", show_default=False),
    ] = None,
    anew: Annotated[
        bool, typer.Option("--anew", help="Draw all images again, by the answers of now; settings may differ.")
    ] = False,
    json: Json = False,
) -> None:
    """Make the next revision of the new test set: what reviewers left stays, the gaps are filled from the candidates.

    Example: `dissensus shift sample pets --strategy matched --per-class 10`
    """
    made = Study(study).shift_sample(strategy, per_class, seed, votes=votes, keywords=keywords, anew=anew)
    printing.show_sampled(study, made, json)


@shift.command("export")
def shift_export(
    study: StudyPath,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New folder for the test set.", show_default=False)],
    strategy: Strategy = "matched",
    revision: Annotated[int | None, typer.Option(help="Number of the revision.", show_default="the latest")] = None,
    json: Json = False,
) -> None:
    """Write the new test set of STUDY: images, items.csv, originals.csv, and DATA_CARD.md.

    Example: `dissensus shift export pets new-test-set --strategy matched`
    """
    with printing.progress(quiet=json) as progress:
        written = Study(study, progress).shift_export(folder, strategy, revision)
    printing.show_exported(written, json)


@shift.command("status")
def shift_status(study: StudyPath, json: Json = False) -> None:
    """Show how far the replication in STUDY is: classes, workers, near-duplicates and revisions.

    Example: `dissensus shift status pets`
    """
    printing.show_replica(study, Study(study).shift_status(), json)
