"""Where images of known classes come from: a folder with a subfolder per class, or a table."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from dissensus.errors import ClassesError, StudyError, quoted, refuse_pipe, some
from dissensus.records import Classes
from dissensus.steps.examples import class_named
from dissensus.store.documents import csv_rows
from dissensus.store.sources import images_by_folder

NAMED = ("item", "path", "label", "keyword", "date")
"""Columns of a table that mean something here; all others are kept as they are."""


@dataclass(frozen=True)
class Source:
    """One image as it was given."""

    item: str
    path: str
    label: int
    keyword: str = ""
    date: str = ""
    more: Mapping[str, str] = field(default_factory=dict)


def read_sources(path: Path, side: str, classes: Classes, pooled: Mapping[str, str | None]) -> list[Source]:
    """The images of a folder or a table; `side` says what they are, `pooled` has the paths of the study's items.

    The ids of images in a folder start with the side, since both sides may have files of the same name; a table may
    give its own ids in the column item.

    Raises:
        StudyError: there are no images, a class is unknown, an id comes twice, or a column is missing.
    """
    refuse_pipe(path, StudyError)
    if path.is_dir():
        found = _in_folder(path, side, classes)
    elif path.is_file():
        found = _in_table(path, side, classes, pooled)
    else:
        raise StudyError(f"{path} does not exist: give a folder with a subfolder per class, or a CSV file")
    if not found:
        raise StudyError(f"{path} has no images: give a folder with a subfolder per class, or a CSV file")
    _refuse_twice(path, [one.item for one in found])
    return found


def _in_folder(folder: Path, side: str, classes: Classes) -> list[Source]:
    found: list[Source] = []
    for inside, files in images_by_folder(folder, StudyError).items():
        label = class_named(inside, classes)
        found += [Source(f"{side}/{one.relative_to(folder).as_posix()}", os.path.realpath(one), label) for one in files]
    return found


def _in_table(path: Path, side: str, classes: Classes, pooled: Mapping[str, str | None]) -> list[Source]:
    found = []
    for number, cells in csv_rows(path, (), StudyError):
        where = f"{path}, line {number}"
        if "label" not in cells or not {"item", "path"} & {*cells}:
            has = some([quoted(name) for name in cells]) or "none"
            raise StudyError(f"{path} needs the columns label, and item or path; it has {has}")
        item, place = cells.get("item", ""), cells.get("path", "")
        if not place and not pooled.get(item):
            raise StudyError(f"{where}: '{item}' has no path, and is not an image of the study's pool: give its path")
        target = os.path.realpath(path.parent / place) if place else str(pooled[item])
        label = _label(cells["label"], classes, where)
        more = {name: value for name, value in cells.items() if name not in NAMED}
        name = item or f"{side}/{place}"
        found.append(Source(name, target, label, cells.get("keyword", ""), cells.get("date", ""), more))
    return found


def _label(name: str, classes: Classes, where: str) -> int:
    try:
        return classes.index_of(name)
    except ClassesError as error:
        raise StudyError(f"{where}: {error}") from None


def _refuse_twice(path: Path, items: Sequence[str]) -> None:
    twice = sorted(item for item, count in Counter(items).items() if count > 1)
    if twice:
        raise StudyError(f"{path} lists {some(twice)} more than once: give every image its own id")
