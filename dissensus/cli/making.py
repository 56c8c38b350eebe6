"""Commands that lead from models and items to a selection."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dissensus import printing
from dissensus.cli.app import agreed, app
from dissensus.cli.options import (
    DISTANCES,
    DISTORTIONS,
    MEASURES,
    Engine,
    Json,
    Lower,
    Models,
    Preprocessing,
    PublicTitle,
    StudyPath,
    Trust,
)
from dissensus.study import Study


def preprocess_settings(pairs: list[str] | None) -> dict[str, Any]:
    from dissensus.steps.models import parsed_settings

    return parsed_settings(pairs or [])


@app.command()
def init(
    study: StudyPath,
    task: Annotated[str, typer.Option(help="What the models predict: labels, scores or masks.")] = "labels",
    classes: Annotated[
        str | None,
        typer.Option(
            help="imagenet, voc, imagenet-vid, ytbb, or a .txt (one name per line), .csv (column name) or .json file.",
            show_default="imagenet; voc for masks",
        ),
    ] = None,
    taxonomy: Annotated[
        Path | None, typer.Option(help="CSV with child,parent: the hierarchy above the classes.", show_default=False)
    ] = None,
    public_title: PublicTitle = None,
    json: Json = False,
) -> None:
    """Start a study in a new folder.

    Example: `dissensus init birds --task labels --classes imagenet`
    """
    made = Study.init(study, task, classes, taxonomy, public_title=public_title or "")
    printing.show_init(study, task, made.classes, classes, json)


@app.command()
def pool(
    study: StudyPath,
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Folders of images or clips, quoted globs, tar archives (WebDataset), Parquet files with pictures "
            "(Hugging Face), CSV or Parquet manifests (item, path, reference), addresses of any of these, or "
            "python:FILE.py:NAME, which generates the items (scores).",
        ),
    ],
    allow_missing: Annotated[
        bool, typer.Option("--allow-missing", help="Accept items whose files are missing; nobody is asked about them.")
    ] = False,
    add: Annotated[
        bool, typer.Option("--add", help="Keep the items of the pool and add these; models predict only the new ones.")
    ] = False,
    json: Json = False,
) -> None:
    """Set the unlabelled pool of STUDY from images, clips or manifests.

    Example: `dissensus pool birds photos/ 'more/**/*.jpg' manifest.csv`

    Tar archives: `dissensus pool birds 'shards/birds-{0000..0009}.tar'`

    Parquet files: `dissensus pool birds 'train-*.parquet'`

    Object storage: `dissensus pool birds s3://bucket/photos`

    More items later: `dissensus pool birds --add shards/birds-0010.tar`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        opened.pool(sources, allow_missing=allow_missing, add=add)
    printing.show_pool(opened.status(), json, opened.pool_notes)


@app.command()
def distort(
    sources: Annotated[
        list[str], typer.Argument(metavar="SOURCE", help="Photos, image folders, quoted globs or manifests.")
    ],
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for the images and pool.csv.")],
    kinds: Annotated[str, typer.Option(help="Distortions, comma-separated.")] = DISTORTIONS,
    levels: Annotated[str, typer.Option(help="Levels, comma-separated, 1 (mildest) to 5.")] = "1,2,3,4,5",
    seed: Annotated[int, typer.Option(help="Seed for the noise.")] = 0,
    json: Json = False,
) -> None:
    """Make a pool for image quality models from photos and distorted copies of them; run it again to resume.

    Example: `dissensus distort photos/ --out distorted --kinds jpeg,blur`
    """
    from dissensus.steps.distorting import distort as distort_photos
    from dissensus.steps.distorting import parsed_levels

    with printing.progress(quiet=json) as progress:
        result = distort_photos(sources, out, kinds.split(","), parsed_levels(levels), seed, progress)
    printing.show_distort(result, json)


@app.command()
def predict(
    study: StudyPath,
    models: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=BACKEND:TARGET", help="New models; leave out to resume.")
    ] = None,
    preprocess: Preprocessing = None,
    lower: Lower = None,
    again: Annotated[
        list[str] | None,
        typer.Option(
            "--again",
            metavar="NAME",
            help="Run this model again, with its settings in study.toml or those given here.",
            show_default=False,
        ),
    ] = None,
    engine: Engine = "local",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Run models on the whole pool; run it again to resume.

    Backends: file, python, sklearn, kernel, onnx, litert, torch, timm, quality. Preprocessing is saved in study.toml.
    To correct a setting, run the model again: `dissensus predict birds --again resnet -p size=160`.

    Example: `dissensus predict birds resnet=onnx:resnet.onnx old=file:predictions.csv`
    """
    named = {spec.partition("=")[0] for spec in models or []}  # what a command names needs no other agreement
    agreed(Study(study), trust, models=True, again=[name for name in again or [] if name not in named])
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress, engine)
        opened.predict(models or [], preprocess_settings(preprocess), lower or [], again or [])
    printing.show_models(opened.status(), json)


@app.command()
def remove(
    study: StudyPath,
    model: Annotated[str, typer.Argument(metavar="MODEL", help="The model's name.", show_default=False)],
    json: Json = False,
) -> None:
    """Remove a model, its predictions, and the rounds selected from them; refused if those rounds have answers.

    Example: `dissensus remove birds resnet`
    """
    printing.show_removal(Study(study).remove(model), json)


@app.command()
def scale(
    study: StudyPath,
    ratings: Annotated[
        Path | None, typer.Argument(metavar="RATINGS", help="CSV with item and rating.", show_default=False)
    ] = None,
    worst: Annotated[
        float | None, typer.Option(help="The worst possible rating.", show_default="study.toml, or 0")
    ] = None,
    best: Annotated[
        float | None, typer.Option(help="The best possible rating.", show_default="study.toml, or 100")
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Put the scores of all models in STUDY on one scale, 0 to 100, using rated items or ranks within the pool.

    Example: `dissensus scale photos mos.csv --worst 1 --best 5`
    """
    agreed(Study(study), trust)
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        fits = opened.scale(ratings, worst, best)
    printing.show_scale(fits, opened.status(), json)


@app.command()
def select(
    study: StudyPath,
    k: Annotated[
        int | None,
        typer.Option(help="Items per duel (for masks, per category).", show_default="study.toml, or 10; 1 for masks"),
    ] = None,
    reserves: Annotated[
        int | None,
        typer.Option(
            help="Reserve items per duel (per level for scores, per category for masks).",
            show_default="k; 1 for scores and masks",
        ),
    ] = None,
    cap: Annotated[
        int | None,
        typer.Option(
            help="Maximum number of items per duel with the same predicted label, for each model; it is raised "
            "for duels that would otherwise have fewer than k items.",
            show_default="study.toml, or 3; no cap with zero-one",
        ),
    ] = None,
    confidence: Annotated[
        float | None,
        typer.Option(help="Minimum confidence of both models.", show_default="study.toml, or 0.8; less on small pools"),
    ] = None,
    distance: Annotated[
        str | None, typer.Option(help=f"Distance between classes: {DISTANCES}.", show_default=False)
    ] = None,
    eligible: Annotated[
        Path | None,
        typer.Option(
            help="CSV or Parquet with the column item, label or both: only these items, only predictions of these "
            "classes, or only these labels on these items are selected.",
            show_default=False,
        ),
    ] = None,
    levels: Annotated[
        int | None,
        typer.Option(help="Number of levels on a defender's scale (scores).", show_default="study.toml, or 6"),
    ] = None,
    width: Annotated[
        float | None,
        typer.Option(help="Width of a level, 0 to 100 (scores).", show_default="standard deviation of the ratings"),
    ] = None,
    low: Annotated[
        float | None,
        typer.Option(help="Start of the first level (scores).", show_default="1st percentile of the ratings"),
    ] = None,
    high: Annotated[
        float | None,
        typer.Option(help="End of the last level (scores).", show_default="99th percentile of the ratings"),
    ] = None,
    spacing: Annotated[
        str | None, typer.Option(help="How levels are spaced: even or quantile (scores).", show_default=False)
    ] = None,
    case: Annotated[
        str | None,
        typer.Option(
            help="all: every level; most: only the level where the attacker sees the largest difference (scores).",
            show_default=False,
        ),
    ] = None,
    jnd: Annotated[
        float | None,
        typer.Option(help="The defender's two scores must differ by less than this (scores).", show_default=False),
    ] = None,
    measure: Annotated[
        str | None,
        typer.Option(help=f"Agreement between two maps: {MEASURES} (masks).", show_default=False),
    ] = None,
    scales: Annotated[
        str | None,
        typer.Option(
            help="Share of the image a category may cover: voc, voc-reordered, pool, none, a CSV with class,low,high, "
            "or a folder of a training set's maps (masks).",
            show_default="voc for its classes, else pool",
        ),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Select another round: new items for every duel.")] = False,
    engine: Engine = "local",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Select the items on which each pair of models disagrees most.

    For scores, these are the pairs of items that the attacker rates most differently while the defender rates them
    alike. For masks, they are the images in each category of the defender on which the two maps agree least.
    Run it again with other settings to replace the selection, as long as nobody has been asked about it.

    Example: `dissensus select birds --k 30 --confidence 0.9`
    """
    of_labels = {"k": k, "cap": cap, "confidence": confidence, "distance": distance}
    where = {"levels": levels, "width": width, "low": low, "high": high}
    of_scores = {**where, "spacing": spacing, "case": case, "jnd": jnd}
    numbers = of_labels | of_scores | {"measure": measure, "reserves": reserves}
    agreed(Study(study), trust)
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress, engine)
        number = opened.select(again=again, eligible=eligible, scales=scales, **numbers)
    printing.show_round(opened.status(), number, json, opened.engine.passes)


@app.command()
def join(
    study: StudyPath,
    models: Models,
    preprocess: Preprocessing = None,
    lower: Lower = None,
    engine: Engine = "local",
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Add models to STUDY: only their own duels are selected, and no answered question is asked again.

    Example: `dissensus join birds new=onnx:new.onnx`
    """
    agreed(Study(study), trust, models=True)
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress, engine)
        number = opened.join(models, preprocess_settings(preprocess), lower or [])
    status = opened.status()
    if not json:
        printing.show_sanity(status)
    printing.show_round(status, number, json, opened.engine.passes)
