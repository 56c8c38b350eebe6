"""Commands for results."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated, Literal

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import DISTANCES, GOALS, RULES, Format, Json, Ranked, StudyPath, Until
from dissensus.study import Study

Goal = Literal["order", "best"]
Asked = Literal["contains", "pick", "auto"]


@app.command()
def rank(
    study: StudyPath,
    method: Ranked = None,
    json: Json = False,
) -> None:
    """Rank the models in STUDY, best first, with rank sets and a summary in words.

    Example: `dissensus rank birds --method perron --json`
    """
    from dissensus.records import Rankings

    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        changes = opened.rule_changes()
        ranking = opened.rank(method)
        if isinstance(ranking, Rankings):
            return printing.show_rankings(ranking, changes, json)
        agreement = opened.consensus() if opened.settings.task == "labels" else None
    then = f"dissensus estimate {shlex.quote(str(study))}    # how often each model is right on the pool"
    then = then if opened.folder.batches() else ""
    return printing.show_ranking(ranking, opened.classes, agreement, opened.benchmark(ranking), changes, json, then)


@app.command()
def plan(
    study: StudyPath,
    until: Until = None,
    answers: Annotated[
        int | None, typer.Option(help="Annotators per question.", show_default="study.toml, or 3")
    ] = None,
    json: Json = False,
) -> None:
    """Forecast how many questions, answers and minutes it takes until the best model or the order is known.

    STUDY needs a pool and predictions; nobody has to be asked first, but answers make the forecast better (labels
    only).

    Example: `dissensus plan birds --until order,ε=0.01 --answers 3`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        found = opened.plan(until, answers)
    printing.show_plan(found, json, opened.engine.passes)


@app.command()
def draw(
    study: StudyPath,
    count: Annotated[
        int | None, typer.Option(min=1, help="How many questions.", show_default="study.toml, or 20")
    ] = None,
    goal: Annotated[
        Goal | None,
        typer.Option(help="Find the order of all models, or only the best.", show_default="study.toml, or order"),
    ] = None,
    question: Annotated[
        Asked | None,
        typer.Option(
            help="Ask about one label of an item, about all of them, or whichever is cheaper.",
            show_default="study.toml, or contains",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Draw questions at random that decide how often each model in STUDY is right, for annotators to answer.

    Questions that would decide more are drawn more often. `serve` draws by itself while people answer, up to
    `estimate.questions` in study.toml, or until what `estimate.until` says is decided.

    Example: `dissensus draw birds --count 50 --goal best --question pick`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        drawn = opened.draw(count, goal, question)
    printing.show_drawn(study, drawn, json, opened.engine.passes)


@app.command()
def estimate(study: StudyPath, json: Json = False) -> None:
    """Estimate how often each model in STUDY is right on the pool, with intervals, and say what is decided.

    Example: `dissensus estimate birds --json`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        found = opened.estimates()
    printing.show_estimates(found, json, opened.engine.passes)


@app.command()
def report(
    study: StudyPath,
    method: Ranked = None,
    benchmark: Annotated[
        Path | None,
        typer.Option(help="CSV with model and a score to compare with; copied into the study.", show_default=False),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Folder for every figure as SVG, PDF and CSV, and every table as CSV.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Rank the models and write a self-contained HTML report: results/report.html.

    Example: `dissensus report birds --benchmark accuracy.csv --figures figures/`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        changes = opened.rule_changes()
        path = opened.report(method, benchmark, figures)
    printing.show_report(path, changes, json)


@app.command()
def replay(
    study: StudyPath,
    answers: Annotated[
        Path,
        typer.Argument(
            metavar="ANSWERS", help="Recorded answers, as judgements import reads them.", show_default=False
        ),
    ],
    budget: Annotated[
        str | None,
        typer.Option(help="Numbers of answers at which to look.", show_default="250,700,2000 without --until"),
    ] = None,
    until: Until = None,
    rule: Annotated[str, typer.Option(help=f"What is asked next: one of {RULES}.")] = "adaptive",
    goal: Annotated[
        str | None,
        typer.Option(help=f"What adaptive is after: one of {GOALS}.", show_default="what --until needs, or order"),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of everything that is random.")] = 0,
    format: Format = None,
    annotator: Annotated[
        str | None, typer.Option(help="Who answered, if ANSWERS does not say.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """Play recorded ANSWERS as if people were being asked now: what is known about the models after so many answers?

    Only what was answered can be asked. With --until, it stops as soon as that is decided, and says how many answers it
    took. STUDY needs a pool and predictions, and stays as it is (labels only).

    Example: `dissensus replay birds answers.csv --budget 250,700,2000 --rule adaptive --seed 0 --json`
    """
    from dissensus.tasks.labels.replaying import parsed_budgets

    with printing.progress(quiet=json) as progress:
        budgets = None if budget is None else parsed_budgets(budget)
        found = Study(study, progress).replay(answers, budgets, rule, goal, seed, format, annotator, until)
    printing.show_replay(found, json)


@app.command()
def status(study: StudyPath, json: Json = False) -> None:
    """Show the progress of STUDY and what to do next.

    Example: `dissensus status birds`
    """
    printing.show_status(Study(study).status(), json)


@app.command()
def backup(
    study: StudyPath,
    dest: Annotated[Path, typer.Argument(metavar="DEST", help="A new folder for the copy.", show_default=False)],
    json: Json = False,
) -> None:
    """Copy STUDY to the new folder DEST, even while it is being served; the copy has every acknowledged answer.

    The copy is a study like any other: to restore it, move it to where the study was. Pictures outside the study are
    not copied. If answers are on a PostgreSQL server, back them up with pg_dump.

    Example: `dissensus backup birds backups/birds-monday`
    """
    printing.show_backup(study, dest, Study(study).backup(dest), json)


@app.command()
def check(
    study: StudyPath,
    record: Annotated[
        bool,
        typer.Option("--record", help="Accept the files as they are, then check: for older studies or restored files."),
    ] = False,
    json: Json = False,
) -> None:
    """Verify every file of STUDY against its checksum, and check the answers; exits with code 1 if something is wrong.

    Example: `dissensus check birds`
    """
    found = Study(study).check(record)
    printing.show_check(found, json)
    if not found.is_whole:
        raise typer.Exit(1)


@app.command()
def distance(
    a: Annotated[str, typer.Argument(metavar="A", help="A class, by name, number or id (wnid).")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another class.")],
    classes: Annotated[str, typer.Option(help="imagenet, or a file of class names.")] = "imagenet",
    taxonomy: Annotated[Path | None, typer.Option(help="CSV with child,parent.", show_default=False)] = None,
    method: Annotated[
        str | None,
        typer.Option("--distance", help=f"One of {DISTANCES}.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Print the distance between two classes.

    Example: `dissensus distance drake "American coot" --classes imagenet`
    """
    from dissensus.discrepancy.labels import class_distances, default_discrepancy
    from dissensus.store.classes import classes_of, read_classes

    known = classes_of(read_classes(classes, taxonomy))
    name = method or default_discrepancy(known)
    one, other = known.index_of(a), known.index_of(b)
    value = float(class_distances(known, name)[one, other])
    printing.show_distance(known, one, other, name, value, json)
