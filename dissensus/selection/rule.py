"""How many items a duel gets, and how alike they may be."""

from __future__ import annotations

from dataclasses import dataclass

from dissensus.errors import SelectionError


@dataclass(frozen=True)
class Rule:
    """`k` items per duel and as many `reserves`; at most `cap` of them with one predicted label, for either model.

    Items go by (larger discrepancy, smaller item number). The selected k are taken greedily in that order, each one
    that the cap allows. The reserves are taken in the same way from what is left, with a fresh cap: one that is
    promoted has to fit the cap beside the items it joins. `taken`: the most items that earlier rounds took from one
    of the duels; so many more candidates are kept.
    """

    k: int = 30
    reserves: int = 30
    cap: int = 3
    taken: int = 0

    def __post_init__(self) -> None:
        """Refuse what selects nothing."""
        if self.k < 1 or self.reserves < 0 or self.cap < 1:
            raise SelectionError("k and cap must be at least 1, and reserves at least 0")

    @property
    def depth(self) -> int:
        """How many items of one cell (the same two labels) can be taken: `cap` as selected, `cap` as reserves.

        Items of one cell are equally far apart and block the same labels, so only its first ones ever count.
        """
        return 2 * self.cap + self.taken

    @property
    def enough(self) -> int:
        """Size of a capped set within a prefix of the order, from which on nothing after the prefix can be taken.

        A greedy capped set is maximal, and every maximal set under two partition constraints is at least half as large
        as the largest. So a prefix that holds some capped set of 2k gives k selected whatever else is added to it,
        and one of k + 2·reserves still gives all reserves after the k selected were taken out.
        """
        return max(2 * self.k, self.k + 2 * self.reserves) + self.taken
