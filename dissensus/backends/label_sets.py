"""What the outputs of a model mean, if it was trained on other classes than the study's."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from dissensus.arrays import Array, UInt8
from dissensus.errors import BackendError, ClassesError
from dissensus.records import BACKGROUND, MOST_CLASSES, VOID, Classes

Labels = str | tuple[str | int, ...]
"""The name of a known list, or a class name or number for each output index."""

LABEL_SETS = {"voc": "data/voc-classes.txt"}
"""Lists that ship with the package, one name per line in the order of the outputs: PASCAL VOC's 21."""


def label_numbers(labels: Labels | None, classes: Classes) -> UInt8[Array, " L"]:
    """The study's class for each output index.

    Names that the study does not have become background, a number is the class number, and VOID stays VOID. None means
    the study's classes in order.

    Raises:
        BackendError: there are too many labels, none is a class other than the background, or a number is not a class.
    """
    names: Sequence[str | int] = range(len(classes)) if labels is None else _listed(labels)
    if len(names) > MOST_CLASSES:
        raise BackendError(f"{len(names)} labels are too many for a mask: at most {MOST_CLASSES}")
    try:
        numbers = [VOID if name == VOID else _number(name, classes) for name in names]
    except ClassesError as error:
        raise BackendError(f"labels: {error}") from None
    if all(number in (BACKGROUND, VOID) for number in numbers):
        raise BackendError(
            f"none of its {len(names)} labels is a class of this study other than the background, such as"
            f" '{classes.names[-1]}': set labels to names or numbers of the study's classes, one per output"
        )
    return np.array(numbers, np.uint8)


def relabelled(labels: UInt8[Array, "h w"], numbers: UInt8[Array, " L"]) -> UInt8[Array, "h w"]:
    """Convert a map of output indices to the study's classes; VOID stays VOID."""
    meaning = np.full(256, VOID, np.uint8)
    meaning[: len(numbers)] = numbers
    return meaning[labels]


def _listed(labels: Labels) -> Sequence[str | int]:
    if not isinstance(labels, str):
        return labels
    text = files("dissensus").joinpath(LABEL_SETS[labels]).read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.strip()]


def _number(name: str | int, classes: Classes) -> int:
    if isinstance(name, str) and not name.isdecimal() and not _has(classes, name.strip()):
        return BACKGROUND
    return classes.index_of(name)


def _has(classes: Classes, name: str) -> bool:
    words = {word.casefold() for words in (classes.names, *classes.synonyms) for word in words}
    return name.casefold() in words or name in classes.ids
