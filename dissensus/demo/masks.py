"""A complete study of six real segmentation models on digits pasted onto photos, with exact ground truth."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from dissensus.demo.scenes import NAMES, Material, Scene, drawn_scene
from dissensus.demo.segmenters import segmenters
from dissensus.discrepancy.masks import agreements
from dissensus.errors import StudyError
from dissensus.predictions.maps import maps_of
from dissensus.progress import Progress
from dissensus.records import Rankings, Record
from dissensus.steps.pooling import given_order
from dissensus.study import Study
from dissensus.tasks.masks.columns import MapColumn

SEED = 0
POOL, LESSONS = 300, 200
"""Scenes on which models compete, and scenes that they are trained on."""
BY_HAND = ("svm", "logistic", "bayes")
"""Models that compete if the user draws the masks: three models need a fifth of the masks that six do."""
INSTRUCTIONS = (
    "Every image shows one to four handwritten digits on a photo. Draw the ink of each digit and nothing else.",
)
QUALITY = 90
MEASURE = "mIoU over all scenes"
ANSWERS = "the known masks of digits that were pasted onto the photos"
NOTE = (
    "The pool consists of scikit-learn's handwritten digits on crops of its two photos. The models were trained on "
    "other digits on the same photos."
)


class MasksDemoResult(Record):
    """What the demo produced; without rankings if the user draws the masks."""

    study: Path
    report: Path | None = None
    rankings: Rankings | None = None
    miou: Mapping[str, float] = {}
    """Mean IoU of every model over the whole pool, for which all masks would have to be drawn."""
    srcc: Mapping[str, float | None] = {}
    """Rank correlation of both rankings with `miou`."""
    images: int
    """Images for which the competition needed masks."""
    pool: int


def run_masks_demo(folder: Path, by_hand: bool, progress: Progress) -> MasksDemoResult:
    """Make scenes, fit, predict, select, answer, rank and report; or stop at the questions if the user draws."""
    report = folder / "study" / "results" / "report.html"
    if report.exists():
        raise StudyError(f"{folder} already holds a demo: open its report, or choose another folder")
    study = _begun(folder, by_hand)
    study.progress = progress
    scenes, specs = _prepare(folder, BY_HAND if by_hand else None, progress)
    study.pool([folder / "pool"])
    study.predict(specs)
    study.select()
    images = len(study.asked())
    if by_hand:
        return MasksDemoResult(study=study.folder.root, images=len(study.questions()), pool=len(scenes))
    _answer(study, scenes, folder / "answers")
    miou = _full_labelling(study, scenes, folder / "miou.csv")
    study.report(benchmark=folder / "miou.csv")
    rankings = Rankings.model_validate_json(study.folder.ranking.read_text(encoding="utf-8"))  # written by the report
    compared = {name: study.benchmark(ranking) for name, ranking in rankings.measures.items()}
    return MasksDemoResult(
        study=study.folder.root,
        report=report,
        rankings=rankings,
        miou=miou,
        srcc={name: None if found is None else found.srcc for name, found in compared.items()},
        images=images,
        pool=len(scenes),
    )


def _begun(folder: Path, by_hand: bool) -> Study:
    answers_from = "" if by_hand else ANSWERS
    if (folder / "study" / "study.toml").exists():  # resume an interrupted demo
        study = Study(folder / "study")
        if study.settings.answers_from != answers_from:
            other = "without --by-hand" if by_hand else "with --by-hand"
            raise StudyError(f"{folder} holds a demo started {other}: run it that way again, or choose another folder")
        return study
    classes = folder / "classes.txt"
    folder.mkdir(parents=True, exist_ok=True)
    classes.write_text("".join(f"{name}\n" for name in NAMES))
    study = Study.init(
        folder / "study",
        task="masks",
        classes=str(classes),
        title="Digits on photos",
        notes=[NOTE],
        answers_from=answers_from,
    )
    if by_hand:
        study.configure(instructions=INSTRUCTIONS)
    else:  # ground truth needs no check
        study.change("judge", {"check": False})
    return study


def _prepare(folder: Path, names: Sequence[str] | None, progress: Progress) -> tuple[dict[str, Scene], list[str]]:
    """Write scenes of half of the digits, and maps of models trained on the rest; return scenes by item, and models."""
    lessons, pool = _scenes(progress)
    pictures = folder / "pool"
    pictures.mkdir(parents=True, exist_ok=True)
    found = {f"scene-{number:03}.jpg": scene for number, scene in enumerate(pool, start=1)}
    for item, scene in found.items():
        Image.fromarray(scene.picture).save(pictures / item, quality=QUALITY)
    todo = {name: model for name, model in segmenters().items() if names is None or name in names}
    specs = []
    for done, (name, model) in enumerate(todo.items(), start=1):
        model.fit(lessons)
        _write_maps(folder / "maps" / name, dict(zip(found, model.maps(pool), strict=True)))
        specs.append(f"{name}=file:{folder / 'maps' / name}")
        progress("fitting models", done, len(todo))
    return found, specs


def _scenes(progress: Progress) -> tuple[list[Scene], list[Scene]]:
    """The scenes that models are trained on, and those on which they compete."""
    # imported here, as scikit-learn takes a second to import and no other command needs it
    from sklearn.datasets import load_digits, load_sample_images
    from sklearn.model_selection import train_test_split

    digits, photos = load_digits(), load_sample_images().images
    halves = train_test_split(np.arange(len(digits.target)), test_size=0.5, random_state=SEED, stratify=digits.target)
    made: list[Scene] = []
    for which, (half, count) in enumerate(zip(halves, (LESSONS, POOL), strict=True)):
        material = Material(photos, digits.images[half], digits.target[half])
        for number in range(count):
            made.append(drawn_scene(material, np.random.default_rng((SEED, which, number))))
            progress("drawing scenes", len(made), LESSONS + POOL)
    return made[:LESSONS], made[LESSONS:]


def _write_maps(folder: Path, maps: Mapping[str, np.ndarray]) -> None:
    """Write one PNG of class numbers per item, as other tools do."""
    folder.mkdir(parents=True, exist_ok=True)
    for item, labels in maps.items():
        Image.fromarray(labels).save(folder / f"{Path(item).stem}.png")


def _answer(study: Study, scenes: Mapping[str, Scene], folder: Path) -> None:
    """Answer every open question with the ground truth, by importing a folder of PNGs."""
    truths = {question.item: scenes[question.item].truth for question in study.questions()}
    if truths:  # empty if the demo was interrupted after this step
        _write_maps(folder, truths)
        study.judgements_import(folder, format="png", annotator="known")


def _full_labelling(study: Study, scenes: Mapping[str, Scene], path: Path) -> dict[str, float]:
    """Mean IoU of every model over all scenes of the pool, also written as a benchmark file."""
    items, models = study.items(), list(study.settings.models)
    truths = maps_of([scenes[item].truth for item in items])
    columns = [MapColumn(study.folder, name).at(given_order(study.folder)) for name in models]
    scores, _ = agreements(columns, truths, len(NAMES), "miou")
    miou = dict(zip(models, scores.mean(axis=0).tolist(), strict=True))
    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("model", MEASURE, "labels"), *((*pair, len(items)) for pair in miou.items())])
    return miou
