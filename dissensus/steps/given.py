"""Items and predictions passed in memory, for example from a notebook, saved as the files that commands read."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from dissensus.arrays import MISSING
from dissensus.backends import FURTHER
from dissensus.contents import is_file_path, local_path
from dissensus.engines.local import chunks
from dissensus.errors import PoolError, PredictionError
from dissensus.frames import is_table, table_of
from dissensus.images import open_image
from dissensus.predictions.top5 import ranked
from dissensus.progress import Progress
from dissensus.steps.pooling import given_order
from dissensus.steps.pools import ListedPool, open_source
from dissensus.steps.workspace import Workspace
from dissensus.store.files import fingerprint, remove_file, write_bytes, write_whole
from dissensus.store.folder import Folder
from dissensus.store.settings import ModelSettings

BATCH = 256
"""Items per call of a function."""


def keep_pool(folder: Folder, items: Any) -> Path:
    """Write a manifest of items given as a frame (item, path), as ids or file paths, or as an array of images.

    Raises:
        PoolError: the items have no ids, or the images are not uint8.
    """
    if is_table(items):
        table = _absolute(table_of(items))
    elif isinstance(items, np.ndarray) and items.ndim in (3, 4):
        table = _kept_images(folder, items)
    else:
        named = [str(item) for item in items]
        paths = [str(Path(name).resolve()) if Path(name).is_file() else None for name in named]
        ids = [name if path is None else Path(name).name for name, path in zip(named, paths, strict=True)]
        if len(set(ids)) < len(ids):  # files of the same name in several folders
            ids = named
        table = pa.table({"item": ids, "path": pa.array(paths, pa.string())})
    if "item" not in table.column_names:
        raise PoolError(f"the items have no column 'item', only {', '.join(table.column_names)}: rename one of them")
    manifest = folder.given / "pool.parquet"
    write_whole(manifest, lambda path: pq.write_table(table, path))
    return manifest


def _absolute(table: pa.Table) -> pa.Table:
    """The table with its relative paths resolved now: those of a manifest would be relative to the manifest."""
    for column in ("path", "reference"):
        if column in table.column_names:
            found = [None if name is None else _resolved(str(name)) for name in table[column].to_pylist()]
            place = table.column_names.index(column)
            table = table.set_column(place, column, pa.array(found, pa.string()))
    return table


def _resolved(name: str) -> str:
    """The absolute path of a file; addresses and pictures in archives stay as they are."""
    return str(Path(name).resolve()) if is_file_path(local_path(name)) else name


def _kept_images(folder: Folder, images: np.ndarray) -> pa.Table:
    """Save images as PNG files in the study: N×height×width (grey) or N×height×width×3 (colour), 0 to 255.

    Their folder is named after their content, so that a pool that is refused leaves the images of the old one alone.
    """
    if images.dtype != np.uint8:
        raise PoolError(f"images must be uint8 arrays (0 to 255), not {images.dtype}: convert them")
    digits = len(str(max(len(images) - 1, 0)))
    ids = [f"{number:0{digits}}.png" for number in range(len(images))]
    content = fingerprint(str(images.shape), np.ascontiguousarray(images).tobytes())
    paths = [folder.given / "images" / content / name for name in ids]
    for path, pixels in zip(paths, images, strict=True):
        if not path.exists():
            _write_png(path, pixels)
    return pa.table({"item": ids, "path": [str(path.resolve()) for path in paths]})


def keep_predictions(work: Workspace[Any], name: str, given: Any, columns: Sequence[str], again: bool = False) -> Path:
    """Save predictions given as an array, a frame or a function to a file with one row per item of the pool.

    `columns` are those of the task's predictions, such as label and confidence; empty for maps, which become a folder
    of PNG files. With `again`, they may differ from those that the model already has. The file or folder is named after
    the model and its content, so that nothing is overwritten: predictions that are refused leave the old ones alone.

    Raises:
        PredictionError: there is not one prediction per item, or the predictions are invalid.
    """
    items, paths = _items(work)
    if callable(given):
        inside = next((path for path in paths if path is not None and not is_file_path(path)), None)
        if inside is not None:
            raise PredictionError(
                f"{name} is a function of paths, but {inside} is not a file on this machine: give a function of images "
                f"instead ({name}=python:FILE.py:NAME)"
            )
        shown = [item if path is None else path for item, path in zip(items, paths, strict=True)]
        given = _called(given, shown, name, work.progress)
    if not columns:
        return _kept_maps(work.folder, name, given, items, again)
    table = _table(given, columns, name)
    if "item" not in table.column_names:
        if len(table) != len(items):
            raise PredictionError(f"{name} has {len(table):,} predictions for {len(items):,} items: give one per item")
        table = table.append_column("item", pa.array(items, pa.string()))
    earlier, _ = _file(work.folder, name, table.select([one for one in table.column_names if one not in FURTHER]))
    if earlier.exists() and not again:  # given as probabilities to a version that kept only the first class
        return earlier
    kept, content = _file(work.folder, name, table)
    refuse_other(work.folder, name, kept, again)
    if not (kept.exists() and kept.read_bytes() == content):
        write_bytes(kept, content)
    return kept


def _file(folder: Folder, name: str, table: pa.Table) -> tuple[Path, bytes]:
    """Where predictions are kept, and the bytes of their file."""
    written = BytesIO()
    pq.write_table(table, written)
    content = written.getvalue()
    return folder.given / f"{name}.{fingerprint(content)}.parquet", content


def _items(work: Workspace[Any]) -> tuple[list[str], list[str | None]]:
    """Ids and paths of all items, in the order given; those of an enumeration have no files until they are drawn."""
    pool, rows = open_source(work.folder), given_order(work.folder).tolist()
    return pool.ids(rows), pool.uris(rows) if isinstance(pool, ListedPool) else [None] * len(rows)


def all_kept(folder: Folder) -> set[str]:
    """Names of all files and folders that were given in memory: items and predictions."""
    return {path.name for path in folder.given.iterdir()} if folder.given.is_dir() else set()


def remove_kept(folder: Folder, names: Iterable[str]) -> None:
    """Remove files and folders that were given in memory, with their checksums."""
    for root in (folder.given / name for name in names):
        for path in [root, *root.rglob("*")]:
            if path.is_file():
                remove_file(path)
        shutil.rmtree(root, ignore_errors=True)
    with suppress(OSError):  # others are there, or nothing ever was
        folder.given.rmdir()


def remove_unused(folder: Folder, name: str, models: Iterable[ModelSettings]) -> None:
    """Remove predictions of a model that were given in memory, if none of `models` is read from them."""
    kept = re.compile(rf"{re.escape(name)}\.[0-9a-f]{{16}}(\.parquet)?")
    used = {Path(model.target).name for model in models}
    remove_kept(folder, {found for found in all_kept(folder) if kept.fullmatch(found)} - used)


def refuse_other(folder: Folder, name: str, kept: Path, again: bool) -> None:
    """Reject other predictions for a model that the study already has predictions of.

    Raises:
        PredictionError: the model already has predictions, and they were not given as `kept`.
    """
    if folder.predictions(name).exists() and not kept.exists() and not again:
        raise PredictionError(
            f"{name} already has other predictions: replace them (again=['{name}']), or add the changed model under a "
            "new name (dissensus join)"
        )


def _called(function: Callable[[list[str]], Any], shown: Sequence[str], name: str, progress: Progress) -> Any:
    """The predictions of a function for all items, called in batches."""
    parts = []
    for rows in chunks(len(shown), BATCH):
        part = function(list(shown[rows.start : rows.stop]))
        parts.append(part if isinstance(part, tuple) or is_table(part) else np.asarray(part))
        progress(f"predict {name}", rows.stop, len(shown))
    if not parts:
        return np.zeros(0)
    if is_table(parts[0]):
        return pa.concat_tables([table_of(part) for part in parts])
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate([np.asarray(part[place]) for part in parts]) for place in range(len(parts[0])))
    return np.concatenate(parts)


def _table(given: Any, columns: Sequence[str], name: str) -> pa.Table:
    """Columns of predictions: from a frame, a tuple of columns, one column, or a matrix of probabilities by class."""
    if is_table(given):
        return table_of(given)
    if isinstance(given, tuple):
        if not 1 <= len(given) <= len(columns):
            raise PredictionError(f"{name} returns {len(given)} columns: expected {' and '.join(columns)}")
        return pa.table({column: np.asarray(values) for column, values in zip(columns, given, strict=False)})
    values = np.asarray(given)
    if values.ndim == 2 and len(columns) > 1:
        if not np.isfinite(values).all():
            raise PredictionError(f"{name} returns probabilities that are not finite: check the model")
        first, *further = ranked(values).T
        more = {f"{columns[0]}{rank}": pa.array(one, mask=one == MISSING) for rank, one in enumerate(further, start=2)}
        confidence = values.max(axis=1).astype(np.float32)
        return pa.table({columns[0]: first.astype(np.int64), columns[1]: confidence} | more)
    if values.ndim != 1:
        raise PredictionError(
            f"{name} returns an array with {values.ndim} dimensions: expected one prediction per item"
        )
    return pa.table({columns[0]: pa.array(values, from_pandas=True)})  # NaN: no prediction


def _kept_maps(folder: Folder, name: str, given: Any, items: Sequence[str], again: bool) -> Path:
    """Save maps of class numbers as PNG files named after their items; all are checked before any is written."""
    if len(given) != len(items):
        raise PredictionError(f"{name} has {len(given):,} maps for {len(items):,} items: give one per item")
    maps: dict[str, np.ndarray] = {}
    for item, labels in zip(items, given, strict=True):
        pixels = np.asarray(labels)
        if (
            pixels.ndim != 2
            or pixels.dtype.kind not in "ui"
            or pixels.min(initial=0) < 0
            or pixels.max(initial=0) > 255
        ):
            raise PredictionError(f"{name}, {item}: a map must be a matrix of class numbers from 0 to 255")
        if ".." in Path(item).parts or Path(item).is_absolute():
            raise PredictionError(f"{name}: the map of {item} would be outside the study: give the item another id")
        maps[f"{item}.png"] = np.ascontiguousarray(pixels, np.uint8)
    content = fingerprint(*(part for file, map in maps.items() for part in (file, str(map.shape), map.tobytes())))
    root = folder.given / f"{name}.{content}"
    refuse_other(folder, name, root, again)
    for file, pixels in maps.items():
        if not ((root / file).exists() and np.array_equal(_read_png(root / file), pixels)):
            _write_png(root / file, pixels)
    return root


def _read_png(path: Path) -> np.ndarray:
    with open_image(path, ("PNG",)) as image:
        return np.asarray(image)


def _write_png(path: Path, pixels: np.ndarray) -> None:
    write_whole(path, lambda unfinished: Image.fromarray(pixels).save(unfinished, "PNG"))
