"""Answers from and to files of other tools: one file here for each format.

A further format is a file with a reader and a writer, a line in `FORMATS`, and a row in docs/exchange.md.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from dissensus.errors import JudgementError
from dissensus.records import Classes, Response
from dissensus.store.exchange.answers import Items, Reading, Writing
from dissensus.store.exchange.coco import read_coco, write_coco
from dissensus.store.exchange.files import document, holds, is_archive
from dissensus.store.exchange.label_studio import labeling_config, read_tasks, write_tasks
from dissensus.store.exchange.labelme import read_labelme, write_labelme
from dissensus.store.exchange.map_files import read_maps, write_maps
from dissensus.store.exchange.rows import ENDINGS, read_rows, safe_cell, write_rows
from dissensus.store.tables import first_line

__all__ = ["ENDINGS", "FORMATS", "labeling_config", "read_responses", "safe_cell", "write_responses"]


class Format(NamedTuple):
    """How answers are read from and written to the files of one tool."""

    read: Callable[[Reading], Iterator[Response]]
    write: Callable[[Writing, Iterable[Response]], int]


FORMATS = {
    "rows": Format(read_rows, write_rows),
    "label-studio": Format(read_tasks, write_tasks),
    "labelme": Format(read_labelme, write_labelme),
    "coco": Format(read_coco, write_coco),
    "png": Format(read_maps, write_maps),
}
MARKS = {"label-studio": ("data",), "labelme": ("shapes", "imagePath"), "coco": ("images", "categories")}
"""Keys that a JSON document of each tool has at its top."""


def read_responses(
    path: Path,
    classes: Classes,
    is_item: Callable[[str], bool],
    format: str | None = None,
    annotator: str | None = None,
    task: str | None = None,
    items: Items | None = None,
) -> Iterator[Response]:
    """The responses of a file (or of a folder of LabelMe's or PNG files), one by one, each checked.

    `format` is one of FORMATS; without it the ending says which, and for .json, .zip and folders what they hold.
    `annotator` is who answered where the file does not say. `task` is the study's: shapes are masks where it is
    `masks`. `items` gives all items, which PNG files are named like.

    Raises:
        JudgementError: names the row or task and what is wrong with it.
    """
    if not path.exists():
        raise JudgementError(f"there is no file {path}")
    try:
        chosen = FORMATS[_named(path, format) or _found(path)]
        yield from chosen.read(Reading(path, classes, is_item, annotator, task, items))
    except (OSError, pa.ArrowException, UnicodeError, csv.Error, MemoryError) as error:
        raise JudgementError(f"{path} cannot be read: {first_line(error)}") from None


def write_responses(
    path: Path,
    responses: Iterable[Response],
    classes: Classes,
    format: str | None = None,
    uri_of: Callable[[str], str | None] | None = None,
    items: Items | None = None,
    tell: Callable[[str], None] | None = None,
) -> int:
    """Write responses and return how many.

    `format` is one of FORMATS; without it the ending says which. `uri_of` says where other tools find an item's image.
    `items` gives all items, from which the names of PNG files should tell them apart; `tell` is told, in one line, what
    a format leaves out.
    """
    name = _named(path, format)
    if name is None and path.suffix.lower() in (*ENDINGS, ".tsv"):
        name = "rows"
    elif name is None and (is_archive(path) or path.is_dir()):
        name = "labelme"
    if name is None:
        raise JudgementError(
            f"{path}: answers are written as {', '.join(ENDINGS)}; name the file so, or say --format "
            f"{' or '.join(other for other in FORMATS if other != 'rows')}"
        )
    writing = Writing(path, classes, uri_of or (lambda _: None), items, tell or (lambda _: None))
    return FORMATS[name].write(writing, responses)


def _named(path: Path, name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise JudgementError(f"{path}: there is no format '{name}'; there are {', '.join(FORMATS)}")
    return name


def _found(path: Path) -> str:
    """The format of what is there; a folder of pictures and LabelMe's files is LabelMe's."""
    if path.is_dir() or is_archive(path):
        if holds(path, ".json"):
            return "labelme"
        if holds(path, ".png"):
            return "png"
        if path.is_dir() and any(path.iterdir()):  # an empty one is what an export without answers leaves
            raise JudgementError(f"{path} holds neither LabelMe's .json files nor .png masks: check the path")
        return "labelme"
    ending = path.suffix.lower()
    if ending == ".json":
        return _found_within(path)
    if ending in (*ENDINGS, ".tsv", ".png"):
        return "png" if ending == ".png" else "rows"
    raise JudgementError(f"{path}: answers are kept as {', '.join(ENDINGS)}; name the file so, or say its --format")


def _found_within(path: Path) -> str:
    with open(path, "rb") as file:
        if file.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):  # a long one is not read twice
            return "label-studio"
    content = document(path)
    for name, keys in MARKS.items():
        if isinstance(content, dict) and any(key in content for key in keys):
            return name
    raise JudgementError(f"{path} is none of Label Studio's, LabelMe's or COCO's files")
