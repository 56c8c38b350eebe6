"""MAD for models that give a class: Algorithms 1 and 2 of the paper, room by room.

* `Selecting`, lines 5–11: for every two models the k items with the largest class distance
* `judge`, line 12: what people said about them; reserves for what they could not judge
* `standings.matrices`, lines 13–14: accuracy and dominance on each duel's own items
* `standings.rank`, line 15: strengths, intervals and rank sets
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt16
from dissensus.labeling import active_rows, questions_of
from dissensus.records import Outcomes, Selection
from dissensus.screening import NO, UNFIT, UNJUDGED, UNSURE, YES
from dissensus.selection import Levels, Partial, Rule, finish, is_settled, merge, scan


def duels_of(models: int, newcomers: int = 0) -> Int[Array, "D 2"]:
    """All pairs of models; with newcomers (the last models) only the pairs that have one: Algorithm 2."""
    pairs = [pair for pair in combinations(range(models), 2) if not newcomers or pair[1] >= models - newcomers]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


@dataclass(frozen=True)
class Selecting:
    """The selection as a reduction over chunks of the pool: scan each, merge in any order, finish."""

    duels: Int[Array, "D 2"]
    levels: Levels
    rule: Rule
    taken: tuple[Int[Array, " n"], ...] = ()

    def scan(self, labels: UInt16[Array, "M N"], first_item: int, known: Partial) -> Partial:
        """Candidates among the items from `first_item` on."""
        return scan(labels, first_item, self.duels, self.levels, self.rule, known)

    def merge(self, one: Partial, other: Partial) -> Partial:
        """Candidates among the items of both."""
        return merge(one, other, self.levels, self.rule)

    def is_settled(self, partial: Partial, first_item: int) -> bool:
        """True where no item from `first_item` on can change the selection."""
        return is_settled(partial, self.levels, first_item)

    def finish(self, partial: Partial) -> Selection:
        """The selected items and reserves of every duel."""
        return finish(partial, self.duels, self.levels, self.rule, self.taken)


@dataclass(frozen=True)
class Judged:
    """One round after its answers: which rows of the selection count, and what came of them.

    `questions[q]` is (item, label); `row_questions[r]` are the two questions of row r; at most `k` rows of a duel and
    `cap` of one label are active. `unfit` are items that were found unfit in any round. A duel counts once `share` of
    its active rows are judged: those that other duels happened to ask before are no fair sample of it.
    """

    k: int
    cap: int
    share: float
    unfit: Int[Array, " n"]
    selection: Selection
    questions: Int[Array, "q 2"]
    row_questions: Int[Array, "Q 2"]
    verdicts: Int[Array, " q"]
    discarded: Bool[Array, " Q"]
    active: Bool[Array, " Q"]

    @property
    def asked(self) -> Bool[Array, " q"]:
        """Questions that had or have to be answered: those of active rows, and of discarded rows that came before."""
        asked = np.zeros(len(self.questions), bool)
        asked[self.row_questions[self.active].ravel()] = True
        of_given_up = self.row_questions[self.given_up].ravel()
        asked[of_given_up[self.verdicts[of_given_up] != UNJUDGED]] = True
        return asked

    @property
    def given_up(self) -> Bool[Array, " Q"]:
        """Discarded rows whose turn had come; reserves that nobody had to ask about are none of them."""
        return self.discarded & (active_before(self.selection, self.active) < self.k)

    @property
    def open(self) -> Bool[Array, " q"]:
        """Questions of active rows that still need answers."""
        waiting = np.zeros(len(self.questions), bool)
        waiting[self.row_questions[self.active].ravel()] = True
        return waiting & (self.verdicts == UNJUDGED)

    @property
    def decided(self) -> Bool[Array, " Q"]:
        """Active rows with two verdicts, in duels that count."""
        decided = self.active & np.isin(self.verdicts[self.row_questions], (YES, NO)).all(axis=1)
        return decided & (self._judged_share(decided) >= self.share)

    def outcomes(self) -> Outcomes:
        """Who was right on each row that is decided."""
        given, decided = self.verdicts[self.row_questions], self.decided
        place = place_in_duel(self.selection, self.active)
        return Outcomes(
            self.selection.first[decided],
            self.selection.second[decided],
            self.selection.item[decided],
            place[decided],
            given[decided, 0] == YES,
            given[decided, 1] == YES,
        )

    def _judged_share(self, decided: Bool[Array, " Q"]) -> Float[Array, " Q"]:
        """Share of the active rows of each row's duel that are decided."""
        _, duel = np.unique(_duel(self.selection), return_inverse=True)
        active = np.bincount(duel, self.active)
        return (np.bincount(duel, decided) / np.maximum(active, 1))[duel]

    def with_verdicts(self, verdicts: Int[Array, " q"]) -> Judged:
        """The round as it would be with other verdicts; the same as judging it anew, but quicker for a few changes."""
        discarded = discarded_rows(self.selection, self.questions, self.row_questions, verdicts, self.unfit)
        duel = _duel(self.selection)
        rows = np.isin(duel, duel[discarded != self.discarded])
        active = self.active.copy()
        active[rows] = active_rows(self.selection.take(rows), discarded[rows], self.k, self.cap)
        return replace(self, verdicts=verdicts, discarded=discarded, active=active)


def judge(
    selection: Selection,
    verdicts: Int[Array, " q"],
    k: int,
    cap: int,
    share: float = 0.0,
    unfit: Sequence[int] = (),
    asked: tuple[Int[Array, "q 2"], Int[Array, "Q 2"]] | None = None,
) -> Judged:
    """What the verdicts on a round's questions (in the order of `questions_of`, which may be given) come to."""
    questions, row_questions = questions_of(selection) if asked is None else asked
    unfit_items = np.array(sorted(unfit), np.int64)
    discarded = discarded_rows(selection, questions, row_questions, verdicts, unfit_items)
    active = active_rows(selection, discarded, k, cap)
    return Judged(k, cap, share, unfit_items, selection, questions, row_questions, verdicts, discarded, active)


def discarded_rows(
    selection: Selection,
    questions: Int[Array, "q 2"],
    row_questions: Int[Array, "Q 2"],
    verdicts: Int[Array, " q"],
    unfit: Int[Array, " n"],
) -> Bool[Array, " Q"]:
    """Rows that people could not judge.

    An item that is unfit is out of every duel; one on which people are unsure is out of the duels that asked.
    """
    unfit_items = np.union1d(unfit, questions[verdicts == UNFIT, 0])
    unsure = (verdicts[row_questions] == UNSURE).any(axis=1)
    return unsure | np.isin(selection.item, unfit_items)


def place_in_duel(selection: Selection, active: Bool[Array, " Q"]) -> Int[Array, " Q"]:
    """1, 2, 3, … for the active rows of each duel, by rank; 0 elsewhere."""
    return np.where(active, active_before(selection, active) + 1, 0)


def active_before(selection: Selection, active: Bool[Array, " Q"]) -> Int[Array, " Q"]:
    """How many active rows of the same duel stand before each row."""
    order = np.lexsort((selection.rank, selection.second, selection.first))
    starts = np.flatnonzero(np.diff(_duel(selection)[order], prepend=-1))
    active_in_order = active[order].astype(np.int64)
    so_far = np.cumsum(active_in_order) - active_in_order
    before = np.empty(len(selection), np.int64)
    before[order] = so_far - np.repeat(so_far[starts], np.diff(starts, append=len(order)))
    return before


def _duel(selection: Selection) -> Int[Array, " Q"]:
    return selection.first * (1 << 32) + selection.second


def together(rounds: Sequence[Outcomes]) -> Outcomes:
    """The outcomes of several rounds; the places of a duel's items count on from round to round."""
    names = Outcomes.__dataclass_fields__
    whole = Outcomes(*(np.concatenate([getattr(part, name) for part in rounds]) for name in names))
    number = np.repeat(np.arange(len(rounds)), [len(part) for part in rounds])
    place = whole.rank.copy()
    for later in range(1, len(rounds)):
        for one, other in np.unique(np.stack([rounds[later].first, rounds[later].second], axis=1), axis=0).tolist():
            duel = (whole.first == one) & (whole.second == other)
            place[duel & (number == later)] += place[duel & (number < later)].max(initial=0)
    return replace(whole, rank=place)
