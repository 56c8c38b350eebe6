"""MAD for models that give a map: Algorithms 1 and 2 of the paper, room by room.

* lines 2–4, all models on all images, is `predict`
* lines 5–7, who attacks whom, is `duels.attacks_of`; with newcomers only their duels (Algorithm 2, lines 3–5 and 12)
* line 8, the concordance of two maps, is `discrepancy.masks`
* `Selecting`, lines 9–13 (6–10): groups by the defender's categories, the scale constraint, top-K
* `require_groups`: which groups are empty, and why
* `judge`, line 18 (14): what people said of the images; reserves for what they could not judge
* line 19 (15–20), the ratios of Eq. 3 and 5, is `pairwise.ratio_matrices`
* line 20 (21), both global rankings, is `mask_standings.rank_contests`
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.competitions.duels import (
    JUDGED,
    UNFIT,
    UNJUDGED,
    attacks_of,
    duel_of,
    had_turn,
    in_counted_duels,
    marked,
    place_of,
)
from dissensus.errors import SelectionError
from dissensus.records import BACKGROUND, Contests, MaskSelection
from dissensus.selection import (
    CategoryTops,
    Quota,
    finish_categories,
    merge_categories,
    most_taken,
    scan_categories,
)

__all__ = [
    "JUDGED",
    "UNFIT",
    "UNJUDGED",
    "JudgedMasks",
    "Selecting",
    "attacks_of",
    "judge",
    "require_groups",
]

LISTED = 5
"""Groups in a sentence before it says how many others there are."""


@dataclass(frozen=True)
class Selecting:
    """The selection as a reduction over chunks of the pool: scan each, merge in any order, finish."""

    scales: Float[Array, "C 2"]
    """Between which shares of the defender's pixels a category counts (T_min and T_max), ends included."""
    wanted: Bool[Array, "M M"]
    k: int = 1
    reserves: int = 1
    taken: Int[Array, "T 3"] | None = None
    """(attacker, defender, item) of earlier rounds, which are not selected again."""

    @property
    def quota(self) -> Quota:
        """How many images have to be known of each group: taken ones may be among them."""
        return Quota(self.k, self.reserves, most_taken(self.taken))

    def scan(
        self,
        value: Float[Array, "n M M"],
        is_comparable: Bool[Array, "n M M"],
        differs: Bool[Array, "n M M"],
        share: Float[Array, "n M C"],
        first_item: int,
        known: CategoryTops | None = None,
    ) -> CategoryTops:
        """Least concordant images of every group among the items from `first_item` on; rows are defenders."""
        return scan_categories(value, is_comparable, differs, share, first_item, self.scales, self.quota, known)

    def merge(self, one: CategoryTops, other: CategoryTops) -> CategoryTops:
        """Least concordant images among the items of both."""
        return merge_categories(one, other)

    def finish(self, tops: CategoryTops) -> MaskSelection:
        """The k images of every category of every wanted duel, and their reserves.

        Raises:
            SelectionError: nothing can be selected, or nothing that earlier rounds did not take.
        """
        selection = finish_categories(tops, self.wanted, self.taken)
        if len(selection) == 0:
            raise SelectionError("nothing is left to select: add images to the pool, or other models")
        return selection


@dataclass(frozen=True)
class JudgedMasks:
    """One round after its answers: which images count, and what came of them.

    `row_question` numbers what people judge (an image, or two predictions of it), and `state[q]` says what became of
    it. `attacker_score` and `defender_score`, 0 to 1, are read only where the row's question is JUDGED. A duel counts
    once `share` of its active rows are judged.
    """

    selection: MaskSelection
    row_question: Int[Array, " Q"]
    state: Int[Array, " q"]
    attacker_score: Float[Array, " Q"]
    defender_score: Float[Array, " Q"]
    turn: Bool[Array, " Q"]
    """Rows whose turn has come: before them fewer than k of their category are left."""
    share: float

    @property
    def active(self) -> Bool[Array, " Q"]:
        """The first k rows of each (attacker, defender, category) that people did not discard."""
        return self.turn & (self.state[self.row_question] != UNFIT)

    @property
    def given_up(self) -> Bool[Array, " Q"]:
        """Unfit rows whose turn had come: reserves took their place."""
        return self.turn & (self.state[self.row_question] == UNFIT)

    @property
    def asked(self) -> Bool[Array, " q"]:
        """Questions that had or have to be answered: of active rows, and of those given up."""
        return marked(self.row_question, self.turn, len(self.state))

    @property
    def open(self) -> Bool[Array, " q"]:
        """Questions that still need answers."""
        return marked(self.row_question, self.active, len(self.state)) & (self.state == UNJUDGED)

    @property
    def decided(self) -> Bool[Array, " Q"]:
        """Active rows that people have judged, in duels that count."""
        judged = self.active & (self.state[self.row_question] == JUDGED)
        return in_counted_duels(_duel(self.selection), self.active, judged, self.share)

    def contests(self) -> Contests:
        """How well both models did on each row that is decided."""
        rows = np.flatnonzero(self.decided)
        return Contests(
            attacker=self.selection.attacker[rows],
            defender=self.selection.defender[rows],
            category=self.selection.category[rows],
            question=self.row_question[rows],
            attacker_score=self.attacker_score[rows],
            defender_score=self.defender_score[rows],
            weight=np.ones(len(rows)),
        )


def judge(
    selection: MaskSelection,
    row_question: Int[Array, " Q"],
    state: Int[Array, " q"],
    attacker_score: Float[Array, " Q"],
    defender_score: Float[Array, " Q"],
    k: int,
    share: float = 0.0,
) -> JudgedMasks:
    """What the answers to a round's questions come to."""
    place = place_of(_duel(selection), selection.category)
    turn = had_turn(place, selection.rank, state[row_question] == UNFIT, k)
    return JudgedMasks(selection, row_question, state, attacker_score, defender_score, turn, share)


def require_groups(
    tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str], classes: Sequence[str]
) -> list[str]:
    """Sentences about groups without images, one for each cause.

    Raises:
        SelectionError: a defender has no image within the scale in any category, or no duel has an image.
    """
    _require_images(tops, wanted, names)
    defends = np.any(wanted, axis=0)[:, None]
    is_predicted = tops.predicted > 0
    by_anybody = np.any(is_predicted, axis=0)
    differs = np.any((tops.valid > 0) & wanted[:, :, None], axis=0)
    nobody = [classes[label] for label in np.flatnonzero(~by_anybody).tolist() if label != BACKGROUND]
    words = [f"No model predicts {_listed(nobody)}."] if nobody else []
    for empty, reason in (
        (defends & ~is_predicted & by_anybody, "the defender never predicts it"),
        (defends & is_predicted & (tops.in_scale == 0), "its share of the pixels is never within the scale"),
        (defends & (tops.in_scale > 0) & ~differs, "no attacker's map differs from the defender's there"),
    ):
        cells = [f"{classes[y]} of {names[i]}" for i, y in np.argwhere(empty).tolist() if y != BACKGROUND]
        if cells:
            total = f"{len(cells):,} of {int(defends.sum()) * (len(classes) - 1):,} groups (a category of a defender)"
            words.append(f"No image in {total}, since {reason}: {_listed(cells)}.")
    alike = np.argwhere(wanted & (tops.valid.sum(axis=2) == 0)).tolist()
    if alike:
        duels = _listed([f"{names[attacker]} against {names[defender]}" for attacker, defender in alike])
        words.append(f"No image tells the two models apart, so nothing is selected: {duels}.")
    return words


def _require_images(tops: CategoryTops, wanted: Bool[Array, "M M"], names: Sequence[str]) -> None:
    for model in np.flatnonzero(np.any(wanted, axis=0)).tolist():
        if not tops.predicted[model].any():
            raise SelectionError(f"{names[model]} predicts nothing but background: check its maps and its classes")
        if not tops.in_scale[model].any():
            raise SelectionError(
                f"no category of {names[model]} is ever within its scale: set select.scales to pool or none"
            )
    if not tops.valid[wanted].any():
        raise SelectionError(
            "no two models can be told apart: their maps are the same, or cannot be compared, on every image within "
            "the scale; add other models or other images"
        )


def _duel(selection: MaskSelection) -> Int[Array, " Q"]:
    return duel_of(selection.attacker, selection.defender)


def _listed(words: Sequence[str]) -> str:
    """'a, b and 3 others'."""
    if len(words) > LISTED + 1:
        words = [*words[:LISTED], f"{len(words) - LISTED:,} others"]
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last
