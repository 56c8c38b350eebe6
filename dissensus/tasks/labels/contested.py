"""The pool as the planner sees it: who agrees with whom on which items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dissensus.arrays import MISSING, Array, Int, UInt16
from dissensus.engines.reduction import Reduction
from dissensus.planning.cases import FEW_CLASSES, Cases, Patterns, cases_of, patterns_of, votes_of
from dissensus.steps.workspace import Workspace
from dissensus.store.folder import Folder
from dissensus.store.tables import ROW_GROUP, open_table, read_numbers, read_rows


@dataclass(frozen=True)
class Contested:
    """The cases of a pool. Items that no model could read are left out of it."""

    folder: Folder
    models: list[str]
    patterns: Patterns
    cases: Cases

    def items_with(self, work: Workspace[Any], wanted: Int[Array, " n"]) -> dict[int, Int[Array, " k"]]:
        """All items of each of the wanted patterns, in the order of the pool."""
        found = work.reduce(Members(self, np.unique(wanted)), "finding items")
        return {int(one): found.item[found.pattern == one] for one in np.unique(wanted)}


def contested(work: Workspace[Any], models: Sequence[str]) -> Contested:
    """The cases of the study's pool.

    Raises:
        PlanningError: the models agree on every item.
    """
    is_named = len(work.classes) <= FEW_CLASSES
    found = work.reduce(Voting(work.folder, models, is_named), "counting votes")
    is_read = (found.votes != MISSING).any(axis=1)
    patterns = Patterns(found.votes[is_read], found.items[is_read], is_named)
    return Contested(work.folder, list(models), patterns, cases_of(patterns))


def labels_of(folder: Folder, models: Sequence[str], items: Int[Array, " n"]) -> UInt16[Array, "M n"]:
    """Every model's labels of some items in ascending order."""
    return np.stack([read_rows(open_table(folder.predictions(name)), items, ["label"])["label"] for name in models])


P = TypeVar("P")


class OverLabels(Reduction[UInt16[Array, "M N"], P]):
    """A pass over the labels that all models predict."""

    chunk, kept = ROW_GROUP, 4

    def __init__(self, folder: Folder, models: Sequence[str]) -> None:
        self.files = [open_table(folder.predictions(name)) for name in models]
        self.item_bytes = sum(file.bytes_of("label") for file in self.files)

    def load(self, rows: range) -> UInt16[Array, "M N"]:
        return np.stack([read_numbers(file, rows, "label") for file in self.files])


class Voting(OverLabels[Patterns]):
    """Counts the items of every pattern of votes."""

    partial = Patterns

    def __init__(self, folder: Folder, models: Sequence[str], is_named: bool) -> None:
        super().__init__(folder, models)
        self.is_named = is_named

    def scan(self, loaded: UInt16[Array, "M N"], first_item: int, known: Patterns | None) -> Patterns:
        return patterns_of(votes_of(loaded, self.is_named), self.is_named)

    def merge(self, one: Patterns, other: Patterns) -> Patterns:
        return Patterns.merged([one, other])


@dataclass(frozen=True)
class Placed:
    """Items and the patterns they have."""

    item: Int[Array, " n"]
    pattern: Int[Array, " n"]


class Members(OverLabels[Placed]):
    """Finds the items of some patterns, in the order of the pool."""

    partial = Placed

    def __init__(self, pool: Contested, wanted: Int[Array, " n"]) -> None:
        super().__init__(pool.folder, pool.models)
        self.patterns, self.wanted = pool.patterns, wanted

    def scan(self, loaded: UInt16[Array, "M N"], first_item: int, known: Placed | None) -> Placed:
        votes = votes_of(loaded, self.patterns.is_named)
        found = [np.flatnonzero((votes == row).all(axis=1)) for row in self.patterns.votes[self.wanted]]
        pattern = np.repeat(self.wanted, [len(rows) for rows in found])
        return Placed(first_item + np.concatenate(found), pattern)

    def merge(self, one: Placed, other: Placed) -> Placed:
        item, pattern = np.append(one.item, other.item), np.append(one.pattern, other.pattern)
        order = np.argsort(item, kind="stable")
        return Placed(item[order], pattern[order])
