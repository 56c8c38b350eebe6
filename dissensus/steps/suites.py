"""A table of accuracies, data sets × classifiers, from a file or a frame.

Either a row per data set and a column per classifier, with the names of the data sets in the column `dataset` or
`data_set`, or else in the first one; or a row per data set and classifier with the columns dataset, classifier and
accuracy. Accuracies are fractions if all are at most 1 and none has a per cent sign, otherwise per cent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import SuiteError, quoted, some
from dissensus.store.columns import Columns, accuracy_column, text_columns

DATA_SET = ("dataset", "data_set", "data set")
LONG = ("classifier", "accuracy")
NEEDED = "dataset and one for each classifier"


class Suite(NamedTuple):
    """Accuracies without gaps, as fractions."""

    accuracies: Float[Array, "S M"]
    classifiers: list[str]
    data_sets: list[str]
    left_out: list[str]
    notes: list[str]


def read_suite(data: Any, skips_incomplete: bool = False) -> Suite:
    """Accuracies from a path to a CSV or Parquet file, a frame, a dict of columns or a list of dicts.

    A missing accuracy is an error, unless data sets without all accuracies are to be left out: ranks compare the same
    classifiers everywhere.

    Raises:
        SuiteError: the table cannot be read, has gaps, an impossible number, or nothing to compare.
    """
    columns = text_columns(data, SuiteError, NEEDED)
    names = _names_column(columns)
    is_long = {head.casefold() for head in columns if head != names} >= {*LONG}
    numbers, classifiers, data_sets = _from_long(columns, names) if is_long else _from_wide(columns, names)
    measured = [head for head in columns if (head.casefold() == "accuracy" if is_long else head != names)]
    has_signs = any(cell.endswith("%") for head in measured for cell in columns[head])
    if len(classifiers) < 2:
        raise SuiteError(f"there is {len(classifiers)} classifier to compare: give a column for each of at least two")
    gaps = np.isnan(numbers)
    if gaps.all():
        raise SuiteError("the table has no accuracies: give fractions or per cent")
    if gaps.any() and not skips_incomplete:
        row, column = np.argwhere(gaps)[0]
        raise SuiteError(
            f"{_counted(int(gaps.sum()))} missing, such as that of {classifiers[column]} on {data_sets[row]}: fill in "
            "all of them, or leave out incomplete data sets with --skip-incomplete"
        )
    whole = ~gaps.any(axis=1)
    if not whole.any():
        raise SuiteError("no data set has an accuracy of every classifier: leave out classifiers with many gaps")
    unit = 100.0 if has_signs or np.nanmax(numbers) > 1 else 1.0
    _refuse_two_units(numbers, classifiers, unit, has_signs)
    left_out = [data_sets[row] for row in np.flatnonzero(~whole).tolist()]
    verb = "is" if len(left_out) == 1 else "are"
    counted = f"{len(left_out):,} of {len(data_sets):,} data sets {verb} left out"
    notes = [f"{counted}, with accuracies missing: {some(left_out)}."]
    kept = [data_sets[row] for row in np.flatnonzero(whole).tolist()]
    return Suite((numbers[whole] / unit).round(12), classifiers, kept, left_out, notes if left_out else [])


def _names_column(columns: Columns) -> str:
    """The column with the names of the data sets."""
    if not columns or not next(iter(columns.values())):
        raise SuiteError(f"the table has no rows: give the columns {NEEDED}")
    found = [head for head in columns if head.casefold() in DATA_SET]
    if found:
        return found[0]
    first = next(iter(columns))
    if {*LONG} <= {head.casefold() for head in columns}:
        raise SuiteError(
            "there is no column dataset beside classifier and accuracy: say which data set each row is about"
        )
    if all(_is_number(cell) for cell in columns[first]):
        raise SuiteError(f"the first column, {quoted(first)}, has numbers: put the names of the data sets there")
    return first


def _from_wide(columns: Columns, names: str) -> tuple[Float[Array, "S M"], list[str], list[str]]:
    data_sets = columns[names]
    _refuse_unnamed(data_sets)
    twice = sorted({one for one in data_sets if data_sets.count(one) > 1})
    if twice:
        raise SuiteError(f"several rows are about {some(twice)}: give every data set one row")
    classifiers = [head for head in columns if head != names]
    if "" in classifiers:
        raise SuiteError(f"column {list(columns).index('') + 1} has no name: name it after its classifier")
    found = [accuracy_column(head, columns[head], data_sets, SuiteError) for head in classifiers]
    return np.stack(found, axis=1) if found else np.empty((len(data_sets), 0)), classifiers, data_sets


def _from_long(columns: Columns, names: str) -> tuple[Float[Array, "S M"], list[str], list[str]]:
    heads = {head.casefold(): head for head in columns}
    rows, kinds = columns[names], columns[heads["classifier"]]
    _refuse_unnamed(rows)
    if "" in kinds:
        raise SuiteError(f"row {kinds.index('') + 2} has no classifier: fill it in")
    values = accuracy_column("accuracy", columns[heads["accuracy"]], rows, SuiteError)
    data_sets, classifiers = list(dict.fromkeys(rows)), list(dict.fromkeys(kinds))
    row_of, column_of = ({one: place for place, one in enumerate(each)} for each in (data_sets, classifiers))
    found = np.full((len(data_sets), len(classifiers)), np.nan)
    seen: set[tuple[str, str]] = set()
    for row, kind, value in zip(rows, kinds, values.tolist(), strict=True):
        if (row, kind) in seen:
            raise SuiteError(f"{kind} on {row} is listed twice: keep one of the rows, such as the mean over folds")
        seen.add((row, kind))
        found[row_of[row], column_of[kind]] = value
    return found, classifiers, data_sets


def _refuse_two_units(numbers: Float[Array, "S M"], classifiers: Sequence[str], unit: float, has_signs: bool) -> None:
    """Raise an error if a whole column is at most 1 among per cent."""
    if unit == 1 or has_signs:
        return
    small = [name for name, column in zip(classifiers, numbers.T, strict=True) if 0 < np.nanmax(column, initial=0) <= 1]
    if small:
        raise SuiteError(f"{some(small)}: at most 1, while others are per cent: give all in the same unit")


def _refuse_unnamed(data_sets: Sequence[str]) -> None:
    if "" in data_sets:
        raise SuiteError(f"row {data_sets.index('') + 2} has no data set: fill in its name")


def _counted(gaps: int) -> str:
    return "1 accuracy is" if gaps == 1 else f"{gaps:,} accuracies are"


def _is_number(cell: str) -> bool:
    try:
        float(cell.removesuffix("%"))
    except ValueError:
        return False
    return True
