"""Tables as text files: CSV with commas, and what spreadsheets write where the comma is the decimal mark.

Everything that reads such a file reads it here, so that a file with semicolons or tabs works everywhere or nowhere.
"""

from __future__ import annotations

import csv
import gzip
import io
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

SEPARATORS = ",;\t"
LONGEST_HEADER = 1 << 20
"""Characters of the first line in which the separator is looked for."""


def separator(header: str, known: Collection[str] = ()) -> str:
    """What separates the columns: the mark that gives most known names, then most columns, then a comma."""
    outside = re.sub(r'"[^"]*"', "", header)

    def columns(mark: str) -> tuple[int, int]:
        names = {word.strip().strip('"') for word in header.strip().split(mark)}
        return len(names & {*known}), outside.count(mark)

    return max(SEPARATORS, key=columns)


def header_of(text: str) -> str:
    """The first line that is not empty."""
    return next((line for line in io.StringIO(text[:LONGEST_HEADER]) if line.strip()), "")


def dict_reader(text: str) -> csv.DictReader[str]:
    """The rows of a table by column name; a quote that is not closed is an error, since it swallows the rows below."""
    return csv.DictReader(io.StringIO(text, newline=""), delimiter=separator(header_of(text)), strict=True)


def as_number(text: str | None) -> float:
    """A number with a decimal point or, as in files with semicolons, a decimal comma.

    Raises:
        ValueError: it is not a number, or a row ends before it.
    """
    if text is None:
        raise ValueError("no value")
    return float(text.replace(",", ".") if text.count(",") == 1 and "." not in text else text)


def arrow_table(
    path: Path, content: bytes | None, text: Collection[str], numbers: Collection[str] = (), **options: Any
) -> Any:
    """The table in a file (.gz or not), or in its `content`, as an Arrow table, which also holds millions of rows.

    The columns in `text` stay text (007 is not 7); those in `numbers` may have decimal commas. Cells must not contain
    line breaks, which would be slower, unless there is `content`.

    Raises:
        pyarrow.ArrowException, OSError: it cannot be read.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    mark = separator(header_of(_beginning(path, content)))
    types: Mapping[str, Any] = dict.fromkeys(text, pa.string())
    found = pyarrow.csv.read_csv(
        path if content is None else io.BytesIO(content),
        parse_options=pyarrow.csv.ParseOptions(delimiter=mark, newlines_in_values=content is not None),
        convert_options=pyarrow.csv.ConvertOptions(column_types=types, **options),
    )
    for place, name in enumerate(found.column_names):
        if mark != "," and name in numbers and pa.types.is_string(found.column(place).type):
            with suppress(pa.ArrowInvalid):  # the caller says what else is there instead of numbers
                values = pc.replace_substring(found.column(place), ",", ".").cast(pa.float64())
                found = found.set_column(place, name, values)
    return found


def _beginning(path: Path, content: bytes | None) -> str:
    """The first line, as far as it takes to see what separates its columns."""
    if content is None:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.readline(LONGEST_HEADER)
    return content[:LONGEST_HEADER].decode("utf-8-sig", "replace")
