"""Answers from and to files of other tools: one file here for each format.

A further format is a file with a reader and a writer, a line in `FORMATS`, and a row in docs/exchange.md.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.store.exchange.archives import holds, is_archive
from dissensus.store.exchange.bodies import Check, check_of
from dissensus.store.exchange.coco import read_coco, write_coco
from dissensus.store.exchange.documents import document
from dissensus.store.exchange.label_studio import UriOf, read_tasks, write_tasks
from dissensus.store.exchange.label_studio_views import labeling_config
from dissensus.store.exchange.labelme import read_labelme, write_labelme
from dissensus.store.exchange.map_pngs import Tell, read_maps, write_maps
from dissensus.store.exchange.reading import Reading, time_of
from dissensus.store.exchange.rows import ENDINGS, read_rows, safe_cell, write_rows
from dissensus.store.tables import first_line

__all__ = [
    "ENDINGS",
    "FORMATS",
    "labeling_config",
    "read_responses",
    "safe_cell",
    "write_responses",
]


Items = Callable[[], Iterable[str]]
"""All items of a pool; called only where a format needs them."""


@dataclass(frozen=True)
class Writing:
    """One file that is being written, and what its writer may need to know."""

    path: Path
    classes: Classes
    uri_of: UriOf
    items: Items | None
    tell: Tell


@dataclass(frozen=True)
class Format:
    """How answers are read from and written to the files of one tool."""

    read: Callable[[Reading], Iterator[Response]]
    write: Callable[[Writing, Iterable[Response]], int]


FORMATS: dict[str, Format] = {
    "rows": Format(read_rows, lambda to, responses: write_rows(to.path, responses, to.classes)),
    "label-studio": Format(
        lambda reading: read_tasks(reading, document(reading.path)),
        lambda to, responses: write_tasks(to.path, responses, to.classes, to.uri_of),
    ),
    "labelme": Format(read_labelme, lambda to, responses: write_labelme(to.path, responses, to.classes, to.uri_of)),
    "coco": Format(
        lambda reading: read_coco(reading, document(reading.path)),
        lambda to, responses: write_coco(to.path, responses, to.classes, to.uri_of),
    ),
    "png": Format(read_maps, lambda to, responses: write_maps(to.path, responses, to.items and to.items(), to.tell)),
}


def read_responses(
    path: Path,
    classes: Classes,
    is_item: Callable[[str], bool],
    format: str | None = None,
    annotator: str | None = None,
    check: Check | None = None,
    task: str | None = None,
    items: Items | None = None,
) -> Iterator[Response]:
    """The responses of a file (or of a folder of LabelMe's or PNG files), one by one, each checked.

    `format` is one of FORMATS; without it the ending says which, and for .json, .zip and folders what they hold.
    `annotator` is who answered where the file does not say. `check` takes kind, body and answer and returns the answer
    as it is stored. `task` is the study's: shapes are masks where it is `masks`. `items` gives all items, which PNG
    files are named like.

    Raises:
        JudgementError: names the row or task and what is wrong with it.
    """
    if not path.exists():
        raise JudgementError(f"there is no file {path}")
    try:
        chosen = FORMATS[_named(path, format) or _by_members(path) or _by_ending(path) or _by_content(path)]
        checked = check or check_of(classes)
        reading = Reading(path, classes, is_item, checked, annotator, time_of(path), task=task, items=items)
        yield from chosen.read(reading)
    except (OSError, pa.ArrowException, UnicodeError, csv.Error, MemoryError) as error:
        raise JudgementError(f"{path} cannot be read: {first_line(error)}") from None


def write_responses(
    path: Path,
    responses: Iterable[Response],
    classes: Classes,
    format: str | None = None,
    uri_of: UriOf | None = None,
    items: Items | None = None,
    tell: Tell | None = None,
) -> int:
    """Write responses and return how many.

    `format` is one of FORMATS; without it the ending says which. `uri_of` says where other tools find an item's image.
    `items` gives all items, from which the names of PNG files should tell them apart; `tell` is told, in one line, what
    a format leaves out.
    """
    name = _named(path, format) or _by_ending(path)
    if name is None:
        raise JudgementError(
            f"{path}: answers are written as {', '.join(ENDINGS)}; name the file so, or say --format "
            f"{' or '.join(other for other in FORMATS if other != 'rows')}"
        )
    return FORMATS[name].write(Writing(path, classes, uri_of or _nowhere, items, tell or _unheard), responses)


def _named(path: Path, name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise JudgementError(f"{path}: there is no format '{name}'; there are {', '.join(FORMATS)}")
    return name


def _by_ending(path: Path) -> str | None:
    if path.suffix.lower() in (*ENDINGS, ".tsv"):
        return "rows"
    return "labelme" if path.suffix.lower() == ".zip" or path.is_dir() else None


def _by_members(path: Path) -> str | None:
    """A folder of pictures and LabelMe's files is LabelMe's."""
    if path.suffix.lower() == ".png" and path.is_file():
        return "png"
    if not path.is_dir() and not is_archive(path):
        return None
    if holds(path, ".json"):
        return "labelme"
    if holds(path, ".png"):
        return "png"
    if path.is_dir() and any(path.iterdir()):  # an empty one is what an export without answers leaves
        raise JudgementError(f"{path} holds neither LabelMe's .json files nor .png masks: check the path")
    return "labelme"


def _by_content(path: Path) -> str:
    if path.suffix.lower() == ".json":
        with open(path, "rb") as file:
            begins_a_list = file.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"[")
        if begins_a_list:  # a long one is not read twice
            return "label-studio"
        content = document(path)
        for name, keys in _MARKS.items():
            if isinstance(content, dict) and any(key in content for key in keys):
                return name
        raise JudgementError(f"{path} is none of Label Studio's, LabelMe's or COCO's files")
    raise JudgementError(f"{path}: answers are kept as {', '.join(ENDINGS)}; name the file so, or say its --format")


_MARKS: dict[str, tuple[str, ...]] = {
    "label-studio": ("data",),
    "labelme": ("shapes", "imagePath"),
    "coco": ("images", "categories"),
}


def _nowhere(item: str) -> Any:  # noqa: ARG001
    return None


def _unheard(line: str) -> None:
    pass
