"""From class names, ids and indices to class numbers."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dissensus.arrays import MISSING, Array, Int
from dissensus.errors import ClassesError, PredictionError
from dissensus.predictions.protocol import Top5
from dissensus.records import Classes


def class_numbers(labels: Iterable[object], classes: Classes) -> list[int]:
    """Number of the class that each label names.

    Raises:
        PredictionError: a label names no class, or several.
    """
    try:
        return [classes.index_of(label) for label in labels]
    except ClassesError as error:
        raise PredictionError(str(error)) from None


def in_classes(found: Top5, numbers: Int[Array, " K"]) -> Top5:
    """Predictions of a model whose output j means class `numbers[j]`, in the study's classes."""
    known = numbers.astype(np.uint16)
    further = known[np.minimum(found.further, len(known) - 1)]
    return Top5(known[found.labels], found.confidence, np.where(found.further == MISSING, MISSING, further))
