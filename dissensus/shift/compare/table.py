"""Accuracies on two test sets from a table: a row per model with the columns model, original and new.

Accuracies are fractions if all of them are at most 1 and none has a per cent sign, otherwise all are per cent. Other
columns: `n_original` and `n_new` (numbers of items), `original_low` … `new_high` (intervals, used where there are no
counts), `family`, `fresh` and `n_fresh` (a fresh set of the original distribution). All remaining columns are kept.
"""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import TransferError, one_line, quoted, refuse_pipe, some
from dissensus.frames import is_table, table_of
from dissensus.records import MissingModel
from dissensus.transfer.robustness import family_of
from dissensus.transfer.sides import Side, TwoSets

SIDES = ("original", "new", "fresh")
ENDS = ("low", "high")
ACCURACIES = tuple(name for side in SIDES for name in (side, *(f"{side}_{end}" for end in ENDS)))
COUNTS = tuple(f"n_{side}" for side in SIDES)
EMPTY = frozenset({"", "-", "–", "na", "n/a", "nan", "null", "none"})
MOST_ITEMS = 2**53
Columns = dict[str, list[str]]


def read_accuracies(data: Any, names: tuple[str, str] = ("original", "new")) -> TwoSets:
    """Models on two test sets, from a path to a CSV or Parquet file, a frame, a dict of columns or a list of dicts.

    Raises:
        TransferError: the table cannot be read, lacks a column, has no numbers, or an impossible one.
    """
    columns = _columns(data)
    absent = [name for name in ("model", "original", "new") if name not in columns]
    if absent:
        raise TransferError(
            f"there is no column {' and '.join(absent)}, only {some(list(columns))}: name them model, original, new"
        )
    if not columns["model"]:
        raise TransferError("the table has no rows: give a row per model, with its accuracies in original and new")
    columns = {name: [cell.strip() for cell in cells] for name, cells in columns.items()}
    models, notes = _distinct(columns)
    numbers = {name: _numbers(name, columns[name], models) for name in ACCURACIES if name in columns}
    counts = {name: _counts(name, columns[name], models) for name in COUNTS if name in columns}
    has_signs = any(cell.endswith("%") for name in numbers for cell in columns[name])
    notes += _to_fractions(numbers, models, has_signs)
    missing = _missing(models, numbers["original"], numbers["new"])
    gone = {one.model for one in missing}
    kept = np.array([place for place, model in enumerate(models) if model not in gone], np.int64)
    if not len(kept):
        raise TransferError("no model has an accuracy on both test sets: fill in the columns original and new")
    known = [models[place] for place in kept.tolist()]
    sides = {side: _side(side, numbers, counts, kept, known) for side in SIDES if side in numbers}
    if "fresh" in sides and np.isnan(sides["fresh"].accuracy).any():
        raise TransferError("the column fresh has gaps: give every model an accuracy on the fresh set, or none")
    given = [columns["family"][place] for place in kept.tolist()] if "family" in columns else [""] * len(kept)
    rest = [name for name in columns if name not in {"model", "family", *ACCURACIES, *COUNTS}]
    return TwoSets(
        tuple(known),
        tuple(family or family_of(model) for family, model in zip(given, known, strict=True)),
        sides["original"],
        sides["new"],
        sides.get("fresh"),
        is_family_guessed="family" not in columns,
        missing=tuple(missing),
        notes=tuple(notes),
        extra=tuple({name: columns[name][place] for name in rest} for place in kept.tolist()),
        names=names,
    )


def _columns(data: Any) -> Columns:
    """All cells as text; empty if there is none."""
    if isinstance(data, (str, Path)):
        return _file_columns(Path(data))
    if not is_table(data):
        raise TransferError(
            f"expected a path, a frame, a dict of columns or a list of dicts, not {type(data).__name__}"
        )
    if isinstance(data, Sequence):  # rows may lack a key, and cells may be of any type
        data = {name: [row.get(name) for row in data] for name in dict.fromkeys(key for row in data for key in row)}
    if isinstance(data, Mapping):
        columns = {str(name): [_text(cell) for cell in column] for name, column in data.items()}
        if len({len(cells) for cells in columns.values()}) > 1:
            raise TransferError("the columns have different lengths: give every model a value in each")
        return columns
    try:
        table = table_of(data)
    except Exception as error:  # whatever a library of frames raises
        raise TransferError(f"the table cannot be read ({one_line(error)}): give every column one type") from None
    return {name: [_text(cell) for cell in table[name].to_pylist()] for name in table.column_names}


def _file_columns(path: Path) -> Columns:
    refuse_pipe(path, TransferError)
    if not path.is_file():
        raise TransferError(f"{path} is not a file: check the path")
    if path.suffix.lower() in {".parquet", ".pq"}:
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return _columns(pq.read_table(path))
        except (pa.ArrowException, OSError) as error:
            raise TransferError(f"{path} cannot be read ({one_line(error)})") from None
    try:
        content = path.read_bytes()
        text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode("utf-8-sig")
        first = text.split("\n", 1)[0]
        mark = max((",", ";", "\t"), key=first.count)
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True) if any(row)]
    except (OSError, UnicodeDecodeError, EOFError, zlib.error, csv.Error) as error:
        raise TransferError(f"{path} cannot be read as CSV ({one_line(error)})") from None
    if not rows:
        raise TransferError(f"{path} is empty: give the columns model, original and new")
    heads = [head.strip() for head in rows[0]]
    twice = sorted({head for head in heads if heads.count(head) > 1})
    if twice:
        raise TransferError(f"{path}: several columns are called {some(twice)}: keep only one")
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(heads):
            raise TransferError(f"{path}, row {number}: {len(row)} cells under {len(heads)} column names")
    return {head: [row[place] for row in rows[1:]] for place, head in enumerate(heads)}


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and np.isnan(cell)):
        return ""
    return str(cell)


def _distinct(columns: Mapping[str, list[str]]) -> tuple[list[str], list[str]]:
    """Names of the rows, with a number where a name occurs again, and a note on that.

    Raises:
        TransferError: a row has no name, or a model is listed twice with the same accuracies.
    """
    names = columns["model"]
    if not all(names):
        raise TransferError(f"row {names.index('') + 2} has no model name: fill in the column model")
    seen: dict[str, list[tuple[str, ...]]] = {}
    found = []
    for place, name in enumerate(names):
        row = tuple(columns[column][place] for column in columns)
        earlier = seen.setdefault(name, [])
        if row in earlier:
            raise TransferError(f"{name} is listed twice with the same values: remove one of the rows")
        earlier.append(row)
        found.append(name if len(earlier) == 1 else f"{name} ({len(earlier)})")
    twice = [name for name, rows in seen.items() if len(rows) > 1]
    if len(set(found)) < len(found):
        raise TransferError(f"several models are called {some(twice)}: give each its own name")
    if not twice:
        return found, []
    return found, [f"{some(twice)}: listed more than once with other values, counted as different models."]


def _numbers(name: str, cells: Sequence[str], models: Sequence[str]) -> Float[Array, " M"]:
    """A column of accuracies as they are written, without per cent signs; NaN where a cell is empty."""
    values = np.full(len(cells), np.nan)
    for place, cell in enumerate(cells):
        if cell.casefold() in EMPTY:
            continue
        try:
            values[place] = float(cell.removesuffix("%").strip())
        except ValueError:
            raise TransferError(f"{models[place]}: {quoted(cell)} in column {name} is not a number") from None
        if not 0 <= values[place] <= 100:
            raise TransferError(
                f"{models[place]}: {cell} in column {name} is not an accuracy: give fractions or per cent from 0 to 100"
            )
    return values


def _counts(name: str, cells: Sequence[str], models: Sequence[str]) -> Int[Array, " M"]:
    counts = np.zeros(len(cells), np.int64)
    for place, cell in enumerate(cells):
        if cell.casefold() in EMPTY:
            continue
        try:
            value = float(cell.replace(",", ""))
        except ValueError:
            value = np.nan
        if not (1 <= value <= MOST_ITEMS and value == int(value)):
            raise TransferError(f"{models[place]}: {quoted(cell)} in column {name} is not a number of items")
        counts[place] = int(value)
    return counts


def _to_fractions(numbers: dict[str, Float[Array, " M"]], models: Sequence[str], has_signs: bool) -> list[str]:
    """Divide by 100 if any accuracy is above 1 or has a per cent sign; a note if that makes some suspiciously small.

    Raises:
        TransferError: there are no numbers, or one set seems to be in fractions and another in per cent.
    """
    values = np.concatenate([numbers[side] for side in SIDES if side in numbers])
    if np.isnan(values).all():
        raise TransferError("the columns original and new have no numbers: give accuracies in per cent or as fractions")
    if not has_signs:
        if np.nanmax(values) <= 1:
            return []
        _refuse_two_units(numbers)
    numbers.update({name: (column / 100).round(12) for name, column in numbers.items()})
    small = [
        f"{model} {100 * numbers[side][place]:g}"
        for side in SIDES if side in numbers
        for place, model in enumerate(models) if 0 < numbers[side][place] <= 0.01
    ]  # fmt: skip
    return [f"Some accuracies are above 1, so that all are read as per cent, even {some(small)}."] if small else []


def _refuse_two_units(numbers: Mapping[str, Float[Array, " M"]]) -> None:
    """Raise an error if all accuracies on one set are at most 1, and all on another are above 1."""
    known = [(side, numbers[side]) for side in SIDES if side in numbers and not np.isnan(numbers[side]).all()]
    small = [side for side, column in known if 0 < np.nanmax(column) <= 1]
    large = [(side, np.nanmin(column)) for side, column in known if np.nanmin(column) > 1]
    if small and large:
        side, least = large[0]
        raise TransferError(
            f"the column {small[0]} has at most 1, and {side} at least {least:g}: give both in per cent (with signs, "
            "such as 0.9 %, if it is really that low), or both as fractions"
        )


def _missing(models: Sequence[str], original: Array, new: Array) -> list[MissingModel]:
    """Models without an accuracy on one set, or on both."""
    gone = np.isnan(original), np.isnan(new)
    return [
        MissingModel(model=model, missing="both" if one and other else "original" if one else "new")
        for model, one, other in zip(models, *gone, strict=True)
        if one or other
    ]


def _side(
    name: str, numbers: Mapping[str, Array], counts: Mapping[str, Array], kept: Array, models: Sequence[str]
) -> Side:
    nothing = np.full(len(kept), np.nan)
    accuracy = numbers[name][kept]
    low, high = (numbers[f"{name}_{end}"][kept] if f"{name}_{end}" in numbers else nothing for end in ENDS)
    outside = np.flatnonzero((low > accuracy + 1e-9) | (high < accuracy - 1e-9))
    if len(outside):
        raise TransferError(
            f"{models[outside[0]]}: its accuracy on the {name} set is outside {name}_low and {name}_high"
        )
    unknown = np.isnan(low) | np.isnan(high)
    count = counts[f"n_{name}"][kept] if f"n_{name}" in counts else np.zeros(len(kept), np.int64)
    return Side(accuracy, count, np.where(unknown, np.nan, low), np.where(unknown, np.nan, high))
