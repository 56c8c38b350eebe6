"""Commands about people as a baseline for models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import serving
from dissensus.cli.asking import kept_password
from dissensus.cli.options import Database, Host, Json, Port, StudyPath
from dissensus.cli.shift import shift
from dissensus.errors import StudyError
from dissensus.study import Study

human = typer.Typer(
    no_args_is_help=True, help="How accurate are people on the same images, honestly compared with models?"
)
shift.add_typer(human, name="human")

Right = Annotated[
    Path | None,
    typer.Option(
        help="Right labels from a file instead of the review: item and label as CSV, or JSON such as ReaL's.",
        show_default=False,
    ),
]
People = Annotated[
    list[str] | None,
    typer.Option(
        "--person",
        metavar="NAME=FILE",
        help="Labels of a person from a file: item, label; optional: label2 … label5, alternative, seconds.",
        show_default=False,
    ),
]


@human.command("sample")
def human_sample(
    study: StudyPath,
    truth: Annotated[
        Path | None,
        typer.Option(help="Table with item and label; optional: set, the test set of an image.", show_default=False),
    ] = None,
    images: Annotated[
        int | None, typer.Option(help="Images of each test set that people label.", show_default="study.toml, or 1000")
    ] = None,
    training: Annotated[
        int | None, typer.Option(help="Other images, for training.", show_default="study.toml, or 0")
    ] = None,
    examples: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Example pictures: a folder with a subfolder per class.", show_default=False),
    ] = None,
    guide: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Labelling guide: CSV with class and text, or Markdown with a heading per class.",
            show_default=False,
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the draws.", show_default="study.toml, or 0")] = None,
    json: Json = False,
) -> None:
    """Draw the images of STUDY that people label, class by class alike, and those for training.

    What was drawn before stays: call it again to add images, examples or a guide.

    Example: `dissensus shift human sample birds --truth truth.csv --images 100 --training 50 --guide guide.md`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).human_sample(truth, images, training, examples, guide, seed)
    printing.show_human_sample(study, found, json)


@human.command("serve")
def human_serve(
    study: StudyPath,
    page: Annotated[
        str, typer.Option(help="train (with feedback), label (the images) or review (everybody's labels).")
    ] = "label",
    family: Annotated[
        str | None,
        typer.Option(metavar="NODE", help="Train on the classes below this node only.", show_default=False),
    ] = None,
    host: Host = None,
    port: Port = None,
    answers: Annotated[
        int | None,
        typer.Option(help="People per question of this page.", show_default="study.toml, or 5; 3 for the review"),
    ] = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Let people train, label images, or review everybody's labels in their browsers.

    They sign in with personal links: `dissensus annotators add`. Options given here are saved in study.toml. Stop with
    Ctrl-C.

    Example: `dissensus shift human serve birds --page train --family dog`
    """
    with serving():
        ready = printing.show_serving(study, json)
        opened, password = Study(study), kept_password(database, json)
        opened.human_serve(
            ready, page, host, port, printing.say_beside(json), family=family, answers=answers, database=password
        )  # fmt: skip
    printing.say_beside(json)("stopped; every acknowledged answer is stored")


@human.command("status")
def human_status(study: StudyPath, json: Json = False) -> None:
    """Show how far people are with training, labelling and the review.

    Example: `dissensus shift human status birds`
    """
    printing.show_human_status(study, Study(study).human_status(), json)


@human.command("report")
def human_report(
    study: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML page to write.", show_default="results/people.html in STUDY"),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write every figure here as SVG, PDF and CSV, and every table as CSV.", show_default=False),
    ] = None,
    subsets: Annotated[
        str | None,
        typer.Option(
            help="Nodes of the taxonomy or classes, such as 'dog,not dog'; or a CSV with subset and label.",
            show_default=False,
        ),
    ] = None,
    right: Right = None,
    person: People = None,
    json: Json = False,
) -> None:
    """Compare people with the models of STUDY: accuracies, paired tests, subsets, times, and what nobody gets right.

    Example: `dissensus shift human report birds --subsets "dog,not dog" --output page.html`
    """
    with printing.progress(quiet=json) as progress:
        found, page = Study(study, progress).human_report(output, figures, subsets, right, _named(person))
    printing.show_human(found, page, json)


@human.command("export")
def human_export(
    study: StudyPath,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="New folder.", show_default=False)],
    right: Right = None,
    person: People = None,
    json: Json = False,
) -> None:
    """Write people's labels, the right labels of every image, and the times as CSV and JSON.

    Example: `dissensus shift human export birds people-of-birds`
    """
    printing.show_human_export(Study(study).human_export(folder, right, _named(person)), json)


@human.command("join")
def human_join(
    study: StudyPath,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="People who join.", show_default="everybody")
    ] = None,
    json: Json = False,
) -> None:
    """Let people join the competition of STUDY: they become models, without predictions where they did not label.

    Example: `dissensus shift human join birds ann`
    """
    with printing.progress(quiet=json) as progress:
        joined = Study(study, progress).human_join(names or ())
    printing.show_joined_people(study, joined, json)


def _named(given: list[str] | None) -> dict[str, Path]:
    """Files by name, from NAME=FILE."""
    found: dict[str, Path] = {}
    for text in given or ():
        name, equals, path = text.partition("=")
        if not (name.strip() and equals and path):
            raise StudyError(f"--person {text}: write NAME=FILE, such as ann=ann.csv")
        if name.strip() in found:
            raise StudyError(f"--person {text}: {name.strip()} is given twice: give every person another name")
        found[name.strip()] = Path(path)
    return found
