"""causes.csv: why models failed, as people tagged it. Rows are only ever added, so every earlier tag is kept."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import ValidationError

from dissensus.errors import StudyError, quoted
from dissensus.records import Cause, Failure, failure_words, latest_causes, tagged_as
from dissensus.separated import dict_reader
from dissensus.store.checksums import remedy_for
from dissensus.store.documents import csv_rows, is_showable
from dissensus.store.exchange.rows import plain_cell, safe_cell
from dissensus.store.files import csv_text, exists, read_text, write_text
from dissensus.store.folder import Folder

COLUMNS = ("item", "model", "cause", "by", "time")
SHEET = ("item", "model", "what", "cause")
"""The columns of the file that people fill in."""
LONGEST = 80
"""Characters of a cause, which is a heading of the report, and of the name of whoever tagged it."""


def read_causes(folder: Folder) -> list[Cause]:
    """All tags in the order in which they were given; none if nobody has tagged anything.

    Raises:
        StudyError: the file is lost or damaged.
    """
    if not exists(folder.causes):
        return []
    try:
        reader = dict_reader(read_text(folder.causes))
        if tuple(reader.fieldnames or ()) == COLUMNS:
            return [Cause(**row) for row in reader]
    except (UnicodeDecodeError, csv.Error, TypeError, ValidationError):  # a ragged row has a key or a value of None
        pass
    raise StudyError(f"{folder.causes} is damaged: {remedy_for(folder.causes)}")


def add_causes(folder: Folder, tags: Sequence[Cause]) -> int:
    """Append the tags that change anything, and return how many do."""
    known = latest_causes(read_causes(folder))
    fresh = [tag for tag in tags if tag.cause != (known[key].cause if (key := (tag.item, tag.model)) in known else "")]
    if fresh:
        before = read_text(folder.causes) if exists(folder.causes) else csv_text([COLUMNS])
        write_text(folder.causes, before + csv_text([[getattr(tag, name) for name in COLUMNS] for tag in fresh]))
    return len(fresh)


def write_sheet(path: Path, failures: Sequence[Failure], known: Mapping[tuple[str, str], Cause]) -> int:
    """Write all failures with their causes so far, for people to fill in, and return how many rows that are.

    Raises:
        StudyError: the file exists, and might hold somebody's work.
    """
    if path.exists():
        raise StudyError(f"{path} already exists: import it first, or choose another name")
    what = {tagged_as(one): failure_words(one) for one in failures}
    rows = [(*key, words, known[key].cause if key in known else "") for key, words in what.items()]
    path.write_text(csv_text([SHEET, *([safe_cell(cell) for cell in row] for row in rows)]), encoding="utf-8")
    return len(rows)


def read_sheet(path: Path, failures: Sequence[Failure], by: str, time: str) -> list[Cause]:
    """The tags of a sheet, which may have a column 'by'; a failure that occurs twice must have one cause.

    Raises:
        StudyError: the file cannot be read, or a row is not about a failure of this study.
    """
    known, found = {_bare(tagged_as(one)): tagged_as(one) for one in failures}, dict[tuple[str, str], Cause]()
    for number, row in csv_rows(path, ("item", "model", "cause"), StudyError):
        key, where = _bare((plain_cell(row["item"]), plain_cell(row["model"]))), f"{path}, line {number}"
        cause, tagger = (" ".join(plain_cell(text).split()) for text in (row["cause"], row.get("by") or by))
        if key not in known:
            raise StudyError(
                f"{where}: {quoted(key[1])} has no failure on {quoted(key[0])} in this study: take items and models "
                "from dissensus causes export"
            )
        if len(cause) > LONGEST:
            raise StudyError(f"{where}: the cause has {len(cause)} characters, at most {LONGEST} fit: shorten it")
        if not is_showable(cause + tagger):
            raise StudyError(f"{where}: it has a character that cannot be shown: use printable text")
        if len(tagger) > LONGEST:
            raise StudyError(f"{where}: the name of who tagged it has {len(tagger)} characters, at most {LONGEST} fit")
        if key in found and found[key].cause != cause:
            raise StudyError(f"{where}: {quoted(key[1])} on {quoted(key[0])} has two causes in this file: keep one")
        item, model = known[key]
        found[key] = Cause(item=item, model=model, cause=cause, by=tagger, time=time)
    return list(found.values())


def _bare(key: tuple[str, str]) -> tuple[str, str]:
    """Item and model without spaces around them, which spreadsheets drop."""
    return key[0].strip(), key[1].strip()
