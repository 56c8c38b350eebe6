"""From class names, ids and indices to class numbers."""

from __future__ import annotations

from collections.abc import Iterable

from dissensus.errors import ClassesError, PredictionError
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
