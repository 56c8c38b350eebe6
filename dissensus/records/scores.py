"""Models that predict scores: pairs selected to falsify a defender, and people's judgements of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.records.columns import Columns, Selected


@dataclass(frozen=True)
class PairSelection(Selected):
    """Pairs of items: alike to the defender (one level of its scale), as different as possible to the attacker.

    `low` and `high` are the items that the attacker scores lowest and highest; scores are on the common scale, 0 to
    100, higher is better. `weight` is the number of items in the defender's level (w of Eq. 2 and 3). `rank` counts
    from 1 within (attacker, defender, level), reserves after the selected pairs.
    """

    within = "level"
    items = ("low", "high")
    stored = (
        "attacker", "defender", "level", "rank", "reserve", "low", "high", "low_position", "high_position", "weight",
        "attacker_low", "attacker_high", "defender_low", "defender_high",
    )  # fmt: skip
    stamps = ("scales", "levels")

    attacker: Int[Array, " Q"]
    defender: Int[Array, " Q"]
    level: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    is_reserve: Bool[Array, " Q"]
    low: Int[Array, " Q"]
    high: Int[Array, " Q"]
    weight: Int[Array, " Q"]
    attacker_low: Float[Array, " Q"]
    attacker_high: Float[Array, " Q"]
    defender_low: Float[Array, " Q"]
    defender_high: Float[Array, " Q"]

    @property
    def difference(self) -> Float[Array, " Q"]:
        """The difference between the two items according to the attacker."""
        return self.attacker_high - self.attacker_low

    @property
    def is_attack(self) -> Bool[Array, " Q"]:
        """Whether the attacker tells the two items further apart than the defender; a level is wide, so it may not."""
        return self.difference > np.abs(self.defender_high - self.defender_low)


@dataclass(frozen=True)
class Attacks(Columns):
    """Judged pairs. `preference` is how much better people find `high` than `low`, −1 to 1.

    `pair` numbers the distinct pairs of items: several duels may have selected the same one. `weight` as in
    `PairSelection`; a bootstrap changes it.
    """

    attacker: Int[Array, " Q"]
    defender: Int[Array, " Q"]
    level: Int[Array, " Q"]
    pair: Int[Array, " Q"]
    weight: Float[Array, " Q"]
    preference: Float[Array, " Q"]


@dataclass(frozen=True)
class AttackMatrices:
    """The results of the attacks of every ordered pair of models; row i is about model i against model j.

    `aggressiveness[i, j]`: i as the attacker of j; `resistance[i, j]`: i as the defender against j; higher is better.
    `attacked` and `defended` are False where nothing was judged; those entries mean nothing.

    For models that predict scores (Eq. 2 and 3 of gMAD), aggressiveness is −1 to 1, negative if people saw the opposite
    of what i predicted; resistance is 0 to 1; the diagonal is zero. For models that predict masks (Eq. 3 and 5 of MAD
    for segmentation), both are ratios above 0; a draw is 1, and so is the diagonal; `resistance[i, j]` is 1 /
    `aggressiveness[j, i]`.
    """

    aggressiveness: Float[Array, "M M"]
    resistance: Float[Array, "M M"]
    attacked: Bool[Array, "M M"]
    defended: Bool[Array, "M M"]
