"""Example pictures of classes, from a folder with a subfolder for each class, or a picture with its name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from dissensus.contents import size_of
from dissensus.errors import ClassesError, PoolError, StudyError, refuse_pipe, some
from dissensus.images import excess, open_image
from dissensus.records import Classes
from dissensus.records.replica import Problem
from dissensus.steps.pooled_images import DISTANT
from dissensus.store.files import fingerprint_of
from dissensus.store.sources import images_by_folder


@dataclass(frozen=True)
class Example:
    """A picture that shows what a class looks like."""

    label: int
    path: str
    fingerprint: str


def read_examples(folder: Path, classes: Classes) -> tuple[list[Example], list[Problem]]:
    """The examples in a folder, class by class in alphabetical order, and the files that cannot be used.

    Raises:
        StudyError: there is no such folder, no picture in it, or a name in it is not that of a class.
    """
    refuse_pipe(folder, StudyError)
    if not folder.is_dir():
        raise StudyError(f"{folder} is not a folder: give examples as a folder with a subfolder per class")
    found: list[Example] = []
    problems: list[Problem] = []
    for named, files in images_by_folder(folder, StudyError, may_be_loose=True).items():
        label = class_named(named, classes)
        for path in map(os.path.realpath, files):
            if _is_picture(path):
                found.append(Example(label, path, fingerprint_of(path)))
            else:
                problems.append(Problem(item=path, reason="it cannot be read, or is not a picture"))
    if not found:
        raise StudyError(f"{folder} has no pictures: give examples as a folder with a subfolder per class")
    return found, problems


def class_named(path: Path, classes: Classes) -> int:
    """The class that a folder or a file is named after; '_' may stand for a space.

    Raises:
        StudyError: there is no such class.
    """
    try:
        return classes.index_of(path.name)
    except ClassesError as error:
        try:
            return classes.index_of(path.name.replace("_", " "))
        except ClassesError:
            names = some(classes.names)
            raise StudyError(f"{path}: {error}; give each subfolder the name of a class ({names})") from None


def shown_examples(examples: Sequence[Example], asked: Iterable[str]) -> Mapping[int, tuple[str, ...]]:
    """Paths of the examples of each class, without those that are copies of the pictures that people are asked about.

    Files of other sizes cannot be copies, so that few of the pictures have to be read.
    """
    sizes = {size_of(one.path) for one in examples}

    def print_of(uri: str) -> str:
        with suppress(PoolError):  # a server that cannot be reached; the page says so where it shows the picture
            return fingerprint_of(uri) if size_of(uri) in sizes else ""
        return ""

    with ThreadPoolExecutor(DISTANT) as threads:
        prints = {*threads.map(print_of, asked)}
    found: dict[int, list[str]] = {}
    for one in examples:
        if one.fingerprint not in prints:
            found.setdefault(one.label, []).append(one.path)
    return {label: tuple(paths) for label, paths in found.items()}


def _is_picture(path: str) -> bool:
    """Whether a file starts like a picture; decoding thousands of them would take minutes."""
    try:
        with open_image(path) as image:
            return not excess(*image.size)
    except Exception:  # damaged files make Pillow raise almost anything
        return False
