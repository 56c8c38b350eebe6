"""predict: what every model says about every item, top-1 and its probability, in pool order."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from dissensus.arrays import MISSING, Array
from dissensus.backends import (
    Preprocess,
    Unreadable,
    open_model,
    read_image,
    read_predictions,
    target_fingerprint,
)
from dissensus.engines.local import Progress, chunks
from dissensus.errors import BackendError, PredictionError, StudyError
from dissensus.predictions.protocol import Model
from dissensus.records import FORMAT_VERSION, Classes
from dissensus.steps.pooling import pool_ids, pool_stamp
from dissensus.store.files import file_fingerprint, fingerprint
from dissensus.store.folder import Folder
from dissensus.store.parts import Parts, refuse_changes
from dissensus.store.settings import ModelSettings, Settings
from dissensus.store.tables import open_table, read_stamps, read_table, write_table

STAMPED = ("inputs", "labels", "content", "unreadable")  # what every file of predictions says of itself
CHUNK = 256  # items that are predicted before they are kept
PooledFile = tuple[str | None, str | None]
"""Where an item lies, and the fingerprint it was pooled with."""

BATCH = 32  # images that a model sees at once
READERS = 2  # threads that decode images while the model works


def predict(folder: Folder, settings: Settings, classes: Classes, name: str, progress: Progress) -> bool:
    """Write predictions/NAME.parquet; False where it was there, made from the same inputs.

    Raises:
        StudyError: the predictions, or finished parts of them, were made from other inputs.
        BackendError, PredictionError: the model cannot be run, or says what cannot be.
    """
    model = settings.models[name]
    inputs = _inputs(folder, settings, model)
    target = folder.predictions(name)
    if target.exists():
        remedy = "give the changed model a name of its own and let it join"
        refuse_changes(f"predict {name}", read_stamps(target)["inputs"], inputs, remedy)
        return False
    if model.backend == "file":
        table = _from_file(folder, classes, model)
    else:
        parts = Parts(folder.parts(f"predict-{name}"), f"predict {name}", inputs)
        table = _from_model(folder, settings, classes, name, parts, progress)
    write_table(target, table, {"inputs": inputs, "model": name, "format_version": FORMAT_VERSION} | _contents(table))
    if model.backend != "file":
        parts.clear()
    return True


def has_begun(folder: Folder, name: str) -> bool:
    """True where predictions of a model, or finished parts of them, are there."""
    return folder.predictions(name).exists() or any(folder.parts(f"predict-{name}").glob("*.parquet"))


def problems(folder: Folder, name: str) -> pa.Table:
    """Items that a model has no prediction for, with the reasons; in pool order."""
    table = read_table(folder.predictions(name), ["problem"])
    rows = np.flatnonzero(table["problem"].is_valid().to_numpy())
    return pa.table({"item": pool_ids(folder).take(pa.array(rows)), "problem": table["problem"].take(pa.array(rows))})


def _inputs(folder: Folder, settings: Settings, model: ModelSettings) -> dict[str, Any]:
    """Everything that a model's predictions depend on."""
    return {
        "pool": pool_stamp(folder),
        "classes": fingerprint(folder.classes.read_bytes()),
        "backend": model.backend,
        "model": target_fingerprint(model.backend, model.target),
        "preprocess": {} if model.backend == "file" else settings.preprocess | model.preprocess,
    }


def _from_file(folder: Folder, classes: Classes, model: ModelSettings) -> pa.Table:
    read = read_predictions(model.target, classes, pool_ids(folder))
    reasons = pa.nulls(len(read.labels), pa.string()) if read.problems is None else read.problems
    return _table(read.labels, read.confidence, reasons)


def _from_model(
    folder: Folder, settings: Settings, classes: Classes, name: str, parts: Parts, progress: Progress
) -> pa.Table:
    model = settings.models[name]
    pool = read_table(folder.pool, ["uri", "fingerprint"])
    uris = pool["uri"].to_pylist()
    files = list(zip(uris, pool["fingerprint"].to_pylist(), strict=True))
    if all(uri is None for uri in uris):
        raise BackendError(f"{name} cannot run: the pool has ids only; use a file of predictions, or give paths")
    todo = chunks(len(uris), CHUNK)
    preprocess = Preprocess.read(settings.preprocess | model.preprocess)
    waiting = [number for number in range(len(todo)) if number not in parts]
    progress(f"predict {name}", len(uris) - sum(len(todo[number]) for number in waiting), len(uris))
    if waiting:
        opened = open_model(model.backend, model.target, preprocess, classes)
        for number in waiting:
            rows = todo[number]
            parts.write(number, _predicted(opened, files[rows.start : rows.stop]))
            progress(f"predict {name}", rows.stop, len(uris))
    whole = pa.concat_tables([parts.read(number) for number in range(len(todo))])
    return _table(whole["label"].to_numpy(), _given(whole["confidence"].to_numpy()), whole["problem"].combine_chunks())


def _predicted(model: Model, files: list[PooledFile]) -> pa.Table:
    labels = np.full(len(files), MISSING, np.uint16)
    confidence = np.zeros(len(files), np.float32)
    reasons: list[str | None] = [None] * len(files)
    for rows, images in _batches(files):
        readable = [row for row, image in zip(rows, images, strict=True) if not isinstance(image, Unreadable)]
        for row, image in zip(rows, images, strict=True):
            if isinstance(image, Unreadable):
                reasons[row] = image.reason
        if readable:
            seen = [image for image in images if not isinstance(image, Unreadable)]
            labels[readable], confidence[readable] = model.predict(seen)
    return pa.table({"label": labels, "confidence": confidence, "problem": pa.array(reasons, pa.string())})


def _batches(files: list[PooledFile]) -> Iterator[tuple[range, list[Any]]]:
    """Batches of images, decoded ahead in threads."""
    with ThreadPoolExecutor(READERS) as threads:
        images = threads.map(_image, files)
        for rows in chunks(len(files), BATCH):
            yield rows, [next(images) for _ in rows]


def _image(file: PooledFile) -> Any:
    """The image, if it is still the one that was pooled: all models must have seen the same."""
    uri, known = file
    if uri is None:
        return Unreadable("no path in the pool")
    image = read_image(uri)
    if not isinstance(image, Unreadable) and known is not None and file_fingerprint(Path(uri)) != known:
        return Unreadable("changed since it was pooled")
    return image


def _given(confidence: Array) -> Array | None:
    """Confidences; None for a model that gives none (NaN for every item it read)."""
    return None if np.isnan(confidence).any() else confidence


def _table(labels: Array, confidence: Array | None, reasons: pa.Array) -> pa.Table:
    if (labels == MISSING).all():
        raise PredictionError("there is no prediction for any item: check the file, or the paths of the pool")
    columns = {"label": pa.array(labels, pa.uint16())}
    if confidence is not None:
        columns["confidence"] = pa.array(np.where(labels == MISSING, np.float32(0), confidence), pa.float32())
    # a column that says it has no gaps is read twice as fast
    whole = [pa.field(name, column.type, nullable=False) for name, column in columns.items()]
    return pa.table([*columns.values(), reasons], schema=pa.schema([*whole, pa.field("problem", pa.string())]))


def _contents(table: pa.Table) -> dict[str, Any]:
    """Fingerprints of what was predicted: `labels` alike means that two models cannot be told apart."""
    columns = {name: table[name].to_numpy() for name in table.column_names if name != "problem"}
    labels = fingerprint(columns["label"].tobytes())
    return {
        "labels": labels,
        "content": fingerprint(labels, *(column.tobytes() for column in columns.values())),
        "unreadable": int((columns["label"] == MISSING).sum()),
    }


def predicted(folder: Folder, settings: Settings) -> list[str]:
    """Models of the study whose predictions are there, in the order of study.toml."""
    return [name for name in settings.models if folder.predictions(name).exists()]


def check_same_pool(folder: Folder, names: list[str]) -> dict[str, dict[str, Any]]:
    """Stamps of the predictions, all of them made on this pool.

    Raises:
        StudyError: one was made on another pool, or does not have a row per item.
    """
    stamp = pool_stamp(folder)
    rows = open_table(folder.pool).metadata.num_rows
    stamps = {name: read_stamps(folder.predictions(name), *STAMPED) for name in names}
    for name, found in stamps.items():
        path = folder.predictions(name)
        if found["inputs"]["pool"] != stamp or open_table(path).metadata.num_rows != rows:
            raise StudyError(f"{path} belongs to another pool: delete it and run dissensus predict {folder.root} again")
    return stamps


def resolved_target(backend: str, target: str) -> str:
    """The target as study.toml keeps it: a path that does not depend on where the command was given."""
    name, at, checkpoint = target.partition("@")
    if backend == "timm":
        return f"{name}@{Path(checkpoint).resolve()}" if at else target
    return str(Path(target).resolve()) if Path(target).exists() else target


def parsed_settings(pairs: list[str]) -> dict[str, Any]:
    """KEY=VALUE pairs as a table of settings; values are read as JSON, else as text.

    Raises:
        BackendError: a pair without '='.
    """
    settings: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals:
            raise BackendError(f"'{pair}' is no setting: write KEY=VALUE, for example size=224")
        try:
            settings[key] = json.loads(value)
        except ValueError:
            settings[key] = value
        if settings[key] is None:
            raise BackendError(f"'{pair}': leave the setting out instead")
    return settings
