"""Models that predict masks: how maps are stored, what is selected, and the results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.records.columns import Columns, Selected

VOID = 255
"""Label of a pixel that is left out: 'ignore' in ground truth, 'no prediction' in a prediction."""
MOST_CLASSES = 255
"""Labels are stored in 8 bits, and the last one is VOID."""
BACKGROUND = 0
"""The class that is not a category: it has no group."""


@dataclass(frozen=True)
class Maps:
    """Class maps of several items by one model (or by people), as run lengths packed one after another.

    `data[offsets[n]:offsets[n + 1]]` is the map of item n, row by row: for each run a byte with its label and its
    length as a LEB128 number (seven bits per byte, low bits first). Runs may span rows; neighbouring runs have
    different labels. A map of height 0 is missing.
    """

    data: UInt8[Array, " B"]
    offsets: Int[Array, " N+1"]
    heights: Int[Array, " N"]
    widths: Int[Array, " N"]

    def __len__(self) -> int:
        return len(self.heights)

    def take(self, rows: Int[Array, " n"]) -> Maps:
        """The maps of some items."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        bytes_of_rows = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return Maps(self.data[bytes_of_rows], offsets, self.heights[rows], self.widths[rows])


@dataclass(frozen=True)
class MaskSelection(Selected):
    """Images selected for attacks: those on which the two maps differ most, within one category of the defender.

    `concordance` is S(defender, attacker), `share` the share of pixels that the defender assigns to `category`. `rank`
    counts from 1 within (attacker, defender, category), reserves after the selected; no item occurs twice in a duel,
    that is, among the rows of one (attacker, defender).
    """

    within = "category"
    stored = (
        "attacker", "defender", "category", "label", "rank", "reserve", "item", "position", "concordance", "share",
    )  # fmt: skip
    stamps = ("scales",)

    attacker: Int[Array, " Q"]
    defender: Int[Array, " Q"]
    category: Int[Array, " Q"]
    rank: Int[Array, " Q"]
    is_reserve: Bool[Array, " Q"]
    item: Int[Array, " Q"]
    concordance: Float[Array, " Q"]
    share: Float[Array, " Q"]


@dataclass(frozen=True)
class Contests(Columns):
    """Judged rows of a selection: how well each of the two models agrees with people on an image, 0 to 1.

    `question` numbers what people judged (an image, or two predictions for it): several duels may share the same one.
    `weight` is 1; a bootstrap changes it.
    """

    attacker: Int[Array, " Q"]
    defender: Int[Array, " Q"]
    category: Int[Array, " Q"]
    question: Int[Array, " Q"]
    attacker_score: Float[Array, " Q"]
    defender_score: Float[Array, " Q"]
    weight: Float[Array, " Q"]
