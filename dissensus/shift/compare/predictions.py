"""Accuracies on two test sets from predictions: of the models of two studies, or as arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float
from dissensus.errors import ClassesError, StudyError, TransferError
from dissensus.records import MissingModel
from dissensus.steps.labelled import labelled_rows
from dissensus.steps.workspace import Workspace
from dissensus.store.tables import open_table, read_rows
from dissensus.transfer.robustness import family_of
from dissensus.transfer.sides import Side, TwoSets

FREQUENCY, DUPLICATE = "selection_frequency", "near_duplicate"
YES = frozenset({"1", "true", "yes", "1.0"})
NO = frozenset({"0", "false", "no", "0.0", ""})


@dataclass(frozen=True)
class Graded:
    """Which items of a test set every model gets right, and what else is known about the items."""

    models: tuple[str, ...]
    right: Bool[Array, "M n"]
    frequency: Float[Array, " n"] | None = None
    is_duplicate: Bool[Array, " n"] | None = None
    absent: int = 0
    """Predictions that are missing, which count as wrong."""


def graded(predictions: Mapping[str, Sequence[Any]], truth: Sequence[Any]) -> Graded:
    """The predictions of models, each in the order of the true labels, compared with them.

    Raises:
        TransferError: a model has another number of predictions, or there is no item.
    """
    labels = np.asarray(truth)
    if labels.ndim != 1 or not len(labels):
        raise TransferError("the true labels must be a list with one label per item")
    right = []
    for name, values in predictions.items():
        given = np.asarray(values)
        if given.shape != labels.shape:
            raise TransferError(f"{name} has {given.size:,} predictions for {len(labels):,} items: give one per item")
        right.append(given == labels)
    return Graded(tuple(map(str, predictions)), np.array(right, bool).reshape(len(right), len(labels)))


def graded_study(work: Workspace[Any], truth: Path) -> Graded:
    """The predictions of all models of a study of labels, compared with a table of the columns item and label.

    Only items of the table count. Optional columns: selection_frequency (0 to 1) and near_duplicate (true or false).

    Raises:
        StudyError: the table cannot be read, names an item twice or one that is not in the pool, or an unknown class.
    """
    table = labelled_rows(truth, work.folder, [FREQUENCY, DUPLICATE])
    try:
        labels = np.array([work.classes.index_of(row["label"]) for row in table])
    except ClassesError as error:
        raise StudyError(f"{truth}: {error}") from None
    models = tuple(name for name in work.settings.models if work.folder.predictions(name).exists())
    if not models:
        raise StudyError(f"{work.folder.root} has no predictions yet: dissensus predict {work.folder.root}")
    rows = np.array(work.pool.places([row["item"] for row in table]), np.int64)
    given = np.stack(
        [read_rows(open_table(work.folder.predictions(name)), rows, ["label"])["label"] for name in models]
    )
    frequency = _frequencies(truth, [row[FREQUENCY] for row in table]) if FREQUENCY in table[0] else None
    is_duplicate = _claims(truth, [row[DUPLICATE] for row in table]) if DUPLICATE in table[0] else None
    return Graded(models, given == labels, frequency, is_duplicate, int((given == MISSING).sum()))


def _frequencies(path: Path, cells: Sequence[Any]) -> Float[Array, " n"]:
    try:
        values = np.array([float(cell) for cell in cells])
    except (TypeError, ValueError):
        raise StudyError(f"{path}: fill in {FREQUENCY} for every item, as a number from 0 to 1") from None
    if not ((values >= 0) & (values <= 1)).all():
        raise StudyError(f"{path}: {FREQUENCY} must be from 0 to 1 for every item")
    return values


def _claims(path: Path, cells: Sequence[Any]) -> Bool[Array, " n"]:
    texts = ["" if cell is None else str(cell).strip().casefold() for cell in cells]
    other = [text for text in texts if text not in YES | NO]
    if other:
        raise StudyError(f"{path}: '{other[0]}' in {DUPLICATE} is neither true nor false")
    return np.array([text in YES for text in texts])


def two_sets(original: Graded, new: Graded, names: tuple[str, str] = ("original", "new")) -> TwoSets:
    """Models that have predictions on both test sets, matched by name; the others are listed as missing.

    Raises:
        TransferError: no model has predictions on both, or a name occurs twice.
    """
    for side in (original, new):
        twice = [name for name in side.models if side.models.count(name) > 1]
        if twice:
            raise TransferError(f"several models are called {twice[0]}: give each its own name")
    models = tuple(name for name in original.models if name in new.models)
    missing = [MissingModel(model=name, missing="new") for name in original.models if name not in new.models]
    missing += [MissingModel(model=name, missing="original") for name in new.models if name not in original.models]
    if not models:
        raise TransferError("no model has predictions on both test sets: models are matched by their names")
    absent = original.absent + new.absent
    return TwoSets(
        models,
        tuple(map(family_of, models)),
        _side(original, models),
        _side(new, models),
        is_family_guessed=True,
        missing=tuple(missing),
        notes=(f"{absent:,} missing predictions count as wrong.",) if absent else (),
        names=names,
    )


def _side(side: Graded, models: Sequence[str]) -> Side:
    right = side.right[[side.models.index(name) for name in models]]
    count = np.full(len(models), right.shape[1], np.int64)
    unknown = np.full(len(models), np.nan)
    return Side(right.mean(axis=1), count, unknown, unknown, right, side.frequency, side.is_duplicate)
