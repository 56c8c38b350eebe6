"""Subsets of the images by class: nodes of the taxonomy, classes, or a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.errors import ClassesError, StudyError
from dissensus.participants.sample import Subset
from dissensus.participants.subsets import class_subset
from dissensus.records import Classes
from dissensus.steps.workspace import Workspace
from dissensus.store.documents import csv_rows

WITHOUT = "not "
"""Before the name of a subset: all other classes."""


def read_subsets(text: str | None, work: Workspace[Any], truth: Int[Array, " n"]) -> list[Subset]:
    """Subsets of classes: nodes of the taxonomy, or classes, with commas between them; or a CSV of subset and label.

    'not dog' are all classes but dogs.

    Raises:
        StudyError: there is no such class or node, or a subset has no image.
    """
    if not text:
        return []
    if text.endswith(".csv"):
        members = _listed(Path(text))
    else:
        members = {name.strip(): [name.strip()] for name in text.split(",") if name.strip()}
    found = []
    for name, own in members.items():
        try:
            is_in = np.any([_members(work.classes, one) for one in own], axis=0)
        except ClassesError as error:
            is_bare = work.classes.taxonomy is None and not text.endswith(".csv")
            why = "; without a taxonomy, give a CSV file with the columns subset and label" if is_bare else ""
            raise StudyError(f"--subsets: {error}{why}") from None
        subset = class_subset(name, is_in, truth)
        if not subset.is_in.any():
            raise StudyError(f"--subsets: no sampled image is of '{name}': leave it out")
        found.append(subset)
    return found


def _members(classes: Classes, name: str) -> Bool[Array, " C"]:
    below = np.isfinite(classes.steps_below(name.removeprefix(WITHOUT)))
    return ~below if name.startswith(WITHOUT) else below


def _listed(path: Path) -> dict[str, list[str]]:
    members: dict[str, list[str]] = {}
    for _, row in csv_rows(path, ("subset", "label"), StudyError):
        members.setdefault(row["subset"], []).append(row["label"])
    if not members:
        raise StudyError(f"{path} has no rows: list the classes of every subset")
    return members
