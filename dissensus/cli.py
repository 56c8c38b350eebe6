"""The command: parse, call one method of Study, print."""

from __future__ import annotations

import errno
import os
import signal
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from dissensus import printing
from dissensus.demo import prepare_sliders, run_demo
from dissensus.discrepancy.labels import DISCREPANCIES, class_distances, default_discrepancy
from dissensus.errors import DissensusError, StudyError
from dissensus.pool.distortions import DISTORTIONS
from dissensus.ranking import ATTACK_RANKERS, RANKERS
from dissensus.records import Rankings
from dissensus.steps.distorting import distort as distort_photos
from dissensus.steps.distorting import parsed_levels
from dissensus.steps.predicting import parsed_settings
from dissensus.store.classes import classes_of, read_classes
from dissensus.store.database import VARIABLE, has_password
from dissensus.store.exchange import FORMATS
from dissensus.study import Study
from dissensus.version import __version__

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Which of these models is better, and where does each fail? Let them compete on an unlabelled pool.\n\n"
    "Begin with `dissensus demo`, or `init`, `pool`, `predict`, `select`, `serve`, `report`.",
)
judgements = typer.Typer(no_args_is_help=True, help="Import and export the answers of people.")
app.add_typer(judgements, name="judgements")
annotators = typer.Typer(no_args_is_help=True, help="Personal links for annotators, and whose answers count.")
app.add_typer(annotators, name="annotators")

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
        help=f"One of {', '.join(RANKERS)}; of scores {', '.join(ATTACK_RANKERS)}.",
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
    typer.Option("--preprocess", "-p", metavar="KEY=VALUE", help="Preprocessing of these models, such as size=160."),
]


@app.callback(invoke_without_command=True)
def _version(version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False) -> None:
    if version:
        print(f"dissensus {__version__}")
        raise typer.Exit


@app.command()
def demo(
    task: Annotated[
        str, typer.Argument(metavar="[labels|scores]", help="What the models predict.", show_default="labels")
    ] = "labels",
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to put the study.", show_default="dissensus-demo")
    ] = None,
    by_hand: Annotated[bool, typer.Option("--by-hand", help="Leave the answers to you (labels).")] = False,
    serve: Annotated[bool, typer.Option(help="Open the slider pages (scores).")] = True,
    json: Json = False,
) -> None:
    """Let real models compete, without network: eight classifiers of digits, or four image quality models on photos.

    The first is the whole job, in seconds. The second ends at the slider pages, where the answers are yours.

    Example: `dissensus demo scores my-first-photos`
    """
    if task not in ("labels", "scores"):  # `dissensus demo DIR`
        if folder is not None:
            raise StudyError(f"there is no demo of '{task}': it is labels or scores")
        task, folder = "labels", Path(task)
    folder = folder or Path("dissensus-demo" if task == "labels" else "dissensus-demo-scores")
    with printing.progress(quiet=json) as progress:
        if task == "labels":
            result = run_demo(folder, by_hand, progress)
            return printing.show_demo(result, json)
        ready = prepare_sliders(folder, progress)
    printing.show_sliders(ready, serve, json)
    if serve and not json:
        _ignore_signals()
        Study(ready.study).serve(printing.show_sliders_open(ready), None, 0)
        printing.say(f"stopped; every answer is stored. Next: dissensus report {ready.study}")
    return None


@app.command()
def init(
    study: StudyPath,
    task: Annotated[str, typer.Option(help="What models predict: labels or scores.")] = "labels",
    classes: Annotated[
        str, typer.Option(help="imagenet, or a .txt (one name a line), .csv (column name) or .json file.")
    ] = "imagenet",
    taxonomy: Annotated[
        Path | None, typer.Option(help="CSV of child,parent: what lies above the classes.", show_default=False)
    ] = None,
) -> None:
    """Begin a study in a new folder.

    Example: `dissensus init birds --task labels --classes imagenet`
    """
    made = Study.init(study, task, classes, taxonomy)
    what = f"{len(made.classes):,} classes" if task == "labels" else task
    printing.say(f"{study}: a study of {what}. Next: dissensus pool {study} SOURCE…")


@app.command()
def pool(
    study: StudyPath,
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE", help="Image folders, globs in quotes, CSV or Parquet manifests (item, path)."),
    ],
    json: Json = False,
) -> None:
    """Take images or manifests as the unlabelled pool of STUDY.

    Example: `dissensus pool birds photos/ 'more/**/*.jpg' manifest.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        opened.pool(sources)
    printing.show_pool(opened.status(), json)


@app.command()
def distort(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Photos, image folders, globs in quotes, manifests.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where to put the images and pool.csv.")],
    kinds: Annotated[str, typer.Option(help="Which distortions, with commas between.")] = ",".join(DISTORTIONS),
    levels: Annotated[str, typer.Option(help="Which levels, 1 (mildest) to 5.")] = "1,2,3,4,5",
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
    json: Json = False,
) -> None:
    """Make a pool for image quality models: photos, and each of them distorted; run it again to resume.

    Example: `dissensus distort photos/ --out distorted --kinds jpeg,blur`
    """
    with printing.progress(quiet=json) as progress:
        result = distort_photos(sources, out, kinds.split(","), parsed_levels(levels), seed, progress)
    printing.show_distort(result, json)


@app.command()
def predict(
    study: StudyPath,
    models: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=BACKEND:TARGET", help="New models; none: resume.")
    ] = None,
    preprocess: Preprocessing = None,
    lower: Lower = None,
    json: Json = False,
) -> None:
    """Let models predict the whole pool; run it again to resume.

    Backends: file, python, sklearn, onnx, litert, torch, timm, quality. Preprocessing is kept in study.toml.

    Example: `dissensus predict birds resnet=onnx:resnet.onnx old=file:predictions.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        opened.predict(models or [], parsed_settings(preprocess or []), lower or [])
    printing.show_models(opened.status(), json)


@app.command()
def scale(
    study: StudyPath,
    ratings: Annotated[
        Path | None, typer.Argument(metavar="RATINGS", help="CSV of item and rating.", show_default=False)
    ] = None,
    worst: Annotated[float | None, typer.Option(help="The worst rating.", show_default="study.toml's, or 0")] = None,
    best: Annotated[float | None, typer.Option(help="The best rating.", show_default="study.toml's, or 100")] = None,
    json: Json = False,
) -> None:
    """Bring the scores of all models of STUDY on one scale, 0 to 100: by rated items, or by ranks in the pool.

    Example: `dissensus scale photos mos.csv --worst 1 --best 5`
    """
    with printing.progress(quiet=json) as progress:
        fits = Study(study, progress).scale(ratings, worst, best)
    printing.show_scale(fits, json)


@app.command()
def select(
    study: StudyPath,
    k: Annotated[int | None, typer.Option(help="Items per duel.", show_default="study.toml's, or 30")] = None,
    reserves: Annotated[int | None, typer.Option(help="Items in reserve per duel.", show_default="k")] = None,
    cap: Annotated[
        int | None,
        typer.Option(help="Items per predicted label, for either model.", show_default="study.toml's, or 3"),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Both models must be at least this sure.", show_default="study.toml's, or 0.8"),
    ] = None,
    distance: Annotated[
        str | None, typer.Option(help=f"How far apart classes are: {', '.join(DISCREPANCIES)}.", show_default=False)
    ] = None,
    eligible: Annotated[
        Path | None, typer.Option(help="CSV or Parquet of item[,label]: only these can be judged.", show_default=False)
    ] = None,
    levels: Annotated[
        int | None, typer.Option(help="Levels of a defender's scale (scores).", show_default="study.toml's, or 6")
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(help="Width of a level, 0 to 100 (scores).", show_default="the ratings' standard deviation"),
    ] = None,
    spacing: Annotated[
        str | None, typer.Option(help="even or quantile: where levels lie (scores).", show_default=False)
    ] = None,
    case: Annotated[
        str | None, typer.Option(help="all levels, or only the most different one: most (scores).", show_default=False)
    ] = None,
    jnd: Annotated[
        float | None,
        typer.Option(help="The defender's two scores differ by less than this (scores).", show_default=False),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="A further round: new items for every duel.")] = False,
    json: Json = False,
) -> None:
    """Select the items on which models disagree most, for every two of them.

    Of models that score: the pairs of items that an attacker tells apart most, and a defender does not.

    Example: `dissensus select birds --k 30 --confidence 0.9`
    """
    of_scores = {"levels": levels, "width": width, "spacing": spacing, "case": case, "jnd": jnd}
    of_labels = {"k": k, "cap": cap, "confidence": confidence, "distance": distance}
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        number = opened.select(again=again, eligible=eligible, reserves=reserves, **of_labels, **of_scores)
    printing.show_round(opened.status(), number, json)


@app.command()
def join(
    study: StudyPath, models: Models, preprocess: Preprocessing = None, lower: Lower = None, json: Json = False
) -> None:
    """Let further models join STUDY: only their own duels are selected, nothing that was answered is asked again.

    Example: `dissensus join birds new=onnx:new.onnx`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        number = opened.join(models, parsed_settings(preprocess or []), lower or [])
    printing.show_round(opened.status(), number, json)


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
    """List the questions that wait for answers, or write an answer sheet that works offline in any browser.

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
    to 'does it contain …?' are yes, no, unsure and unfit.

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

    Example: `dissensus judgements export birds answers.parquet`
    """
    printing.say(f"{file}: {Study(study).judgements_export(file, format):,} answers")


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
    _ignore_signals()
    opened.serve(printing.show_serving(study), host, port)
    printing.say("stopped; every answer that was acknowledged is stored")


@annotators.command("add")
def annotators_add(
    study: StudyPath,
    names: Annotated[list[str], typer.Argument(metavar="NAME", help="One or several names.", show_default=False)],
    trusted: Annotated[
        bool, typer.Option("--trusted", help="Of the control group that others are measured by.")
    ] = False,
    owner: Annotated[bool, typer.Option("--owner", help="A lasting link to the dashboard.")] = False,
    url: Annotated[
        str | None, typer.Option(help="Where people reach the service.", show_default="study.toml's host and port")
    ] = None,
    json: Json = False,
) -> None:
    """Make personal links; each is shown this once, only its hash is stored.

    Example: `dissensus annotators add birds ada ben --url https://birds.example.org`
    """
    opened = Study(study)
    tokens: dict[str, str] = {}
    try:
        for name in names:
            tokens[name] = opened.people.add(name, is_owner=owner, is_trusted=trusted)
    finally:
        if tokens:  # a name that is taken does not cost the others their links
            printing.show_links(tokens, url or opened.address, owner, json)


@annotators.command("list")
def annotators_list(study: StudyPath, json: Json = False) -> None:
    """List annotators: how much they answered, how they agree, and how they do on control questions.

    Example: `dissensus annotators list birds`
    """
    printing.show_overview(Study(study).overview(), json)


@annotators.command("revoke")
def annotators_revoke(study: StudyPath, name: PersonName) -> None:
    """Make a link invalid; answers stay, and `annotators add` makes a new link for the same person.

    Example: `dissensus annotators revoke birds ben`
    """
    Study(study).people.revoke(name)
    printing.say(f"the link of {name} is no longer valid; what {name} answered stays")


@annotators.command("exclude")
def annotators_exclude(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="Why, in words; the report shows it.", show_default=False)],
) -> None:
    """Let somebody's answers count no longer; they are kept, and `annotators include` takes it back.

    Example: `dissensus annotators exclude birds ben --reason "answered in 0.3 s"`
    """
    Study(study).exclude(name, reason)
    printing.say(f"answers of {name} do not count from now on: {reason}")


@annotators.command("include")
def annotators_include(
    study: StudyPath,
    name: PersonName,
    reason: Annotated[str, typer.Option(help="Why, in words.")] = "taken back by the owner",
) -> None:
    """Let somebody's answers count again.

    Example: `dissensus annotators include birds ben`
    """
    Study(study).include(name, reason)
    printing.say(f"answers of {name} count again: {reason}")


@app.command()
def screen(
    study: StudyPath,
    exclude: Annotated[bool, typer.Option("--exclude", help="Do what is suggested; it can be taken back.")] = False,
    json: Json = False,
) -> None:
    """Say how annotators do and who should not count, and why: control questions, repeats, agreement, Dawid–Skene.

    Of sliders: BT.500, which rejects people, and P.910, which rejects nobody, side by side.

    Example: `dissensus screen birds --exclude`
    """
    opened = Study(study)
    excluded = opened.screen() if exclude else []
    if opened.settings.task == "scores" and not exclude:
        return printing.show_screenings(opened.screenings(), json)
    return printing.show_screening(opened.overview(), excluded, json)


@app.command()
def rank(
    study: StudyPath,
    method: Ranked = None,
    json: Json = False,
) -> None:
    """Rank the models of STUDY, best first, with intervals, rank sets and what they mean in words.

    Example: `dissensus rank birds --method perron --json`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        ranking = opened.rank(method)
        if isinstance(ranking, Rankings):
            return printing.show_rankings(ranking, json)
        agreement = opened.consensus()
    return printing.show_ranking(ranking, opened.classes, agreement, opened.benchmark(ranking), json)


@app.command()
def report(
    study: StudyPath,
    method: Ranked = None,
    benchmark: Annotated[
        Path | None,
        typer.Option(help="CSV of model and a score to compare with, kept with the study.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Rank the models and write one HTML page with everything: results/report.html.

    Example: `dissensus report birds --benchmark accuracy.csv`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        path = opened.report(method, benchmark)
    printing.show_report(path, json)


@app.command()
def status(study: StudyPath, json: Json = False) -> None:
    """Say how far STUDY has come and what to do next.

    Example: `dissensus status birds`
    """
    printing.show_status(Study(study).status(), json)


@app.command()
def distance(
    a: Annotated[str, typer.Argument(metavar="A", help="A class: name, number or id (wnid).")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    classes: Annotated[str, typer.Option(help="imagenet, or a file of classes.")] = "imagenet",
    taxonomy: Annotated[Path | None, typer.Option(help="CSV of child,parent.", show_default=False)] = None,
    method: Annotated[
        str | None,
        typer.Option("--distance", help=f"One of {', '.join(DISCREPANCIES)}.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Print how far apart two classes are.

    Example: `dissensus distance drake "American coot" --classes imagenet`
    """
    known = classes_of(read_classes(classes, taxonomy))
    name = method or default_discrepancy(known)
    one, other = known.index_of(a), known.index_of(b)
    value = float(class_distances(known, name)[one, other])
    printing.show_distance(known, one, other, name, value, json)


def main(arguments: list[str] | None = None) -> Any:
    """Run the command; what a person can fix ends in one line and exit code 2."""
    signal.signal(signal.SIGINT, _interrupted)
    try:
        return app(arguments)
    except DissensusError as error:
        return _refuse(str(error))
    except OSError as error:
        if error.errno == errno.ENOSPC:
            return _refuse(f"the disk is full ({error.filename or error}): make room and run this again")
        if error.errno is None:
            raise
        return _refuse(f"{error.filename or 'input or output'}: {error.strerror}")


def _ignore_signals() -> None:
    """The service itself hears them, ends what it is doing, and returns."""
    for stop in (signal.SIGINT, signal.SIGTERM):
        signal.signal(stop, signal.SIG_IGN)


def _interrupted(signal_number: int, _: object) -> None:
    print("dissensus: interrupted; give the same command again to go on", file=sys.stderr)
    sys.exit(128 + signal_number)


def _refuse(line: str) -> None:
    print("dissensus: " + " ".join(line.split()), file=sys.stderr)
    sys.exit(2)
