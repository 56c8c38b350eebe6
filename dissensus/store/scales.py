"""Tables of the usual size of objects of each class: PASCAL VOC's from the package, or a file the user provides."""

from __future__ import annotations

import csv
import math
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from dissensus.errors import ClassesError
from dissensus.predictions.scales import ScaleRanges
from dissensus.separated import as_number, dict_reader
from dissensus.store.files import read_text

SCALE_TABLES = {"voc": "data/voc-scales.csv", "voc-reordered": "data/voc-reordered-scales.csv"}
"""Table 2 of the paper as printed, and with the last ten names reordered to fit its numbers."""

COLUMNS = ("class", "low", "high")


def read_scales(source: str, classes: Sequence[str]) -> ScaleRanges:
    """Read each class's range from `voc`, `voc-reordered`, or a CSV with the columns class, low and high.

    Ends are shares of the pixels, 0 to 1. Names match exactly, or else by their letters and digits alone, so that
    'tv/monitor' is 'tvmonitor'. Classes without a row have no range. Rows for classes that the study does not have are
    skipped in the package's tables and are errors in a file.

    Raises:
        ClassesError: the file cannot be read; a row names an unknown class or a class twice; its ends are not two
            ascending numbers within 0..1; or the table has none of the study's classes.
    """
    is_own = source in SCALE_TABLES
    ends, is_known = np.tile([0.0, 1.0], (len(classes), 1)), np.zeros(len(classes), bool)
    for line, row in enumerate(_rows(source), start=2):
        label = _label(row["class"], classes)
        where = f"{source}, line {line}"
        if label is None and is_own:
            continue
        if label is None:
            raise ClassesError(
                f"{where}: '{row['class']}' is not a class of this study: spell it as in the study's classes"
            )
        if is_known[label]:
            raise ClassesError(f"{where}: the class '{classes[label]}' is listed twice: remove one of its rows")
        ends[label], is_known[label] = _ends(row, where), True
    if not is_known.any():
        raise ClassesError(
            f"the table '{source}' has none of this study's classes: give a CSV with the columns {', '.join(COLUMNS)}"
        )
    return ScaleRanges(ends, is_known)


def _rows(source: str) -> list[dict[str, str]]:
    try:
        if source in SCALE_TABLES:
            text = files("dissensus").joinpath(SCALE_TABLES[source]).read_text(encoding="utf-8")
        elif Path(source).is_file():
            text = read_text(Path(source))
        else:
            names = "', '".join(SCALE_TABLES)
            raise ClassesError(
                f"no such table: {source}; give '{names}', or a CSV with the columns {', '.join(COLUMNS)}"
            )
        rows = list(dict_reader(text))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ClassesError(f"cannot read {source}: {error}") from None
    absent = [name for name in COLUMNS if not rows or rows[0].get(name) is None]
    if absent:
        raise ClassesError(
            f"{source} has no column '{absent[0]}', or no rows: it needs the columns {', '.join(COLUMNS)}"
        )
    return [{name: (row[name] or "").strip() for name in COLUMNS} for row in rows]


def _label(name: str, classes: Sequence[str]) -> int | None:
    """The class of that name, or the only one that differs from it just in spaces, punctuation and case."""
    if name in classes:
        return classes.index(name)
    alike = [label for label, other in enumerate(classes) if _plain(other) == _plain(name)]
    return alike[0] if len(alike) == 1 else None


def _plain(name: str) -> str:
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _ends(row: dict[str, str], where: str) -> tuple[float, float]:
    try:
        low, high = as_number(row["low"]), as_number(row["high"])
    except ValueError:
        raise ClassesError(
            f"{where}: low and high of '{row['class']}' must be numbers, such as 0.03 and 0.25"
        ) from None
    if not (math.isfinite(low) and math.isfinite(high) and low >= 0 and high <= 1):
        raise ClassesError(
            f"{where}: the range of '{row['class']}', {low:g} to {high:g}, is not within 0..1: "
            "give shares of the pixels"
        )
    if low > high:
        raise ClassesError(f"{where}: low ({low:g}) of '{row['class']}' is above high ({high:g}): swap them")
    return low, high
