"""Class names, ids and indices -> class numbers."""

from __future__ import annotations

from collections.abc import Iterable

from dissensus.errors import PredictionError
from dissensus.records import Classes


def class_numbers(labels: Iterable[str], classes: Classes) -> list[int]:
    """Number of the class that each string names: by name, else id, else synonym, else index.

    Raises:
        PredictionError: a string that names no class, or several.
    """
    lookups = [_lookup(column) for column in _columns(classes)]
    return [_number(label, lookups, len(classes)) for label in labels]


def _columns(classes: Classes) -> tuple[tuple[tuple[str, ...], ...], ...]:
    return tuple((name,) for name in classes.names), tuple((key,) for key in classes.ids), classes.synonyms


def _lookup(column: tuple[tuple[str, ...], ...]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for number, words in enumerate(column):
        for word in dict.fromkeys(words):
            found.setdefault(word, []).append(number)
    return found


def _number(label: str, lookups: list[dict[str, list[int]]], classes: int) -> int:
    numbers = next((lookup[label] for lookup in lookups if label in lookup), [])
    if len(numbers) == 1:
        return numbers[0]
    if numbers:
        raise PredictionError(f"'{label}' names the classes {numbers}: use the index or the id")
    if label.isascii() and label.isdecimal() and int(label) < classes:
        return int(label)
    raise PredictionError(
        f"'{label}' is none of the {classes} classes: use a name, an id or an index from 0 to {classes - 1}"
    )
