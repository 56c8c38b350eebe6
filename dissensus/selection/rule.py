"""How many items a duel gets, and how alike they may be."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.errors import SelectionError

NO_CAP = 1 << 31
"""A cap that is never reached."""


@dataclass(frozen=True)
class Rule:
    """`k` items and `reserves` reserves per duel, with no label more than `cap` times, for either model, if possible.

    Items are ordered by (larger discrepancy, smaller item number). The selected k are taken greedily in that order,
    skipping items that exceed the cap. As long as fewer than k are taken and candidates are left, the cap rises by one
    and the walk starts again: rows that are taken stay, and further ones rank after them. So a selection with a smaller
    k is the beginning of one with a larger k. The reserves are taken in the same way from the rest, with a fresh cap: a
    reserve that is promoted must fit the selected rows' own cap together with the items it joins. `taken`: the most
    items that earlier rounds took from any duel; that many more candidates are kept.
    """

    k: int = 30
    reserves: int = 30
    cap: int = 3
    taken: int = 0

    def __post_init__(self) -> None:
        if self.k < 1 or self.reserves < 0 or self.cap < 1:
            raise SelectionError("invalid k, cap or reserves: k and cap must be at least 1, and reserves at least 0")

    @property
    def numbers(self) -> tuple[int, int, int, int]:
        """What the kernel is given: the cap, `enough`, how many rows a duel has in all, and `taken`.

        If some candidates have `enough` under a cap c, then neither the selected rows nor the reserves need a higher
        one, so each takes at most c items of a cell (the same two labels). These are the first ones, as items of one
        cell are equally discrepant and use up the same labels, and leaving out items that a walk skips does not change
        what it takes. So of each cell, 2·c items are candidates, or k + reserves if that is less, and `taken` more.
        """
        return self.cap, self.enough, self.k + self.reserves, self.taken

    @property
    def enough(self) -> int:
        """If candidates contain a set of this size under a cap, the cap never rises beyond it, whatever is added.

        When a walk raises the cap, what it has taken is maximal, and every maximal set under two partition constraints
        is at least half as large as the largest. So a set of 2k yields k selected items, and one of k + 2·reserves
        still yields all reserves after the k selected are removed. If a prefix of the order contains such a set under
        the rule's own cap, nothing after the prefix can be taken.
        """
        return max(2 * self.k, self.k + 2 * self.reserves) + self.taken
