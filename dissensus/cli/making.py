"""From models and items to a selection."""

from __future__ import annotations

import shlex
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import app, ignore_signals
from dissensus.cli.options import Json, Lower, Models, Preprocessing, StudyPath
from dissensus.demo import SlidersReady, prepare_sliders, run_demo, run_masks_demo
from dissensus.discrepancy.labels import DISCREPANCIES
from dissensus.discrepancy.masks import MEASURES
from dissensus.errors import StudyError
from dissensus.pool.distortions import DISTORTIONS
from dissensus.steps.distorting import distort as distort_photos
from dissensus.steps.distorting import parsed_levels
from dissensus.steps.predicting import parsed_settings
from dissensus.study import Study

DEMOS = {"labels": "dissensus-demo", "scores": "dissensus-demo-scores", "masks": "dissensus-demo-masks"}
"""Where each demo goes unless somebody says."""


@app.command()
def demo(
    task: Annotated[
        str, typer.Argument(metavar="[labels|scores|masks]", help="What the models predict.", show_default="labels")
    ] = "labels",
    folder: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to put the study.", show_default="dissensus-demo")
    ] = None,
    by_hand: Annotated[bool, typer.Option("--by-hand", help="Leave the answers to you (labels, masks).")] = False,
    serve: Annotated[bool, typer.Option(help="Open the slider pages (scores).")] = True,
    json: Json = False,
) -> None:
    """Let real models compete, without network: classifiers of digits, image quality models, models that give a map.

    The first and the third are the whole job, in seconds. The second ends at the slider pages, where the answers are
    yours.

    Example: `dissensus demo scores my-first-photos`
    """
    if task not in DEMOS:  # `dissensus demo DIR`
        if folder is not None:
            raise StudyError(f"there is no demo of '{task}': it is labels, scores or masks")
        task, folder = "labels", Path(task)
    if task != "scores" and not serve:
        raise StudyError(f"the demo of {task} opens no pages: --no-serve belongs to dissensus demo scores")
    if task == "scores" and by_hand:
        raise StudyError("the demo of scores is answered by you anyway: --by-hand belongs to labels and masks")
    folder = folder or Path(DEMOS[task])
    with printing.progress(quiet=json) as progress:
        if task == "labels":
            return printing.show_demo(run_demo(folder, by_hand, progress), json)
        if task == "masks":
            return printing.show_masks_demo(run_masks_demo(folder, by_hand, progress), json)
        ready = prepare_sliders(folder, progress)
    printing.show_sliders(ready, serve, json)
    if serve and not json:
        ignore_signals()
        Study(ready.study).serve(_open_sliders(ready), None, 0)
        printing.say(f"stopped; every answer is stored. Next: dissensus report {shlex.quote(str(ready.study))}")
    return None


def _open_sliders(ready: SlidersReady) -> Callable[[str, str], None]:
    """What to do once the slider pages are there: say where, and open them."""

    def opened(address: str, owner_token: str) -> None:
        link = f"{address}/#{ready.token}"
        printing.show_sliders_open(link, f"{address}/owner#{owner_token}")
        _browse(link)

    return opened


def _browse(link: str) -> None:
    """Open the link where there is a browser with windows: one of the terminal would take it from the service."""
    try:
        browser = webbrowser.get()
    except webbrowser.Error:
        return
    # xdg-open and its like are a subclass of GenericBrowser; links, lynx and w3m are plain ones
    if type(browser) is not webbrowser.GenericBrowser and browser.name != "elinks":
        browser.open(link)


@app.command()
def init(
    study: StudyPath,
    task: Annotated[str, typer.Option(help="What models predict: labels, scores or masks.")] = "labels",
    classes: Annotated[
        str | None,
        typer.Option(
            help="imagenet, voc, or a .txt (one name a line), .csv (column name) or .json file.",
            show_default="imagenet; voc of masks",
        ),
    ] = None,
    taxonomy: Annotated[
        Path | None, typer.Option(help="CSV of child,parent: what lies above the classes.", show_default=False)
    ] = None,
) -> None:
    """Begin a study in a new folder.

    Example: `dissensus init birds --task labels --classes imagenet`
    """
    made = Study.init(study, task, classes, taxonomy)
    what = f"{task} of {len(made.classes):,} classes" if len(made.classes) else task
    printing.say(f"{study}: a study of {what}. Next: dissensus pool {study} SOURCE…")


@app.command()
def pool(
    study: StudyPath,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Folders of images or clips, globs in quotes, CSV or Parquet manifests (item, path, reference), or "
            "python:FILE.py:NAME, whose items are worked out (scores).",
        ),
    ],
    json: Json = False,
) -> None:
    """Take images, clips or manifests as the unlabelled pool of STUDY.

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
    k: Annotated[
        int | None,
        typer.Option(help="Items per duel; of masks, per category.", show_default="study.toml's, or 30; 1 of masks"),
    ] = None,
    reserves: Annotated[
        int | None,
        typer.Option(
            help="Items in reserve per duel; of scores per level, of masks per category.",
            show_default="k; 1 of scores and masks",
        ),
    ] = None,
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
    low: Annotated[
        float | None,
        typer.Option(help="Where the first level begins (scores).", show_default="the ratings' 1st percentile"),
    ] = None,
    high: Annotated[
        float | None,
        typer.Option(help="Where the last level ends (scores).", show_default="the ratings' 99th percentile"),
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
    measure: Annotated[
        str | None,
        typer.Option(help=f"How well two maps agree: {', '.join(MEASURES)} (masks).", show_default=False),
    ] = None,
    scales: Annotated[
        str | None,
        typer.Option(
            help="Which sizes of a category count: voc, voc-reordered, pool, none, a CSV of class,low,high, or a "
            "folder of a training set's maps (masks).",
            show_default="voc of its classes; pool",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="A further round: new items for every duel.")] = False,
    json: Json = False,
) -> None:
    """Select the items on which models disagree most, for every two of them.

    Of models that score: the pairs of items that an attacker tells apart most, and a defender does not. Of models that
    give a map: in each category of the defender, the images on which the two maps agree least.

    Example: `dissensus select birds --k 30 --confidence 0.9`
    """
    of_labels = {"k": k, "cap": cap, "confidence": confidence, "distance": distance}
    where = {"levels": levels, "width": width, "low": low, "high": high}
    of_scores = {**where, "spacing": spacing, "case": case, "jnd": jnd}
    numbers = of_labels | of_scores | {"measure": measure, "reserves": reserves}
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        number = opened.select(again=again, eligible=eligible, scales=scales, **numbers)
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
