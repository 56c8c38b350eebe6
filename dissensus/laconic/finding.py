"""laconic find: the minimal-entropy positive images of every model, image by image."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from dissensus.arrays import Array, Float, UInt8
from dissensus.backends import BACKENDS, Preprocess, Unreadable, open_model, target_fingerprint
from dissensus.errors import BackendError
from dissensus.laconic.found import common_inputs, inputs_of, remedy, searched
from dissensus.laconic.originals import Originals
from dissensus.laconic.truth import Truth
from dissensus.predictions.protocol import Model
from dissensus.processors import cores
from dissensus.reductions.entropy import encoder, png_bytes
from dissensus.reductions.pictures import Reduction, reduction_named
from dissensus.reductions.search import Confidences, Mepi, Prober, Sizes, least
from dissensus.steps.workspace import Workspace
from dissensus.store.files import exists
from dissensus.store.parts import Parts, clear_parts, refuse_changes, unfinished_inputs
from dissensus.store.tables import write_table

UNSURE = 0.5
"""The confidence of models that have none."""
STEP = "laconic-find"
METHOD = 2
"""Changes whenever the search finds other images."""
SCHEMA = pa.schema(
    {
        "model": pa.string(),
        "reduction": pa.string(),
        "item": pa.string(),
        "problem": pa.string(),
        "original": pa.int64(),
        "bytes": pa.int64(),
        "levels": pa.list_(pa.int32()),
        "path": pa.list_(pa.int32()),
    }
)
"""A row per image and reduction; without levels if the model is wrong about the original, or it cannot be read."""
WRONG = "wrong without any reduction"


@dataclass
class Reader:
    """A model that classifies reduced images; one thread at a time, as frameworks differ in what they allow."""

    model: Model
    truth: Truth

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def about(self, group: int) -> Confidences:
        """The model's confidence in images of a class, negative where it sees another one."""

        def confidences(images: list[UInt8[Array, "h w 3"]]) -> Float[Array, " n"]:
            groups, sure = self.seen(images)
            return np.where(groups == group, np.where(np.isnan(sure), UNSURE, sure), -1.0)

        return confidences

    def seen(self, images: Sequence[UInt8[Array, "h w 3"]]) -> tuple[Array, Array]:
        """The classes that the model sees in images, and its confidences.

        Raises:
            BackendError: the model cannot classify images of this size.
        """
        try:
            with self._lock:
                labels, sure, _ = self.model.predict([Image.fromarray(image) for image in images])
        except BackendError as error:
            height, width = min(image.shape[:2] for image in images)
            raise BackendError(
                f"{error} (the smallest had {height}×{width} pixels): let the model scale its input, or leave out "
                "the reductions resolution and combined"
            ) from error
        return self.truth.groups.of(labels), sure


@dataclass(frozen=True)
class Search:
    """What is searched for: the models, the reductions, and whether there must be a path."""

    work: Workspace[Any]
    truth: Truth
    models: tuple[str, ...]
    is_naive: bool = False

    @property
    def reductions(self) -> dict[str, Reduction]:
        return {name: reduction_named(name) for name in self.work.settings.laconic.reductions}

    def inputs(self, model: str) -> dict[str, Any]:
        """Everything that the images of a model depend on."""
        work, one = self.work, self.work.settings.models[model]
        return common_inputs(work, self.truth) | {
            "backend": one.backend,
            "target": Path(one.target).name,  # a file may move, but have several functions
            "model": target_fingerprint(one.backend, one.target),
            "preprocess": work.settings.preprocess | one.preprocess,
            "naive": self.is_naive,
            "encoder": encoder(),
            "method": METHOD,
        }


def runnable(work: Workspace[Any]) -> list[str]:
    """The models that can be run on new images: not those that are files of predictions."""
    return [name for name, one in work.settings.models.items() if BACKENDS[one.backend].open is not None]


def opened(work: Workspace[Any], truth: Truth, name: str) -> Reader:
    """A model of the study, ready to classify reduced images; it sees all of them, whatever part of others it sees."""
    one = work.settings.models[name]
    preprocess = Preprocess.read(work.settings.preprocess | one.preprocess | {"crop": 1.0})
    return Reader(open_model(one.backend, one.target, preprocess, work.classes), truth)


def find(search: Search) -> None:
    """Write the MEPIs of all models that have none yet; an interrupted search resumes.

    Raises:
        StudyError: the images of a model were found with other inputs, or a search was begun with others.
        BackendError: a model cannot be run.
    """
    work, folder = search.work, search.work.folder
    found = [name for name in dict.fromkeys((*search.models, *searched(work))) if _is_found(search, name)]
    begun = unfinished_inputs(folder.parts(STEP))
    if begun and {*begun} <= {*found}:  # killed before its parts were removed
        clear_parts(folder.parts(STEP))
        begun = {}
    waiting = [name for name in search.models if name not in found]
    if not waiting:
        return
    inputs = {name: search.inputs(name) for name in waiting}
    # a search that began with more models goes on, as others of them may have finished or been removed since
    others = {name: one for name, one in begun.items() if name not in inputs and {*inputs} <= {*begun}}
    parts = Parts(folder.parts(STEP), "laconic find", inputs | others)
    every = range(len(search.truth))
    todo = [place for place in every if place not in parts]
    work.progress("laconic find", len(every) - len(todo), len(every))
    if todo:
        readers = {name: opened(work, search.truth, name) for name in waiting}
        done = len(every) - len(todo)
        for place, table in _searched(search, readers, todo):
            parts.write(place, table)
            done += 1
            work.progress("laconic find", done, len(every))
    table = pa.concat_tables(parts.all())
    for name in waiting:
        own = table.filter(pa.compute.equal(table["model"], name)).drop_columns("model")
        write_table(folder.mepis(name), own, {"inputs": inputs[name], "model": name})
    parts.clear()


def _is_found(search: Search, name: str) -> bool:
    work = search.work
    if not exists(work.folder.mepis(name)):
        return False
    refuse_changes(f"laconic find {name}", inputs_of(work, name), search.inputs(name), remedy(work, name))
    return True


def _searched(search: Search, readers: dict[str, Reader], todo: Sequence[int]) -> Iterator[tuple[int, pa.Table]]:
    """The rows of every image, several images at a time: some are reduced while another is classified."""
    originals = Originals(search.work, search.work.settings.laconic)

    def rows(place: int) -> pa.Table:
        pixels = originals.pixels(int(search.truth.item[place]))
        return pa.Table.from_pylist(list(_rows(search, readers, place, pixels)), SCHEMA)

    threads = ThreadPoolExecutor(cores())
    try:
        yield from zip(todo, threads.map(rows, todo), strict=True)
    finally:
        threads.shutdown(wait=True, cancel_futures=True)


def _rows(
    search: Search, readers: dict[str, Reader], place: int, pixels: UInt8[Array, "h w 3"] | Unreadable
) -> Iterator[dict[str, Any]]:
    sizes = Sizes()
    for name, reader in readers.items():
        empty = {"model": name, "item": search.truth.ids[place]}
        if isinstance(pixels, Unreadable):
            yield from ({**empty, "reduction": one, "problem": pixels.reason} for one in search.reductions)
            continue
        original = png_bytes(pixels)
        prober = Prober(pixels, reader.about(int(search.truth.group[place])), sizes)
        for reduction, mepi in mepis(prober, search.reductions, search.is_naive).items():
            row = {**empty, "reduction": reduction, "original": original}
            if mepi is None:
                yield row | {"problem": WRONG}
            else:
                path = [number for step in mepi.path for number in step]
                yield row | {"bytes": mepi.bytes, "levels": list(mepi.levels), "path": path}


def mepis(prober: Prober, reductions: dict[str, Reduction], is_naive: bool) -> dict[str, Mepi | None]:
    """The MEPI of one image for every reduction; later ones also start where earlier ones along their axes ended."""
    found: dict[str, Mepi | None] = {}
    for name, reduction in sorted(reductions.items(), key=lambda one: len(one[1].axes)):
        starts = [
            lifted(mepi, reductions[other], reduction)
            for other, mepi in found.items()
            if mepi is not None and {*reductions[other].axes} < {*reduction.axes}
        ]
        found[name] = least(prober, reduction, sorted(starts, key=lambda one: one.bytes)[:1], is_naive)
    return {name: found[name] for name in reductions}


def lifted(mepi: Mepi, own: Reduction, other: Reduction) -> Mepi:
    """The same image, in terms of another reduction that has all axes of its own."""
    axis = [other.axes.index(name) for name in own.axes]
    levels = list(other.original)
    for place, level in zip(axis, mepi.levels, strict=True):
        levels[place] = level
    return Mepi(tuple(levels), tuple((axis[one], steps) for one, steps in mepi.path), mepi.bytes, mepi.is_naive)
