"""Classes that are coarser than the study's: which label of a model belongs to which of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Int, UInt16
from dissensus.errors import ClassesError, refuse_pipe
from dissensus.records import Classes
from dissensus.store.classes import SHIPPED, Document
from dissensus.store.documents import csv_rows

NO_GROUP = -1
"""The group of labels that belong to none: never right."""


@dataclass(frozen=True)
class Groups:
    """Classes to tell apart, each of them one or more classes of the study: COUCAL ↦ BIRD."""

    names: tuple[str, ...]
    of_label: Int[Array, " C"]
    """The group of every class of the study."""

    def of(self, labels: UInt16[Array, " n"]) -> Int[Array, " n"]:
        """The groups of predicted labels; those that are missing belong to none."""
        known = np.append(self.of_label, NO_GROUP)
        return known[np.minimum(labels.astype(np.int64), len(self.of_label))]

    @property
    def uncovered(self) -> int:
        """How many classes of the study belong to no group."""
        return int((self.of_label == NO_GROUP).sum())


def groups_of(classes: Classes, named: Mapping[str, Sequence[str]] | None) -> Groups:
    """The groups by name, each with classes of the study or nodes of its taxonomy; None if every class is its own.

    A class below two groups belongs to the nearer one: a fox is a fox if there is also a group of dogs and their kin.

    Raises:
        ClassesError: a name stands for nothing, a group has no class, or a class is equally near to two groups.
    """
    if named is None:
        return Groups(classes.names, np.arange(len(classes)))
    names = tuple(named)
    nearest = np.full(len(classes), np.inf)
    group = np.full(len(classes), NO_GROUP)
    for number, (name, members) in enumerate(named.items()):
        above = np.full(len(classes), np.inf)
        for member in members:
            np.minimum(above, classes.steps_below(member), out=above)
        tied = np.flatnonzero((above == nearest) & np.isfinite(above))
        if len(tied):
            label = int(tied[0])
            raise ClassesError(
                f"'{classes.names[label]}' belongs to both '{names[group[label]]}' and '{name}': list it under one"
            )
        if not np.isfinite(above).any():
            raise ClassesError(f"no class of the study belongs to '{name}': list some under it")
        group = np.where(above < nearest, number, group)
        nearest = np.minimum(above, nearest)
    empty = [name for number, name in enumerate(names) if not (group == number).any()]
    if empty:
        raise ClassesError(f"all classes of '{empty[0]}' are nearer to another group: leave it out")
    return Groups(names, group)


def chosen_groups(classes: Classes, source: str | Path | None) -> Groups:
    """The groups that ship under a name, or those of a file; None if every class of the study is its own.

    Raises:
        ClassesError: they cannot be read, or do not fit the study's classes.
    """
    if source is None:
        return groups_of(classes, None)
    if str(source) not in SHIPPED:
        return groups_of(classes, read_groups(Path(source)))
    try:
        return groups_of(classes, shipped_groups(str(source)))
    except ClassesError as error:
        raise ClassesError(f"{source} does not fit the classes of the study ({error}): list groups in a file") from None


def shipped_groups(name: str) -> dict[str, list[str]]:
    """Classes that ship with the package as groups of a study's classes, each by its id in WordNet if it has one."""
    document: Document = SHIPPED[name]()
    return {document["nodes"][one]["lemmas"][0]: [one] for one in document["classes"]}


def read_groups(path: Path) -> dict[str, list[str]]:
    """Groups from a .csv with the columns name and label, or a .txt with a name per line that is its own label.

    Raises:
        ClassesError: the file cannot be read, or has no rows.
    """
    if path.suffix.lower() == ".csv":
        rows = [(row["name"], row["label"]) for _, row in csv_rows(path, ("name", "label"), ClassesError)]
    else:
        refuse_pipe(path, ClassesError)
        try:
            lines = path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ClassesError(f"cannot read {path}: {error}") from None
        rows = [(line.strip(), line.strip()) for line in lines if line.strip()]
    groups: dict[str, list[str]] = {}
    for name, label in rows:
        groups.setdefault(name, []).append(label)
    if len(groups) < 2:
        raise ClassesError(f"{path} has {len(groups)} classes: give at least two")
    return groups
