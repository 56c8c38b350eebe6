"""CSV and JSON files that users give: read whole, and checked as far as their form goes."""

from __future__ import annotations

import csv
import gzip
import json
import unicodedata
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dissensus.errors import DissensusError, first_line, quoted, refuse_pipe, some
from dissensus.separated import dict_reader

LARGEST = 1 << 30
"""Bytes of an unpacked JSON file."""
UNSHOWN = ("Cc", "Cs", "Zl", "Zp")
"""Unicode's categories of control characters, halves of characters, and line breaks."""


def is_showable(text: str) -> bool:
    """Whether a text can stand in one line of a page, a figure and a terminal.

    Unlike `str.isprintable`, it takes the marks that join emoji and those that set a direction.
    """
    return not any(unicodedata.category(sign) in UNSHOWN for sign in text)


def csv_rows(path: Path, needed: Sequence[str], kind: type[DissensusError]) -> list[tuple[int, dict[str, str]]]:
    """The rows of a CSV file, each with the number of its line; cells have no spaces around them.

    Raises:
        DissensusError, of this kind: it cannot be read, lacks a column or has one twice, or a row does not fit.
    """
    refuse_pipe(path, kind)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = dict_reader(file.read())
        names = list(reader.fieldnames or ())
        rows = [(reader.line_num, row) for row in reader]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise kind(f"cannot read {path}: {first_line(error)}; give a CSV file in UTF-8") from None
    if {*needed} - {*names}:
        has = some([quoted(name) for name in names]) or "none"
        raise kind(f"{path} needs the column{'s' * (len(needed) > 1)} {' and '.join(needed)}; it has {has}")
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise kind(f"{path} has several columns called {some(twice)}: keep one of them")
    for number, row in rows:
        if None in row or None in row.values():
            more = "more" if None in row else "fewer"
            raise kind(f"{path}, line {number}: it has {more} values than there are columns")
        if any("\0" in value for value in row.values()):
            raise kind(f"{path}, line {number}: it has a NUL character: write the file again as text")
    return [(number, {name: value.strip() for name, value in row.items()}) for number, row in rows]


def json_document(path: Path, kind: type[DissensusError]) -> Any:
    """What a JSON file holds, compressed (.gz) or not.

    Raises:
        DissensusError, of this kind: it cannot be read, or is too large.
    """
    refuse_pipe(path, kind)
    try:
        with gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb") as file:
            content = file.read(LARGEST + 1)
        if len(content) > LARGEST:
            raise kind(f"{path} is larger than {LARGEST >> 30} GiB: split it")
        found = json.loads(content)
        if b"\\ud" in content.lower():  # an escape that may be half a character, which no file can hold
            json.dumps(found, ensure_ascii=False).encode()
        return found
    except FileNotFoundError:
        raise kind(f"{path}: no such file: check the path") from None
    except (OSError, EOFError, zlib.error, ValueError, RecursionError) as error:
        raise kind(f"cannot read {path} as JSON: {first_line(error)}; give a .json or .json.gz file") from None
