"""predict: every model's predictions for every item in pool order, made chunk by chunk or read from a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dissensus.arrays import Array, Int
from dissensus.backends import MISSING_FILE, target_fingerprint
from dissensus.errors import BackendError, DissensusError, PredictionError, StudyError
from dissensus.progress import Progress
from dissensus.records import FORMAT_VERSION
from dissensus.steps.belonging import rounds_with, taking_part
from dissensus.steps.growing import Coverage, coverage, extended, extends, in_pool_order
from dissensus.steps.pooled_images import PooledImages
from dissensus.steps.pooling import earlier_pools, has_no_file, pool_ids, pool_stamp
from dissensus.steps.workspace import Workspace
from dissensus.store.checksums import verify
from dissensus.store.files import exists, fingerprint, write_whole
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts, changed_inputs, clear_parts, part_size, refuse_changes, unfinished_inputs
from dissensus.store.settings import Settings
from dissensus.store.tables import read_stamps, read_table

CHUNK = 256  # items that are predicted before they are saved, at least
Parted = Callable[[], Iterable[pa.Table]]
"""Iterates over all predictions part by part, from the start each time, so that a large pool never fills memory."""

Batches = Iterable[tuple[range, list[Any]]]
"""Rows numbered from 0, each batch with its images or the reasons why they cannot be read."""


class Source(ABC):
    """Where the predictions of one model come from; each task defines how they are read and checked."""

    columns: Sequence[str] = ()
    """What predictions consist of, such as label and confidence, where they can be given as columns."""
    absent: Any = None
    """What the first column holds where there is no prediction."""
    chunk = CHUNK
    """Items that are predicted before they are saved, at least."""
    shares_images: ClassVar[bool] = False
    """Whether `part` can be given images that other models see too."""
    fits_in_memory: ClassVar[bool] = True
    """Whether all predictions do, so that they can be made in any order."""

    def __init__(self, work: Workspace[Any], name: str) -> None:
        self.work, self.name = work, name
        self.model = work.settings.models[name]
        self.is_whole = self.model.backend == "file"
        """True if all predictions are in one file, which is read at once."""
        self.preprocess = work.settings.preprocess | self.model.preprocess
        self.inputs: dict[str, Any] = {"preprocess": {} if self.is_whole else self.preprocess}
        """What the predictions depend on besides the pool and the model itself."""
        if exists(work.folder.classes):
            self.inputs["classes"] = fingerprint(work.folder.classes.read_bytes())

    def __reduce__(self) -> tuple[type[Self], tuple[Workspace[Any], str]]:
        """To be sent to a worker, where it has yet to be opened."""
        return type(self), (self.work.bare(), self.name)

    @cached_property
    def all_inputs(self) -> dict[str, Any]:
        """Everything that the predictions depend on, with fingerprints of the pool and the model."""
        backend, target = self.model.backend, self.model.target
        verify(Path(target))
        pool = pool_stamp(self.work.folder)
        return {"pool": pool, "backend": backend, "model": target_fingerprint(backend, target)} | self.inputs

    @property
    def spec(self) -> str:
        """Where the model comes from, as it is named in commands."""
        return f"{self.model.backend}:{self.model.target}"

    @cached_property
    def images(self) -> PooledImages:
        return PooledImages(self.work.folder, self.name)

    def read(self) -> pa.Table:
        """Read all predictions from a file."""
        raise BackendError(f"{self.name}: this task cannot read predictions from a single file")

    def open(self) -> None:
        """Load the model."""
        raise BackendError(f"{self.name}: this task takes predictions as file:PATH, not as {self.model.backend}:")

    def part(self, rows: Sequence[int], batches: Batches | None = None) -> pa.Table:
        """Predictions for some items of the pool, with a column `problem` that says why an item has none.

        `batches` are the images of these items, if they have been read already.
        """
        raise NotImplementedError  # a task that only reads files never gets here: `open` rejects its models

    @abstractmethod
    def write(self, path: Path, parts: Parted, stamps: dict[str, Any]) -> None:
        """Check the predictions part by part, and write them with their fingerprints added to the stamps."""


def predict(source: Source, again: bool = False) -> bool:
    """Write predictions/NAME.parquet; False if it already exists and was made from the same inputs.

    With `again`, the model is run again, and its new predictions replace the old ones once they are complete.

    Raises:
        StudyError: the predictions, or finished parts of them, were made from other inputs; or a round was selected
            from other predictions.
        BackendError, PredictionError: the model cannot be run, or its predictions are invalid.
    """
    work, name = source.work, source.name
    folder = work.folder
    if not is_wanted(source, again):
        clear_parts(folder.parts(f"predict-{name}"))
        return False
    if source.is_whole:
        table = _without_missing(source.read(), source)
        _write(source, lambda: iter([table]), _stamps(source))
        return True
    run = Run(source, again)
    with run.kept():
        _predict_parts(run, work.progress)
        run.finish()
    return True


def _stamps(source: Source) -> dict[str, Any]:
    return {
        "inputs": source.all_inputs, "model": source.name, "source": source.spec, "format_version": FORMAT_VERSION,
    }  # fmt: skip


class Run:
    """A model that predicts the pool part by part; parts that are finished are kept."""

    def __init__(self, source: Source, again: bool) -> None:
        self.source, self.name, folder = source, source.name, source.work.folder
        self.coverage: Coverage = coverage(folder, self.name, source.fits_in_memory, again)
        self.size = len(self.coverage.rows)
        self.chunk = part_size(self.size, source.chunk)
        self.parts = self._parts(folder.parts(f"predict-{self.name}"), again)
        every = range(-(-self.size // self.chunk))
        self.waiting = dict.fromkeys(number for number in every if number not in self.parts)
        """Numbers of the parts that are not finished, in order."""

    def _parts(self, kept: Path, again: bool) -> Parts:
        """The parts that are finished; those made for other items, or in another order, are of no use any more."""
        inputs, items = self.source.all_inputs, self.coverage.stamp
        if self.chunk > self.source.chunk:
            items += f" by {self.chunk}"
        before = {name: value for name, value in unfinished_inputs(kept).items() if name != "items"}
        replaces = again or not changed_inputs(before, inputs)
        return Parts(kept, f"predict {self.name}", inputs | ({"items": items} if items else {}), replaces)

    def rows(self, number: int) -> Sequence[int]:
        """The items of a part."""
        rows = self.coverage.rows[number * self.chunk : (number + 1) * self.chunk]
        return rows if isinstance(rows, range) else rows.tolist()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Parts are kept if the block raises an error, unless they are of no use."""
        try:
            yield
        except DissensusError as error:
            if isinstance(error, PredictionError):  # rejected as a whole, they cannot be resumed
                self.parts.clear()
            self.tidy()
            raise

    def done(self, number: int) -> int:
        """How many items there are up to the end of a part."""
        return min((number + 1) * self.chunk, self.size)

    def tidy(self) -> None:
        """Leave nothing behind if no part is finished."""
        if not self.parts:
            self.parts.clear()

    def finish(self) -> None:
        """Write the predictions."""
        predictions = self.source.work.folder.predictions(self.name)
        _write(self.source, lambda: in_pool_order(self.coverage, predictions, self.parts.all()), _stamps(self.source))
        self.parts.clear()


def _without_missing(table: pa.Table, source: Source) -> pa.Table:
    """Predictions from a file, without those for items that nobody can look at."""
    is_missing = has_no_file(source.work.folder)
    if not is_missing.any():
        return table
    first, names = source.columns[0], table.column_names
    values = table[first].to_numpy().copy()
    values[is_missing] = source.absent
    known = table["problem"] if "problem" in names else pa.nulls(len(table), pa.string())
    table = table.set_column(names.index(first), first, pa.array(values))
    table = table.drop_columns("problem") if "problem" in names else table
    return table.append_column("problem", pc.if_else(pa.array(is_missing), MISSING_FILE, known))


def is_wanted(source: Source, again: bool = False) -> bool:
    """True if predictions have to be made for the model; nothing is written.

    Raises:
        StudyError: its predictions were made from other inputs, and cannot be replaced; or the pool or a round is
            damaged.
    """
    folder, name = source.work.folder, source.name
    target = folder.predictions(name)
    now = source.all_inputs
    if not target.exists():
        return True
    if not again:
        known = read_stamps(target, "inputs")["inputs"]
        has_grown = known["pool"] in earlier_pools(folder)
        remedy = f"run the model again (--again {name}), or add it under a new name (dissensus join)"
        refuse_changes(f"predict {name}", known | {"pool": now["pool"]} if has_grown else known, now, remedy)
        return has_grown
    rounds = rounds_with(folder, name)
    try:
        before = read_stamps(target, "inputs")["inputs"]
    except StudyError:  # damaged predictions are replaced: `_write` compares the new ones with the rounds
        return True
    if rounds and changed_inputs(before, now):
        raise PredictionError(taking_part(folder, name, min(rounds)))
    return True


def _write(source: Source, parts: Parted, stamps: dict[str, Any]) -> None:
    """Check and write the predictions; those that rounds were selected from must stay the same.

    They say which earlier ones they extend, so that a selection from these can be extended, too.
    """
    folder, name = source.work.folder, source.name
    staged = folder.parts(f"{name}.parquet")
    earlier = extended(folder, name)
    source.write(staged, parts, stamps | ({"earlier": earlier} if earlier else {}))
    try:
        if earlier and not extends(folder, name, staged):
            source.write(staged, parts, stamps)
        content = read_stamps(staged, "content")["content"]
        for number, known in rounds_with(folder, name).items():
            if content != known:
                raise PredictionError(taking_part(folder, name, number))
        write_whole(folder.predictions(name), lambda unfinished: os.replace(staged, unfinished))
    finally:
        staged.unlink(missing_ok=True)
        with suppress(OSError):
            staged.parent.rmdir()


def changes_since(source: Source) -> list[str]:
    """The settings that have changed since a model's predictions were made, such as 'preprocess.size 224 → 160'.

    The model itself is read only if it is now another file.
    """
    stamps = read_stamps(source.work.folder.predictions(source.name), "inputs")
    before = stamps["inputs"]
    now = {"backend": source.model.backend} | source.inputs
    changed = changed_inputs({name: before.get(name) for name in now}, now)
    known = stamps.get("source", source.spec)
    if known != source.spec and not changed:
        try:
            is_same = target_fingerprint(source.model.backend, source.model.target) == before["model"]
        except DissensusError:  # the model is gone, so nothing can be compared with it
            is_same = False
        changed = [] if is_same else [f"source {known} → {source.spec}"]
    return changed


def _predict_parts(run: Run, progress: Progress) -> None:
    what = f"predict {run.name}"
    progress(what, run.size - sum(len(run.rows(number)) for number in run.waiting), run.size)
    if run.waiting:
        run.source.open()
    for number in run.waiting:
        run.parts.write(number, run.source.part(run.rows(number)))
        progress(what, run.done(number), run.size)


def spread_rows(size: int, count: int) -> Int[Array, " n"]:
    """At most `count` rows, spread evenly over `size`."""
    return np.unique(np.linspace(0, size - 1, min(size, count)).round().astype(np.int64))


def problems(folder: Folder, name: str) -> pa.Table:
    """Items without a prediction by the model and the reasons why, in pool order."""
    table = read_table(folder.predictions(name), ["problem"])
    rows = np.flatnonzero(table["problem"].is_valid().to_numpy())
    return pa.table({"item": pool_ids(folder).take(pa.array(rows)), "problem": table["problem"].take(pa.array(rows))})


def predicted(folder: Folder, settings: Settings) -> list[str]:
    """Models of the study that have predictions, in the order of study.toml.

    Raises:
        StudyError: predictions that existed before are missing.
    """
    return [name for name in settings.models if exists(folder.predictions(name))]
