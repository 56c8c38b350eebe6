"""Commands about robustness along video."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from dissensus import printing
from dissensus.cli.app import agreed, serving
from dissensus.cli.asking import kept_password
from dissensus.cli.making import preprocess_settings
from dissensus.cli.options import Database, Host, Json, Port, Preprocessing, StudyPath, Trust
from dissensus.cli.shift import shift
from dissensus.errors import TemporalError
from dissensus.study import Study

video = typer.Typer(no_args_is_help=True, help="How much accuracy is lost if the camera moves a little?")
shift.add_typer(video, name="video")

AnchorFile = Annotated[
    Path | None,
    typer.Option(
        "--anchors",
        help="File that names the anchors: CSV with clip and frame, or JSON, such as the public sets.",
        show_default="drawn at random",
    ),
]


@video.command("collect")
def video_collect(
    study: StudyPath,
    sources: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE", help="Video files, folders of frames, or folders of both.", show_default=False
        ),
    ] = None,
    labels: Annotated[
        Path | None,
        typer.Option(help="Classes of clips or frames: CSV with clip, frame, label; or JSON.", show_default=False),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Frames before and after each anchor.")] = 10,
    anchors: AnchorFile = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="Classes of the labels if they are coarser: imagenet-vid, or a .txt or .csv of groups.",
            show_default="those of STUDY",
        ),
    ] = None,
    per_clip: Annotated[int, typer.Option(help="Anchors drawn from each clip.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    json: Json = False,
) -> None:
    """Collect anchors and their neighbours: they become the pool of STUDY. Run it again to resume.

    Example: `dissensus shift video collect pets clips/ --labels labels.csv`
    """
    with printing.progress(quiet=json) as progress:
        found = Study(study, progress).video_collect(
            sources or [], labels, k=k, anchors=anchors, classes=classes, per_clip=per_clip, seed=seed
        )
    printing.show_video_collected(study, found, json)


@video.command("predict")
def video_predict(
    study: StudyPath,
    models: Annotated[
        list[str] | None, typer.Argument(metavar="NAME=BACKEND:TARGET", help="New models; leave out to resume.")
    ] = None,
    preprocess: Preprocessing = None,
    again: Annotated[
        list[str] | None,
        typer.Option("--again", metavar="NAME", help="Run this model again.", show_default=False),
    ] = None,
    trust: Trust = False,
    json: Json = False,
) -> None:
    """Run models on all frames in one pass: every frame is decoded once for all of them. Run it again to resume.

    Example: `dissensus shift video predict pets a=onnx:a.onnx b=litert:b.tflite`
    """
    named = {spec.partition("=")[0] for spec in models or []}
    agreed(Study(study), trust, models=True, again=[name for name in again or [] if name not in named])
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        opened.video_predict(models or [], preprocess_settings(preprocess), again or [])
    where = shlex.quote(str(study))
    then = f"dissensus shift video serve {where}, and dissensus shift video report {where}"
    printing.show_models(opened.status(), json, then)


@video.command("serve")
def video_serve(
    study: StudyPath,
    host: Host = None,
    port: Port = None,
    answers: Annotated[
        int | None,
        typer.Option(help="People who judge each pair on their own.", show_default="study.toml, or 4"),
    ] = None,
    database: Database = None,
    json: Json = False,
) -> None:
    """Ask people about pairs of frames in their browsers; disputed pairs are then reviewed jointly.

    They sign in with personal links: `dissensus annotators add`. Options given here are saved in study.toml. Stop with
    Ctrl-C.

    Example: `dissensus shift video serve pets`
    """
    with serving():
        ready = printing.show_serving(study, json)
        opened, password = Study(study), kept_password(database, json)
        opened.video_serve(ready, host, port, printing.say_beside(json), answers=answers, database=password)
    printing.say_beside(json)("stopped; every acknowledged answer is stored")


@video.command("status")
def video_status(study: StudyPath, json: Json = False) -> None:
    """Show what was collected in STUDY, and how far the review of the frames is.

    Example: `dissensus shift video status pets`
    """
    printing.show_video_status(Study(study).video_status(), json)


@video.command("report")
def video_report(
    study: StudyPath,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="HTML page to write.", show_default="results/video.html in STUDY"),
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write every figure here as SVG, PDF and CSV, and every table as CSV.", show_default=False),
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", help="Frames before and after the anchor.", show_default="all collected")
    ] = None,
    without_anchor: Annotated[
        bool,
        typer.Option("--without-anchor", help="Leave the anchor out of the frames of which the worst counts."),
    ] = False,
    json: Json = False,
) -> None:
    """Show how accurate models are on anchors and on the worst frames near them, and write the page.

    Example: `dissensus shift video report pets --output page.html`
    """
    with printing.progress(quiet=json) as progress:
        opened = Study(study, progress)
        result = opened.video_result(k, anchor_included=not without_anchor, distances=True)
        page = opened.video_report(output, figures, result)
    printing.show_video(result, page, json)


@video.command("detection")
def video_detection(
    truth: Annotated[Path, typer.Argument(metavar="TRUTH", help="COCO file of annotated boxes.", show_default=False)],
    detections: Annotated[
        list[str],
        typer.Argument(
            metavar="DETECTIONS", help="COCO files of detected boxes, one for each model, as FILE or NAME=FILE."
        ),
    ],
    anchors: Annotated[
        Path | None,
        typer.Option(
            "--anchors",
            help="JSON: names or ids of the anchors, or their frames with offsets.",
            show_default="evenly along each folder",
        ),
    ] = None,
    k: Annotated[int, typer.Option("--k", help="Images before and after each anchor.")] = 10,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="HTML page to write.", show_default=False)
    ] = None,
    figures: Annotated[
        Path | None,
        typer.Option(help="Write every figure here as SVG, PDF and CSV, and every table as CSV.", show_default=False),
    ] = None,
    json: Json = False,
) -> None:
    """Compare detectors on anchors and on the worst frames near them: mean average precision, and localisation only.

    Example: `dissensus shift video detection truth.json a=detections-a.json b=detections-b.json`
    """
    from dissensus.study.robustness import detection_robustness, write_video_page

    found = detection_robustness(truth, _by_name(detections), anchors=anchors, k=k)
    write_video_page(None, output, figures, found)
    printing.show_detection(found, output, json)


def _by_name(files: list[str]) -> dict[str, Path]:
    """Files by the name of the model: as it is given, or that of the file without its endings."""
    found: dict[str, Path] = {}
    for one in files:
        name, equals, path = one.partition("=")
        chosen = Path(path if equals and not Path(one).is_file() else one)
        name = name if equals and chosen != Path(one) else chosen.name.partition(".")[0]
        if name in found:
            raise TemporalError(f"two detectors are called '{name}': name them as NAME=FILE")
        found[name] = chosen
    return found
