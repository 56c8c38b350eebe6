"""The labelling guide: how to recognise a class, as CSV with the columns class and text, or Markdown."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from dissensus.errors import ClassesError, StudyError, quoted, refuse_pipe, some
from dissensus.records import Classes
from dissensus.separated import dict_reader

HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*$")


def read_guide(path: Path, classes: Classes) -> dict[int, str]:
    """The text about every class that the guide knows, as plain text.

    In Markdown, every heading names a class, or several with ' / ' between them, and what follows is about them; text
    before the first heading is left out.

    Raises:
        StudyError: the file cannot be read, is empty, or names an unknown class or one twice.
    """
    refuse_pipe(path, StudyError)
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"cannot read {path}: {error}; give a CSV or Markdown file in UTF-8") from None
    entries = _of_table(path, text) if path.suffix.lower() == ".csv" else _of_headings(text)
    found: dict[int, str] = {}
    for name, words in entries:
        try:
            label = classes.index_of(name)
        except ClassesError as error:
            raise StudyError(f"{path}: {error}; every entry is about a class of the study") from None
        if label in found:
            raise StudyError(f"{path} has two entries about '{classes.names[label]}': keep one of them")
        if words:
            found[label] = words
    if not found:
        raise StudyError(f"{path} says nothing about any class: give CSV with class and text, or Markdown headings")
    return found


def _of_table(path: Path, text: str) -> list[tuple[str, str]]:
    reader = dict_reader(text)
    try:
        names = list(reader.fieldnames or ())
        rows = list(reader)
    except csv.Error as error:
        raise StudyError(f"cannot read {path}: {error}; write the file again") from None
    if {"class", "text"} - {*names}:
        has = some([quoted(name) for name in names]) or "none"
        raise StudyError(f"{path} needs the columns class and text; it has {has}")
    return [((row["class"] or "").strip(), (row["text"] or "").strip()) for row in rows]


def _of_headings(text: str) -> list[tuple[str, str]]:
    found: list[tuple[list[str], list[str]]] = []
    for line in text.splitlines():
        heading = HEADING.match(line)
        if heading is not None:
            found.append(([name.strip() for name in heading[1].split(" / ")], []))
        elif found:
            found[-1][1].append(line.rstrip())
    return [(name, "\n".join(lines).strip()) for names, lines in found for name in names]
