"""What is right: every image's own class."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.errors import ClassesError, StudyError
from dissensus.records import Classes
from dissensus.steps.groups import NO_GROUP, Groups
from dissensus.steps.labelled import labelled_rows
from dissensus.steps.pooling import pool_ids
from dissensus.store.folder import Folder


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


def read_truth(path: Path, folder: Folder, classes: Classes, groups: Groups) -> Truth:
    """The classes of images, from a table with the columns item and label; a label is a group, or a class in one.

    Raises:
        StudyError: the table names an item that is not in the pool, names one twice, or has a label without a group.
    """
    rows = labelled_rows(path, folder)
    place = {name: number for number, name in enumerate(pool_ids(folder).to_pylist())}
    known = {name: number for number, name in enumerate(groups.names)}
    found: dict[int, int] = {}
    for row in rows:
        item, label = row["item"], row["label"]
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
    items = np.array(sorted(found), np.int64)
    ids = pool_ids(folder).take(items).to_pylist()
    return Truth(groups, items, np.array([found[item] for item in items.tolist()], np.int64), tuple(ids))
