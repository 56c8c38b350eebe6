"""Where items come from: image folders, globs, and manifests of ids and paths."""

from __future__ import annotations

from collections.abc import Sequence
from glob import glob
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dissensus.errors import DissensusError, PoolError, first_line, refuse_pipe, some
from dissensus.pool import VIDEOS, is_video
from dissensus.separated import arrow_table

IMAGES = frozenset([".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm", ".jp2", ".avif"])
MANIFESTS = {".csv", ".parquet"}
COLUMNS = ("item", "path", "reference")
Manifest = tuple[list[str], list[str | None], list[str | None]]
"""Ids, paths and references; the last list is empty if the source cannot give any."""


def items_of(sources: list[str]) -> tuple[list[str], list[str | None]]:
    """Ids and paths of the items of all sources, in the order found; a path is None if the manifest gives none.

    If there are no images, video clips are used. An item's id is its path relative to the given folder (or to the fixed
    part of the glob).

    Raises:
        PoolError: a source does not exist or cannot be read.
    """
    ids, paths, _ = items_with_references(sources)
    return ids, paths


def items_with_references(sources: list[str]) -> Manifest:
    """Like `items_of`, plus the path of each item's reference, if the manifest gives one."""
    ids: list[str] = []
    paths: list[str | None] = []
    references: list[str | None] = []
    for source in sources:
        found_ids, found_paths, found_references = _items(source)
        ids += found_ids
        paths += found_paths
        references += found_references or [None] * len(found_ids)
    return ids, paths, references


def images_by_folder(folder: Path, kind: type[DissensusError], may_be_loose: bool = False) -> dict[Path, list[Path]]:
    """The image files in each subfolder that has some, all in alphabetical order.

    With `may_be_loose`, an image outside the subfolders stands for one with its name.

    Raises:
        DissensusError, of this kind: there are images outside the subfolders, or a name is not text.
    """
    found: dict[Path, list[Path]] = {}
    for inside in sorted(one for one in folder.iterdir() if one.is_dir() and not one.name.startswith(".")):
        files = [one for one in sorted(inside.rglob("*")) if one.suffix.lower() in IMAGES and not one.is_dir()]
        _require_utf8(files, kind)
        if files:
            found[inside] = files
    loose = [one for one in sorted(folder.iterdir()) if one.suffix.lower() in IMAGES and not one.is_dir()]
    if loose and not may_be_loose:
        names = some([one.name for one in loose])
        raise kind(f"{folder} has images outside the subfolders ({names}): put each in that of its class")
    _require_utf8(loose, kind)
    for one in loose:
        found.setdefault(one.with_suffix(""), []).append(one)
    return found


def _require_utf8(paths: Sequence[Path], kind: type[DissensusError]) -> None:
    for one in paths:
        try:
            str(one.absolute()).encode()
        except UnicodeEncodeError:
            raise kind(f"the name {one.name!r} is not in UTF-8: rename it in {one.parent}") from None


def _items(source: str) -> Manifest:
    path = Path(source)
    if path.is_dir():
        return _images(path, sorted(path.rglob("*")), source)
    if path.is_file() and path.suffix.lower() in MANIFESTS:
        return _manifest(path)
    if path.is_file() and (path.suffix.lower() in IMAGES or is_video(path)):
        _require_utf8([path], PoolError)
        return [path.name], [str(path.resolve())], []
    if path.is_file():
        raise PoolError(
            f"{source} is not a known kind of file: give an image, a video clip, or a CSV or Parquet manifest"
        )
    if any(sign in source for sign in "*?["):
        fixed = Path(*_fixed_parts(path))
        return _images(fixed, sorted(Path(found) for found in glob(source, recursive=True)), source)
    refuse_pipe(path, PoolError)
    raise PoolError(
        f"no such file or folder: {source}; give an image folder, a quoted glob, or a CSV or Parquet manifest"
    )


def _fixed_parts(path: Path) -> list[str]:
    parts: list[str] = []
    for part in path.parts:
        if any(sign in part for sign in "*?["):
            break
        parts.append(part)
    return parts


def _images(folder: Path, found: list[Path], source: str) -> Manifest:
    items = [path for path in found if path.suffix.lower() in IMAGES and path.is_file()]
    if not items:  # a stray clip among images is not an item, but a folder of only clips is a pool
        items = [path for path in found if is_video(path) and path.is_file()]
    if not items:
        endings = ", ".join(sorted({*IMAGES, *VIDEOS}))
        raise PoolError(f"{source} contains neither images nor video clips: check the path (looked for {endings})")
    _require_utf8(items, PoolError)
    return [path.relative_to(folder).as_posix() for path in items], [str(path.resolve()) for path in items], []


def _manifest(path: Path) -> Manifest:
    try:
        if path.suffix.lower() == ".csv":
            table = arrow_table(path, path.read_bytes(), COLUMNS, strings_can_be_null=True, null_values=[""])
        else:
            table = pq.read_table(path)
        columns = {name: table[name].cast(pa.string()).to_pylist() for name in table.column_names if name in COLUMNS}
    except (pa.ArrowException, OSError, KeyError, UnicodeDecodeError) as error:  # KeyError: a duplicate column
        raise PoolError(f"cannot read {path}: {first_line(error)}") from None
    if "item" not in columns:
        raise PoolError(f"{path} has no column 'item': a manifest needs item and, for items that are files, path")
    ids = columns["item"]
    if any(name is None for name in ids):
        raise PoolError(f"{path}, row {ids.index(None) + 1}: the column 'item' is empty: give every item an id")
    for column in COLUMNS[1:]:
        damaged = [row for row, name in enumerate(columns.get(column, ()), start=1) if name and "\0" in name]
        if damaged:
            raise PoolError(f"{path}, row {damaged[0]}: the {column} contains a NUL byte: write the file again")
    address = next((name for column in COLUMNS[1:] for name in columns.get(column, ()) if name and "://" in name), None)
    if address is not None:
        raise PoolError(f"{path}: {address} is a web address, not a path: download the files first")
    beside = path.parent.resolve()
    none = [None] * len(ids)
    paths, references = (
        [None if name is None else str(beside / name) for name in columns.get(column, none)] for column in COLUMNS[1:]
    )
    return ids, paths, references
