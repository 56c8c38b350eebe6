"""The k most discrepant items of every duel, as a reduction over chunks of the pool.

`scan(chunk) -> partial`, `merge(partial, partial) -> partial`, `finish(partial) -> selection`: the same result for
every chunking and every order of merging.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from dissensus.arrays import Array, Float, Int, UInt16
from dissensus.errors import SelectionError
from dissensus.records import Selection
from dissensus.selection.kernel import capped, collect, in_order, joined, make_room, reduced
from dissensus.selection.rule import Rule

NO_FLOOR = np.iinfo(np.int64).max
MOST_LEVELS = 1 << 16
"""Different distances: a level takes 16 bits where candidates are sorted."""


@dataclass(frozen=True)
class Levels:
    """Distances between C classes as small integers with the same order, 0 for no distance.

    `of_classes` is empty if all classes are equally far apart: their table would say nothing.
    """

    classes: int
    of_classes: Int[Array, "C C"]
    distance: Float[Array, " L"]

    @classmethod
    def of(cls, distances: Float[Array, "C C"]) -> Self:
        """The levels of a distance matrix.

        Raises:
            SelectionError: it has too many different distances.
        """
        distance = np.unique(distances)
        if len(distance) > MOST_LEVELS:
            raise SelectionError(
                f"the taxonomy gives {len(distance):,} different distances between classes, and up to {MOST_LEVELS:,} "
                "can be told apart: give its edges fewer different lengths, or choose another distance"
            )
        smallest = np.min_scalar_type(len(distance))  # most of a small table stays in the cache
        return cls(len(distances), np.searchsorted(distance, distances).astype(smallest), distance)

    @classmethod
    def equal(cls, classes: int) -> Self:
        """The levels of classes whose distance is 1."""
        return cls(classes, np.zeros((0, 0), np.uint8), np.array([0.0, 1.0]))


@dataclass(frozen=True)
class Partial:
    """The candidates of every duel that a selection over more items could still take, each list in selection order.

    The rows of duel d are those from starts[d] to starts[d + 1]: item, first label, second label, level. `floors[d]` is
    the (level, item) before which candidates can still be taken.
    """

    rows: Int[Array, "n 4"]
    starts: Int[Array, " D+1"]
    floors: Int[Array, "D 2"]

    @classmethod
    def empty(cls, duels: int) -> Self:
        """The state before any item was scanned."""
        floors = np.tile(np.array([1, NO_FLOOR]), (duels, 1))  # level 0 is agreement, which is never a candidate
        return cls(np.empty((0, 4), np.int64), np.zeros(duels + 1, np.int64), floors)

    @property
    def candidates(self) -> list[Int[Array, "n 4"]]:
        """The rows of each duel."""
        return np.split(self.rows, self.starts[1:-1])

    def renumbered(self, renumber: Callable[[Int[Array, " n"]], Int[Array, " n"]]) -> Partial:
        """The same candidates with other item numbers, in the same order; a floor is right behind an item."""
        rows, floors = self.rows.copy(), self.floors.copy()
        has_floor = floors[:, 1] < NO_FLOOR
        rows[:, 0] = renumber(rows[:, 0])
        floors[has_floor, 1] = renumber(floors[has_floor, 1] - 1) + 1
        return Partial(rows, self.starts, floors)


def scan(
    labels: UInt16[Array, "M N"],
    first_item: int,
    duels: Int[Array, "D 2"],
    levels: Levels,
    rule: Rule,
    known: Partial | None = None,
) -> Partial:
    """The candidates among a chunk's items, which are numbered from `first_item` on.

    Labels are MISSING where a model does not count. `known`, the partial of other chunks, only saves time: candidates
    beyond its floors are left out.
    """
    floors = Partial.empty(len(duels)).floors if known is None else known.floors.copy()
    room = min(max(512, 4 * rule.enough), max(labels.shape[1], 1))  # a row is at most one candidate
    lists = np.empty((len(duels), room, 4), np.int64)
    filled = np.zeros(len(duels), np.int64)
    first, second = np.ascontiguousarray(duels[:, 0]), np.ascontiguousarray(duels[:, 1])
    row = 0
    while row < labels.shape[1]:
        row = collect(
            labels, row, first_item, levels.of_classes, first, second, floors[:, 0], floors[:, 1], lists, filled
        )
        if row < labels.shape[1]:
            make_room(lists, filled, floors, *rule.numbers, levels.classes)
            if filled.max() > lists.shape[1] // 2:
                lists = np.concatenate([lists, np.empty_like(lists)], axis=1)
    rows = np.concatenate([of_duel[:count] for of_duel, count in zip(lists, filled, strict=True)])
    starts = np.concatenate([[0], np.cumsum(filled)])
    return Partial(*reduced(in_order(rows, starts), starts, filled > 0, floors, *rule.numbers, levels.classes))


def merge(one: Partial, other: Partial, levels: Levels, rule: Rule) -> Partial:
    """The candidates of two sets of items combined."""
    floors = _nearer(one.floors, other.floors)
    rows, starts = joined(one.rows, one.starts, other.rows, other.starts)
    is_new = np.diff(other.starts) > 0  # only a few, once the floors are high
    return Partial(*reduced(rows, starts, is_new, floors, *rule.numbers, levels.classes))


def is_settled(partial: Partial, levels: Levels, first_item: int) -> bool:
    """True if no item from `first_item` on can be taken: every duel already has enough at the largest distance."""
    level, item = partial.floors.T
    return bool(((level == len(levels.distance) - 1) & (item <= first_item)).all())


def finish(
    partial: Partial, duels: Int[Array, "D 2"], levels: Levels, rule: Rule, taken: Sequence[Int[Array, " n"]] = ()
) -> Selection:
    """The selected items and reserves of every duel, in the order of duels and ranks.

    `taken`: for each duel, the items that earlier rounds took, at most `rule.taken`; they are not selected again.
    """
    left = [rows[~np.isin(rows[:, 0], taken[duel])] if taken else rows for duel, rows in enumerate(partial.candidates)]
    parts = [
        _of_duel((one, other), rows, levels, rule) for (one, other), rows in zip(duels.tolist(), left, strict=True)
    ]
    columns = Selection.__dataclass_fields__
    return Selection(*(np.concatenate([getattr(part, name) for part in parts]) for name in columns))


def _of_duel(duel: tuple[int, int], rows: Array, levels: Levels, rule: Rule) -> Selection:
    classes = levels.classes
    places, _ = capped(rows[:, 1], rows[:, 2], rule.cap, rule.k, classes)
    selected, left = rows[places], np.delete(rows, places, axis=0)
    reserves = left[capped(left[:, 1], left[:, 2], rule.cap, rule.reserves, classes)[0]]
    both = np.concatenate([selected, reserves])
    return Selection(
        first=np.full(len(both), duel[0]),
        second=np.full(len(both), duel[1]),
        item=both[:, 0],
        rank=np.arange(1, len(both) + 1),
        is_reserve=np.arange(len(both)) >= len(selected),
        discrepancy=levels.distance[both[:, 3]],
        first_label=both[:, 1],
        second_label=both[:, 2],
    )


def _nearer(one: Int[Array, "D 2"], other: Int[Array, "D 2"]) -> Int[Array, "D 2"]:
    """The stricter of two floors: the higher level, then the smaller item."""
    other_is = (other[:, 0] > one[:, 0]) | ((other[:, 0] == one[:, 0]) & (other[:, 1] < one[:, 1]))
    return np.where(other_is[:, None], other, one)
