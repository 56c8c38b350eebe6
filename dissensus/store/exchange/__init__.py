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
from dissensus.store.exchange.bodies import Check, check_of
from dissensus.store.exchange.coco import read_coco, write_coco
from dissensus.store.exchange.documents import document
from dissensus.store.exchange.label_studio import UriOf, read_tasks, write_tasks
from dissensus.store.exchange.label_studio_views import labeling_config
from dissensus.store.exchange.labelme import read_labelme, write_labelme
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


@dataclass(frozen=True)
class Format:
    """How answers are read from and written to the files of one tool."""

    read: Callable[[Reading], Iterator[Response]]
    write: Callable[[Path, Iterable[Response], Classes, UriOf], int]


FORMATS: dict[str, Format] = {
    "rows": Format(read_rows, lambda path, responses, classes, uri_of: write_rows(path, responses, classes)),  # noqa: ARG005
    "label-studio": Format(lambda reading: read_tasks(reading, document(reading.path)), write_tasks),
    "labelme": Format(read_labelme, write_labelme),
    "coco": Format(lambda reading: read_coco(reading, document(reading.path)), write_coco),
}


def read_responses(
    path: Path,
    classes: Classes,
    is_item: Callable[[str], bool],
    format: str | None = None,
    annotator: str | None = None,
    check: Check | None = None,
) -> Iterator[Response]:
    """The responses of a file (or of a folder of LabelMe's files), one by one, each checked.

    `format` is one of FORMATS; without it the ending says which, and for .json what the file holds. `annotator` is who
    answered where the file does not say. `check` takes kind, body and answer and returns the answer as it is stored.

    Raises:
        JudgementError: names the row or task and what is wrong with it.
    """
    if not path.exists():
        raise JudgementError(f"there is no file {path}")
    try:
        chosen = FORMATS[_named(path, format) or _by_ending(path) or _by_content(path)]
        reading = Reading(path, classes, is_item, check or check_of(classes), annotator, time_of(path))
        yield from chosen.read(reading)
    except (OSError, pa.ArrowException, UnicodeError, csv.Error, MemoryError) as error:
        raise JudgementError(f"{path} cannot be read: {first_line(error)}") from None


def write_responses(
    path: Path,
    responses: Iterable[Response],
    classes: Classes,
    format: str | None = None,
    uri_of: UriOf | None = None,
) -> int:
    """Write responses and return how many.

    `format` is one of FORMATS; without it the ending says which. `uri_of` says where other tools find an item's image.
    """
    name = _named(path, format) or _by_ending(path)
    if name is None:
        raise JudgementError(
            f"{path}: answers are written as {', '.join(ENDINGS)}; name the file so, or say --format "
            f"{' or '.join(other for other in FORMATS if other != 'rows')}"
        )
    return FORMATS[name].write(path, responses, classes, uri_of or _nowhere)


def _named(path: Path, name: str | None) -> str | None:
    if name is not None and name not in FORMATS:
        raise JudgementError(f"{path}: there is no format '{name}'; there are {', '.join(FORMATS)}")
    return name


def _by_ending(path: Path) -> str | None:
    if path.suffix.lower() in (*ENDINGS, ".tsv"):
        return "rows"
    return "labelme" if path.suffix.lower() == ".zip" or path.is_dir() else None


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
