"""Accuracies on two test sets from a table: a row per model with the columns model, original and new.

Accuracies are fractions if all of them are at most 1 and none has a per cent sign, otherwise all are per cent. Other
columns: `n_original` and `n_new` (numbers of items), `original_low` … `new_high` (intervals, used where there are no
counts), `family`, `fresh` and `n_fresh` (a fresh set of the original distribution). All remaining columns are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import TransferError, quoted, some
from dissensus.records import MissingModel
from dissensus.store.columns import EMPTY, accuracy_column, text_columns
from dissensus.transfer.robustness import family_of
from dissensus.transfer.sides import Side, TwoSets

SIDES = ("original", "new", "fresh")
ENDS = ("low", "high")
ACCURACIES = tuple(name for side in SIDES for name in (side, *(f"{side}_{end}" for end in ENDS)))
COUNTS = tuple(f"n_{side}" for side in SIDES)
MOST_ITEMS = 2**53


def read_accuracies(data: Any, names: tuple[str, str] = ("original", "new")) -> TwoSets:
    """Models on two test sets, from a path to a CSV or Parquet file, a frame, a dict of columns or a list of dicts.

    Raises:
        TransferError: the table cannot be read, lacks a column, has no numbers, or an impossible one.
    """
    columns = text_columns(data, TransferError, "model, original and new")
    absent = [name for name in ("model", "original", "new") if name not in columns]
    if absent:
        raise TransferError(
            f"there is no column {' and '.join(absent)}, only {some(list(columns))}: name them model, original, new"
        )
    if not columns["model"]:
        raise TransferError("the table has no rows: give a row per model, with its accuracies in original and new")
    models, notes = _distinct(columns)
    numbers = {
        name: accuracy_column(name, columns[name], models, TransferError) for name in ACCURACIES if name in columns
    }
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
    families = [columns["family"][place] for place in kept.tolist()] if "family" in columns else [""] * len(kept)
    rest = [name for name in columns if name not in {"model", "family", *ACCURACIES, *COUNTS}]
    return TwoSets(
        tuple(known),
        tuple(family or family_of(model) for family, model in zip(families, known, strict=True)),
        sides["original"],
        sides["new"],
        sides.get("fresh"),
        is_family_guessed="family" not in columns,
        missing=tuple(missing),
        notes=tuple(notes),
        extra=tuple({name: columns[name][place] for name in rest} for place in kept.tolist()),
        names=names,
    )


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
