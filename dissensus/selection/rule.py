"""How many items a duel gets, and how alike they may be."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.errors import SelectionError


@dataclass(frozen=True)
class Rule:
    """`k` items and `reserves` reserves per duel; at most `cap` of each with the same label, for either model.

    Items are ordered by (larger discrepancy, smaller item number). The selected k are taken greedily in that order,
    skipping items that exceed the cap. The reserves are taken in the same way from the rest, with a fresh cap: a
    reserve that is promoted must fit the cap together with the items it joins. `taken`: the most items that earlier
    rounds took from any duel; that many more candidates are kept.
    """

    k: int = 30
    reserves: int = 30
    cap: int = 3
    taken: int = 0

    def __post_init__(self) -> None:
        if self.k < 1 or self.reserves < 0 or self.cap < 1:
            raise SelectionError("invalid k, cap or reserves: k and cap must be at least 1, and reserves at least 0")

    @property
    def depth(self) -> int:
        """How many items of one cell (the same two labels) can be taken: `cap` as selected, `cap` as reserves.

        Items of one cell are equally discrepant and use up the same labels, so only the first ones ever count.
        """
        return 2 * self.cap + self.taken

    @property
    def enough(self) -> int:
        """If a prefix of the order contains a capped set of this size, nothing after the prefix can be taken.

        A greedy capped set is maximal, and every maximal set under two partition constraints is at least half as large
        as the largest. So a prefix with some capped set of 2k yields k selected items whatever else is added to it, and
        one of k + 2·reserves still yields all reserves after the k selected are removed.
        """
        return max(2 * self.k, self.k + 2 * self.reserves) + self.taken
