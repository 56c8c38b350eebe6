"""Import and export of answers: one module per file format.

To add a format, write a module with a reader and a writer, a line in `FORMATS`, and a row in docs/exchange.md.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from dissensus.errors import JudgementError, first_line, refuse_pipe
from dissensus.records import Classes, Response
from dissensus.store.exchange.answers import Items, Reading, Writing
from dissensus.store.exchange.coco import read_coco, write_coco
from dissensus.store.exchange.files import document, holds, is_archive
from dissensus.store.exchange.label_studio import labeling_config, read_tasks, write_tasks
from dissensus.store.exchange.labelme import read_labelme, write_labelme
from dissensus.store.exchange.map_files import read_maps, write_maps
from dissensus.store.exchange.rows import ENDINGS, read_rows, safe_cell, write_rows

__all__ = ["ENDINGS", "FORMATS", "labeling_config", "read_responses", "safe_cell", "write_responses"]


class Format(NamedTuple):
    """Reader and writer for the files of one tool."""

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
"""Top-level keys of each tool's JSON documents."""


def read_responses(
    path: Path,
    classes: Classes,
    is_item: Callable[[str], bool],
    format: str | None = None,
    annotator: str | None = None,
    task: str | None = None,
    items: Items | None = None,
) -> Iterator[Response]:
    """Read the responses of a file (or of a folder of LabelMe or PNG files), checking each one.

    `format` is one of FORMATS; it defaults to what the extension (or for .json, .zip and folders, the content)
    suggests. `annotator` is who answered, if the file does not say. `task` is the study's task: shapes are read as
    masks if it is `masks`. `items` returns all items, to match PNG files to them by name.

    Raises:
        JudgementError: a row or task is invalid; the message says which and why.
    """
    if not path.exists():
        raise JudgementError(f"no such file: {path}")
    refuse_pipe(path, JudgementError)
    try:
        chosen = FORMATS[_named(path, format) or _found(path)]
        yield from chosen.read(Reading(path, classes, is_item, annotator, task, items))
    except (OSError, pa.ArrowException, UnicodeError, csv.Error, MemoryError) as error:
        raise JudgementError(f"cannot read {path}: {first_line(error)}") from None


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

    `format` is one of FORMATS; it defaults to what the extension suggests. `uri_of` returns where other tools find an
    item's image. `items` returns all items, so that PNG files get unambiguous names; `tell` receives one line about
    what the format leaves out.
    """
    name = _named(path, format)
    if name is None and path.suffix.lower() in (*ENDINGS, ".tsv"):
        name = "rows"
    elif name is None and (is_archive(path) or path.is_dir()):
        name = "labelme"
    if name is None:
        raise JudgementError(
            f"{path}: unknown file extension: use {', '.join(ENDINGS)}, or give --format "
            f"{' or '.join(other for other in FORMATS if other != 'rows')}"
        )
    writing = Writing(path, classes, uri_of or (lambda _: None), items, tell or (lambda _: None))
    return FORMATS[name].write(writing, responses)


def _named(path: Path, name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise JudgementError(f"{path}: no such format '{name}'; choose one of {', '.join(FORMATS)}")
    return name


def _found(path: Path) -> str:
    """Guess the format from the content; a folder with both images and LabelMe files counts as LabelMe."""
    if path.is_dir() or is_archive(path):
        if holds(path, ".json"):
            return "labelme"
        if holds(path, ".png"):
            return "png"
        raise JudgementError(f"{path} contains neither LabelMe .json files nor .png masks: check the path")
    ending = path.suffix.lower()
    if ending == ".json":
        return _found_within(path)
    if ending in (*ENDINGS, ".tsv", ".png"):
        return "png" if ending == ".png" else "rows"
    raise JudgementError(f"{path}: unknown file extension: use {', '.join(ENDINGS)}, or give --format")


def _found_within(path: Path) -> str:
    with open(path, "rb") as file:
        if file.read(1 << 12).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):  # so that a long file is not read twice
            return "label-studio"
    content = document(path)
    for name, keys in MARKS.items():
        if isinstance(content, dict) and any(key in content for key in keys):
            return name
    raise JudgementError(f"{path} is not a Label Studio, LabelMe or COCO file: check the path, or give --format")
