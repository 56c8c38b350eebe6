"""What is right: the classes that people and results use, which labels of the models belong to them, and every image's
own class."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Int, UInt16
from dissensus.backends.file import read_columns
from dissensus.errors import ClassesError, PredictionError, StudyError
from dissensus.records import Classes
from dissensus.steps.pooling import pool_ids
from dissensus.store.folder import Folder

NO_GROUP = -1
"""The group of labels that belong to none: never right."""


@dataclass(frozen=True)
class Groups:
    """The classes of a laconic test, each of them one or more classes of the study: COUCAL ↦ BIRD."""

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


@dataclass(frozen=True)
class Truth:
    """The images of a laconic test and their classes; `item` is a position in the pool, in ascending order."""

    groups: Groups
    item: Int[Array, " n"]
    group: Int[Array, " n"]
    ids: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.item)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The class of every image, by name."""
        return tuple(self.groups.names[number] for number in self.group.tolist())

    def first(self, per_class: int | None) -> Truth:
        """The first images of every class, in the order of the pool; all of them if None."""
        if per_class is None:
            return self
        nth = np.zeros(len(self), np.int64)
        for number in range(len(self.groups.names)):
            rows = np.flatnonzero(self.group == number)
            nth[rows] = np.arange(len(rows))
        kept = np.flatnonzero(nth < per_class)
        return Truth(self.groups, self.item[kept], self.group[kept], tuple(self.ids[row] for row in kept.tolist()))


def read_groups(path: Path) -> dict[str, list[str]]:
    """Groups from a .csv with the columns name and label, or a .txt with a name per line that is its own label.

    Raises:
        ClassesError: the file cannot be read, or has no rows.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            if path.suffix.lower() == ".csv":
                rows = [(row["name"].strip(), row["label"].strip()) for row in csv.DictReader(file)]
            else:
                rows = [(line.strip(), line.strip()) for line in file if line.strip()]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ClassesError(f"cannot read {path}: {error}") from None
    except (KeyError, AttributeError):
        raise ClassesError(f"{path} needs the columns name and label in every row") from None
    groups: dict[str, list[str]] = {}
    for name, label in rows:
        groups.setdefault(name, []).append(label)
    if len(groups) < 2:
        raise ClassesError(f"{path} has {len(groups)} classes: give at least two")
    return groups


def read_truth(path: Path, folder: Folder, classes: Classes, groups: Groups) -> Truth:
    """The classes of images, from a table with the columns item and label; a label is a group, or a class in one.

    Raises:
        StudyError: the table names an item that is not in the pool, names one twice, or has a label without a group.
    """
    try:
        table = read_columns(path, ["item", "label"])
    except PredictionError as error:
        raise StudyError(f"{path}: {error}") from None
    place = {name: number for number, name in enumerate(pool_ids(folder).to_pylist())}
    known = {name: number for number, name in enumerate(groups.names)}
    found: dict[int, int] = {}
    for row in table.to_pylist():
        item, label = str(row["item"]), row["label"]
        if item not in place:
            raise StudyError(f"{path}: '{item}' is not in the pool")
        if place[item] in found:
            raise StudyError(f"{path} lists '{item}' twice: give every image one class")
        if str(label).strip() in known:
            found[place[item]] = known[str(label).strip()]
            continue
        try:
            group = int(groups.of_label[classes.index_of(label)])
        except ClassesError as error:
            raise StudyError(f"{path}: {error}") from None
        if group == NO_GROUP:
            raise StudyError(f"{path}: '{label}' belongs to none of the classes ({', '.join(groups.names[:5])} …)")
        found[place[item]] = group
    if not found:
        raise StudyError(f"{path} has no rows: give the class of every image to use, in the columns item and label")
    items = np.array(sorted(found), np.int64)
    ids = pool_ids(folder).take(items).to_pylist()
    return Truth(groups, items, np.array([found[item] for item in items.tolist()], np.int64), tuple(ids))
