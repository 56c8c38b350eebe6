"""A study of a synthetic pool that behaves like eleven ImageNet classifiers on ten million photos.

Every item has a true class and a difficulty that all models share; what decides whether a model is right is 87 %
difficulty and 13 % the model's own. Accuracies run from 0.70 to 0.85. A wrong model names, in 0.75 of the cases, the
one class that this item tempts all models to name, and otherwise a class of its own choice. Wrong classes are mostly
near the true one in the taxonomy and sometimes far: their place in the order of distance is about log-uniform.

These numbers are fitted to eleven real classifiers of 0.70 to 0.83 on the 50,000 ImageNet validation images (theirs →
ours): items on which not all agree 0.44 → 0.44, pairwise disagreement 0.21 → 0.20, correlation of errors 0.63 → 0.63,
same label when both are wrong 0.56 → 0.57, median distance of an error 0.055 → 0.046, ninth decile 0.48 → 0.49.
Confidences are not in that set. They follow the margin by which a model was right or wrong: 0.52 to 0.65 of a model's
predictions reach the default threshold of 0.8, and 0.90 to 0.97 of those are right, as is usual of such networks
(assumed, not fitted). Two confident models disagree on 16 % of the items, two given ones on 1 %.

Everything comes from one seed: so many items and models give the same pool wherever it is made.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.special import expit, ndtri

from dissensus.arrays import Array, Float, UInt16
from dissensus.discrepancy import taxonomy
from dissensus.discrepancy.labels import class_distances
from dissensus.records import FORMAT_VERSION
from dissensus.steps.workspace import Workspace
from dissensus.store import tables
from dissensus.store.files import fingerprint
from dissensus.store.folder import Folder
from dissensus.store.settings import ModelSettings, set_models
from dissensus.study import Study
from dissensus.tasks.labels import predictions

SEED = 20_200_226
BLOCK = 1 << 20  # items drawn at once
SHARED = 0.87  # share of the variance of being right that is the item's difficulty
TEMPTED = 0.75  # share of the errors that name the class which the item tempts all models to name
FAR = 0.85  # exponent of the place of a wrong class: 1 is log-uniform, below that far classes are more frequent
ACCURACIES = (0.70, 0.85)


@dataclass(frozen=True)
class Items:
    """What all models share: the true class, how hard the item is, and the class that it tempts to name."""

    truth: UInt16[Array, " N"]
    difficulty: Float[Array, " N"]
    tempting: UInt16[Array, " N"]


def model_names(models: int) -> list[str]:
    """Names of the models, weakest first."""
    return [f"model{number:02}" for number in range(models)]


def make_study(root: Path, items: int, models: int) -> Folder:
    """The folder of a study with so many items and models, made now unless it was made whole before."""
    folder = Folder(root / f"{items}x{models}")
    finished = folder.root / "synthetic.json"
    made_of = {"items": items, "models": models, "seed": SEED, "format": FORMAT_VERSION, "recipe": _recipe()}
    if finished.exists() and json.loads(finished.read_text()) == made_of:
        return folder
    shutil.rmtree(folder.root, ignore_errors=True)
    study = Study.init(folder.root)
    near = _nearest(class_distances(study.classes, "weighted-exactly"))
    names = model_names(models)
    set_models(folder.settings, {name: ModelSettings(backend="file", target="synthetic") for name in names})
    stamp = _write_pool(folder, items)
    shared = _items(items, near)
    for number, (name, accuracy) in enumerate(zip(names, np.linspace(*ACCURACIES, models), strict=True)):
        labels, confidence = _predictions(shared, near, float(accuracy), number)
        source = predictions.LabelSource(Workspace(folder, study.settings, study.classes), name)
        _write_predictions(folder, name, {"pool": stamp, "backend": "file"} | source.inputs, labels, confidence)
    finished.write_text(json.dumps(made_of))
    return folder


def _recipe() -> str:
    """Fingerprint of the code that makes the files: what an older one made must not be measured."""
    sources = (__file__, predictions.__file__, tables.__file__, taxonomy.__file__)
    return fingerprint(*(Path(source).read_bytes() for source in sources))


def _nearest(distances: Float[Array, "C C"]) -> UInt16[Array, "C K"]:
    """The other classes of each class, nearest first."""
    return np.argsort(distances, axis=1, kind="stable")[:, 1:].astype(np.uint16)


def _write_pool(folder: Folder, items: int) -> str:
    """Ids without files behind them, as a manifest of ids gives them; the stamp of the pool."""
    stamp = fingerprint(f"{items} synthetic items")
    unknown = {"uri": pa.string(), "size": pa.int64(), "fingerprint": pa.string()}

    def piece(start: int) -> pa.Table:
        numbers = np.arange(start, min(start + BLOCK, items))
        ids = pc.utf8_lpad(pa.array(numbers).cast(pa.string()), 9, "0")
        return pa.table({"id": ids} | {name: pa.nulls(len(numbers), kind) for name, kind in unknown.items()})

    stamps = {"pool": stamp, "sources": ["synthetic"], "format_version": FORMAT_VERSION}
    tables.write_pieces(folder.pool, piece(0).schema, map(piece, range(0, items, BLOCK)), stamps)
    return stamp


def _items(items: int, near: UInt16[Array, "C K"]) -> Items:
    shared = Items(np.empty(items, np.uint16), np.empty(items, np.float32), np.empty(items, np.uint16))

    def fill(rows: slice, random: np.random.Generator) -> None:
        count = rows.stop - rows.start
        shared.truth[rows] = random.integers(len(near), size=count, dtype=np.uint16)
        shared.difficulty[rows] = random.standard_normal(count, dtype=np.float32)
        shared.tempting[rows] = _confused(shared.truth[rows], near, random)

    _in_blocks(items, fill, stream=0)
    return shared


def _predictions(
    shared: Items, near: UInt16[Array, "C K"], accuracy: float, number: int
) -> tuple[UInt16[Array, " N"], Float[Array, " N"]]:
    """Labels and confidences of one model."""
    labels = shared.truth.copy()
    confidence = np.empty(len(labels), np.float32)
    skill = ndtri(accuracy)

    def fill(rows: slice, random: np.random.Generator) -> None:
        count = rows.stop - rows.start
        own = random.standard_normal(count, dtype=np.float32)
        margin = skill - (np.sqrt(SHARED) * shared.difficulty[rows] + np.sqrt(1 - SHARED) * own)
        is_wrong = margin < 0
        wrong = np.flatnonzero(is_wrong)
        error = _confused(shared.truth[rows][wrong], near, random)
        tempted = random.random(len(wrong), dtype=np.float32) < TEMPTED
        labels[rows.start + wrong] = np.where(tempted, shared.tempting[rows][wrong], error)
        noise = random.standard_normal(count, dtype=np.float32)
        logit = np.where(is_wrong, -0.6 - 0.8 * margin, 0.6 + 1.6 * margin) + 1.5 * noise
        confidence[rows] = expit(logit)

    _in_blocks(len(labels), fill, stream=1 + number)
    return labels, confidence


def _confused(
    truth: UInt16[Array, " n"], near: UInt16[Array, "C K"], random: np.random.Generator
) -> UInt16[Array, " n"]:
    """A wrong class for each true one."""
    place = near.shape[1] ** (random.random(len(truth)) ** FAR)
    return near[truth, place.astype(np.int64) - 1]


def _in_blocks(items: int, fill: Callable[[slice, np.random.Generator], None], stream: int) -> None:
    for block, start in enumerate(range(0, items, BLOCK)):
        fill(slice(start, min(start + BLOCK, items)), np.random.default_rng((SEED, stream, block)))


def _write_predictions(
    folder: Folder,
    name: str,
    inputs: dict[str, Any],
    labels: UInt16[Array, " N"],
    confidence: Float[Array, " N"],
) -> None:
    """The file that `dissensus predict` writes, by the functions it uses; nothing else may be measured."""
    table = pa.table({"label": labels, "confidence": confidence, "problem": pa.nulls(len(labels), pa.string())})
    stamps = {"inputs": inputs, "model": name, "format_version": FORMAT_VERSION}
    predictions.write_labels(folder.predictions(name), lambda: [table], stamps)
