"""The images on which two maps differ most, for each category of the defender (Algorithm 1, lines 8 to 13).

As a reduction over chunks of the pool: `scan_categories(chunk) -> tops`, `merge_categories(tops, tops) -> tops`,
`finish_categories(tops) -> selection`, with the same result for every chunking and every order of merging.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import SelectionError
from dissensus.records import MaskSelection
from dissensus.selection.categories_kernel import collect

ROOM = 1 << 17
"""How many candidates a scan collects before it drops those that can no longer be selected."""


@dataclass(frozen=True)
class Quota:
    """What every category of a duel selects: `k` images and `reserves` reserves.

    `taken` is the largest number of images that earlier rounds took in any duel.
    """

    k: int
    reserves: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        if self.k < 1 or self.reserves < 0 or self.taken < 0:
            raise SelectionError(
                f"k is {self.k} and reserves is {self.reserves}: k must be at least 1 and reserves at least 0"
            )

    @property
    def certain(self) -> int:
        """How many images a group needs that count for no other category.

        No other category can take them, and earlier rounds took at most `taken`, so k + reserves are left.
        """
        return self.k + self.reserves + self.taken

    def enough(self, categories: int) -> int:
        """How many images a group needs, whatever they are: all categories of a duel together take no more."""
        return categories * (self.k + self.reserves) + self.taken


@dataclass(frozen=True)
class CategoryTops:
    """How many images every group has, and the least concordant ones that a selection could still take.

    Rows are sorted by (attacker, defender, category), then by concordance, then by item. A group's rows end as soon as
    it has enough (`Quota`). `is_alone`: the item counts for no other category of this defender.
    """

    quota: Quota
    predicted: Int[Array, "M C"]
    """Number of items with a pixel of the category in the defender's map."""
    in_scale: Int[Array, "M C"]
    """How many of them have a share of pixels within the scale."""
    valid: Int[Array, "M M C"]
    """By attacker, defender and category: how many of those have two maps that can be compared and differ."""
    attacker: Int[Array, " n"]
    defender: Int[Array, " n"]
    category: Int[Array, " n"]
    item: Int[Array, " n"]
    concordance: Float[Array, " n"]
    share: Float[Array, " n"]
    is_alone: Bool[Array, " n"]

    @classmethod
    def empty(cls, models: int, classes: int, quota: Quota) -> Self:
        """The state before any item was scanned."""
        counts = (
            np.zeros(shape, np.int64) for shape in ((models, classes), (models, classes), (models, models, classes))
        )
        return cls(quota, *counts, *_columns(0))

    def __len__(self) -> int:
        return len(self.item)

    @property
    def columns(self) -> tuple[Array, ...]:
        return (
            self.attacker,
            self.defender,
            self.category,
            self.item,
            self.concordance,
            self.share,
            self.is_alone,
        )


def scan_categories(
    value: Float[Array, "n M M"],
    is_comparable: Bool[Array, "n M M"],
    differs: Bool[Array, "n M M"],
    share: Float[Array, "n M C"],
    first_item: int,
    scales: Float[Array, "C 2"],
    quota: Quota,
    known: CategoryTops | None = None,
) -> CategoryTops:
    """The tops among a chunk's items, which are numbered from `first_item` on.

    `value[n, i, j]` is the concordance of the maps of defender i and attacker j, lower where they differ more; if it is
    not finite, they cannot be compared. `share[n, i, y]` is the share of pixels that model i assigns to class y: item n
    is in group y of defender i if that is positive, and valid if it lies within `scales[y]`, ends included. Class 0,
    the background, is not a category. `known`, the tops of other chunks, only saves time: items that cannot be among
    the combined tops are left out.

    Raises:
        SelectionError: the arrays do not have the same items, models and classes.
    """
    items, models, classes = share.shape
    shapes = {value.shape, is_comparable.shape, differs.shape}
    if shapes != {(items, models, models)} or scales.shape != (classes, 2):
        raise SelectionError(
            f"shapes do not match: concordances {value.shape}, shares {share.shape}, scales {scales.shape}"
        )
    tops = CategoryTops.empty(models, classes, quota)
    counts = tops.predicted, tops.in_scale, tops.valid
    floors = _floors(tops if known is None else known, quota)
    columns = _columns(max(ROOM, 2 * models * models * classes))
    start = 0
    while start < items:
        start, filled = collect(
            value, is_comparable, differs, share, start, first_item, scales, floors, counts, columns
        )
        found = CategoryTops(quota, *counts, *(column[:filled] for column in columns))
        tops = _reduced(quota, counts, [tops, found])
        floors = _nearer(floors, _floors(tops, quota))
    return tops


def merge_categories(one: CategoryTops, other: CategoryTops) -> CategoryTops:
    """The tops of two sets of items combined.

    Raises:
        SelectionError: they were made for different quotas.
    """
    if one.quota != other.quota:
        raise SelectionError(f"cannot merge tops with different quotas: {one.quota} and {other.quota}")
    counts = (one.predicted + other.predicted, one.in_scale + other.in_scale, one.valid + other.valid)
    return _reduced(one.quota, counts, [one, other])


def finish_categories(
    tops: CategoryTops, wanted: Bool[Array, "M M"], taken: Int[Array, "T 3"] | None = None
) -> MaskSelection:
    """The selected images and reserves of every duel with `wanted[attacker, defender]`.

    An image is used once per duel. Categories with fewer valid images choose first, then those with a smaller number:
    all of them choose their k, then all choose their reserves. `taken`: attacker, defender and item of earlier rounds,
    which are not selected again.

    Raises:
        SelectionError: earlier rounds took more images of a duel than the quota allows, so that tops may be missing.
    """
    taken = np.zeros((0, 3), np.int64) if taken is None else taken
    if most_taken(taken) > tops.quota.taken:
        raise SelectionError(
            f"{most_taken(taken)} images of a duel are already taken, but the tops allow {tops.quota.taken}"
        )
    used: dict[tuple[int, int], set[int]] = {}
    for attacker, defender, item in taken.tolist():
        used.setdefault((attacker, defender), set()).add(item)
    models, classes = tops.predicted.shape
    cells = np.arange(models * models * classes).reshape(models, models, classes)
    starts = np.searchsorted(_cell(tops), np.append(cells.ravel(), cells.size))
    rows: list[tuple[int, int]] = []
    for attacker, defender in np.argwhere(wanted & ~np.eye(models, dtype=bool)).tolist():
        bounds = starts[cells[attacker, defender, 0] : cells[attacker, defender, -1] + 2]
        order = np.argsort(tops.valid[attacker, defender], kind="stable")
        rows += _of_duel(tops, bounds.tolist(), order.tolist(), used.get((attacker, defender), set()))
    row, rank = np.array(rows, np.int64).reshape(-1, 2).T
    return MaskSelection(
        attacker=tops.attacker[row],
        defender=tops.defender[row],
        category=tops.category[row],
        rank=rank,
        is_reserve=rank > tops.quota.k,
        item=tops.item[row],
        concordance=tops.concordance[row],
        share=tops.share[row],
    )


def most_taken(taken: Int[Array, "T 3"] | None) -> int:
    """The largest number of images taken in any duel; rows are attacker, defender and item."""
    if taken is None:
        return 0
    return int(np.unique(taken[:, :2], axis=0, return_counts=True)[1].max(initial=0))


def _of_duel(tops: CategoryTops, starts: list[int], order: list[int], gone: set[int]) -> list[tuple[int, int]]:
    """Rows of one duel and their ranks, by category; `starts[y]` is the first row of category y."""
    gone, place = set(gone), starts[:-1]
    chosen: dict[int, list[int]] = {category: [] for category in range(len(place))}
    for most in (tops.quota.k, tops.quota.k + tops.quota.reserves):
        for category in order:
            mine = chosen[category]
            while len(mine) < most and place[category] < starts[category + 1]:
                item = int(tops.item[place[category]])
                if item not in gone:
                    gone.add(item)
                    mine.append(place[category])
                place[category] += 1  # a skipped item stays skipped
    return [(row, rank) for mine in chosen.values() for rank, row in enumerate(mine, start=1)]


def _reduced(quota: Quota, counts: tuple[Array, Array, Array], parts: list[CategoryTops]) -> CategoryTops:
    """The rows of all parts that can still be selected, in order.

    Both limits count earlier rows, and more items can only add to those. So a row that one part may drop, all may drop.
    """
    columns = [np.concatenate(column) for column in zip(*(part.columns for part in parts), strict=True)]
    together = CategoryTops(quota, *counts, *columns)
    cell = _cell(together)
    order = np.lexsort((together.item, together.concordance, cell))
    place, alone = _before(cell[order], together.is_alone[order])
    kept = order[(place < quota.enough(together.predicted.shape[1] - 1)) & (alone < quota.certain)]
    return CategoryTops(quota, *counts, *(column[kept] for column in columns))


def _before(cell: Int[Array, " n"], is_alone: Bool[Array, " n"]) -> tuple[Int[Array, " n"], Int[Array, " n"]]:
    """How many rows of the same group, and how many with `is_alone`, come before each row; rows are sorted by group."""
    starts = np.flatnonzero(np.diff(cell, prepend=-1))
    length = np.diff(starts, append=len(cell))
    before = np.cumsum(is_alone) - is_alone
    return np.arange(len(cell)) - np.repeat(starts, length), before - np.repeat(before[starts], length)


def _floors(tops: CategoryTops, quota: Quota) -> tuple[Float[Array, "M M C"], Int[Array, "M M C"]]:
    """Concordance and item of the last row of every group that has enough; infinite for the others."""
    value, item = np.full(tops.valid.shape, np.inf), np.full(tops.valid.shape, -1)
    cell = _cell(tops)
    last = np.flatnonzero(np.diff(cell, append=-1))
    place, alone = _before(cell, tops.is_alone)
    is_full = place[last] + 1 >= quota.enough(tops.predicted.shape[1] - 1)
    last = last[is_full | (alone[last] + tops.is_alone[last] >= quota.certain)]
    where = tops.attacker[last], tops.defender[last], tops.category[last]
    value[where], item[where] = tops.concordance[last], tops.item[last]
    return value, item


def _nearer(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[Array, Array]:
    """The stricter of two floors: the lower concordance, then the smaller item."""
    is_other = (other[0] < one[0]) | ((other[0] == one[0]) & (other[1] < one[1]))
    return np.where(is_other, other[0], one[0]), np.where(is_other, other[1], one[1])


def _cell(tops: CategoryTops) -> Int[Array, " n"]:
    """Every row's group, as one number."""
    models, classes = tops.predicted.shape
    return (tops.attacker * models + tops.defender) * classes + tops.category


def _columns(size: int) -> tuple[Array, ...]:
    numbers = (np.empty(size, np.int64) for _ in range(4))
    return (*numbers, np.empty(size), np.empty(size), np.empty(size, bool))
