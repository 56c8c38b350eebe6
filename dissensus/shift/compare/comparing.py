"""Do scores survive a new test set? From a table of accuracies, from two studies, or from arrays of predictions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dissensus.errors import TransferError
from dissensus.proportions import LEVEL
from dissensus.records import ShiftResult
from dissensus.shift.compare.predictions import Graded, graded, graded_study, two_sets
from dissensus.steps.workspace import Workspace
from dissensus.transfer.findings import result_of
from dissensus.transfer.fits import RESAMPLES
from dissensus.transfer.sides import TwoSets

Predictions = Mapping[str, Any] | Workspace[Any]
"""Labels by model, or the study of the models."""


def predicted_sets(
    original: Predictions, truth_original: Any, new: Predictions, truth_new: Any, names: tuple[str, str]
) -> TwoSets:
    """Models on two test sets from their predictions for every item."""
    return two_sets(_graded(original, truth_original), _graded(new, truth_new), names)


def compared(
    found: TwoSets, duplicates: tuple[float, float] | None = None, level: float = LEVEL, resamples: int = RESAMPLES,
    seed: int = 0,
) -> ShiftResult:  # fmt: skip
    """Everything about models on two test sets; `duplicates` are the share and the accuracy of near-duplicates."""
    if duplicates is not None and found.original.is_duplicate is not None:
        raise TransferError("near-duplicates are marked item by item: leave out the assumed share")
    return result_of(replace(found, duplicates=duplicates), level, resamples, seed)


def _graded(predictions: Predictions, truth: Any) -> Graded:
    if truth is None:
        raise TransferError("predictions need the true labels of both test sets: give truth_original and truth_new")
    if isinstance(predictions, Workspace):
        return graded_study(predictions, Path(truth))
    return graded(predictions, truth)
