"""One round given its answers, for any task: which rows count, which are open, which were discarded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.records import DISCARDED, GONE, OPEN, Selected

S = TypeVar("S", bound=Selected)

LABELS = 1 << 16
"""An upper bound on the number of labels, which are stored in 16 bits."""


@dataclass(frozen=True)
class RoundQuestions(Generic[S]):
    """The rows of a round as questions: `questions[r]` holds the numbers of the w questions that decide row r.

    At most `k` rows of a group count: the first ones by rank that annotators did not discard. If there are `labels`, at
    most `cap` of these rows share a label in any column; each row states the cap of its group, or all groups have the
    same. A discarded row is counted by its `subject`.
    """

    selection: S
    questions: Int[Array, "Q w"]
    subject: Int[Array, " Q"]
    k: int
    labels: Int[Array, "Q c"] | None = None
    cap: int | Int[Array, " Q"] = 0

    def active(self, discarded: Bool[Array, " Q"], rows: Array | None = None) -> Bool[Array, " Q"]:
        """The rows that count, among all rows or among the whole groups that `rows` selects."""
        every = slice(None) if rows is None else rows
        labels = None if self.labels is None else self.labels[every]
        group, rank = self.selection.group[every], self.selection.rank[every]
        cap = np.broadcast_to(self.cap, len(self.selection))[every]
        return active_rows(group, rank, discarded[every], self.k, labels, cap)

    def discarded(self, state: Int[Array, " q"], lost: Bool[Array, " q"] | None) -> Bool[Array, " Q"]:
        """Rows that annotators could not judge, or whose question is `lost` for another reason."""
        is_out = np.isin(state, DISCARDED)
        is_out = is_out if lost is None else is_out | lost
        return np.any(is_out[self.questions], axis=1)


@dataclass(frozen=True)
class Judged(Generic[S]):
    """`active` rows count; `discarded` ones made room for reserves. A duel counts once `share` of its rows are judged.

    Rows that happen to be answered because of other duels are not a fair sample, hence the required share.
    """

    round_questions: RoundQuestions[S]
    state: Int[Array, " q"]
    discarded: Bool[Array, " Q"]
    active: Bool[Array, " Q"]
    share: float

    @property
    def selection(self) -> S:
        return self.round_questions.selection

    @property
    def given_up(self) -> Bool[Array, " Q"]:
        """Discarded rows that had been needed; reserves that were never needed are not included."""
        return self.discarded & (
            active_before(self.selection.group, self.selection.rank, self.active) < self.round_questions.k
        )

    @property
    def asked(self) -> Bool[Array, " q"]:
        """Questions needed so far: those of active rows, and the answered ones of rows given up."""
        return self._of(self.active) | (self._of(self.given_up) & ~np.isin(self.state, (OPEN, GONE)))

    @property
    def open(self) -> Bool[Array, " q"]:
        """Questions of active rows that still need answers."""
        return self._of(self.active) & (self.state == OPEN)

    @property
    def ended(self) -> Bool[Array, " Q"]:
        """Active rows with all their answers."""
        return self.active & np.all(self.state[self.round_questions.questions] > OPEN, axis=1)

    @property
    def decided(self) -> Bool[Array, " Q"]:
        """Active rows with all their answers, in duels that have reached their share."""
        ended, number = self.ended, np.unique(self.selection.duel, return_inverse=True)[1]
        reached = np.bincount(number, ended) / np.maximum(np.bincount(number, self.active), 1)
        return ended & (reached[number] >= self.share)

    @property
    def place(self) -> Int[Array, " Q"]:
        """1, 2, 3, … for the active rows of each group, by rank; 0 elsewhere."""
        before = active_before(self.selection.group, self.selection.rank, self.active)
        return np.where(self.active, before + 1, 0)

    def with_state(self, state: Int[Array, " q"], lost: Bool[Array, " q"] | None = None) -> Judged[S]:
        """The round with other states; the same as judging it again, but faster if few states change."""
        discarded = self.round_questions.discarded(state, lost)
        group = self.selection.group
        rows = np.isin(group, group[discarded != self.discarded])
        active = self.active.copy()
        active[rows] = self.round_questions.active(discarded, rows)
        return replace(self, state=state, discarded=discarded, active=active)

    def _of(self, rows: Bool[Array, " Q"]) -> Bool[Array, " q"]:
        marked = np.zeros(len(self.state), bool)
        marked[self.round_questions.questions[rows].ravel()] = True
        return marked


def judge(
    round_questions: RoundQuestions[S],
    state: Int[Array, " q"],
    share: float = 0.0,
    lost: Bool[Array, " q"] | None = None,
) -> Judged[S]:
    """Judge a round by the states of its questions."""
    discarded = round_questions.discarded(state, lost)
    return Judged(round_questions, state, discarded, round_questions.active(discarded), share)


def active_rows(
    group: Int[Array, " Q"],
    rank: Int[Array, " Q"],
    discarded: Bool[Array, " Q"],
    k: int,
    labels: Int[Array, "Q c"] | None = None,
    cap: int | Int[Array, " Q"] = 0,
) -> Bool[Array, " Q"]:
    """True for the first `k` rows of each group, by rank, that are not discarded and respect the group's cap together.

    This depends only on the selection and the states; no history is needed when a reserve moves up.
    """
    order = _by_group_and_rank(group, rank)
    order = order[~discarded[order]]
    begins = np.diff(group[order], prepend=-1) != 0
    number, starts = np.cumsum(begins) - 1, np.flatnonzero(begins)
    is_among_first = np.arange(len(order)) - starts[number] < k
    is_crowded = np.zeros(len(starts), bool)
    caps = np.broadcast_to(cap, len(group))[order[starts]]
    for label in labels.T if labels is not None and np.any(caps < k) else ():
        is_crowded |= _is_over(number[is_among_first], label[order[is_among_first]], caps)
    active = np.zeros(len(group), bool)
    active[order[is_among_first & ~is_crowded[number]]] = True
    ends = np.append(starts[1:], len(order))
    for crowded in np.flatnonzero(is_crowded):  # rows depend on each other only here, where the cap applies
        assert labels is not None, "nothing is crowded without labels"
        rows = order[starts[crowded] : ends[crowded]]
        active[rows[_taken(labels[rows].tolist(), k, int(caps[crowded]))]] = True
    return active


def active_before(group: Int[Array, " Q"], rank: Int[Array, " Q"], active: Bool[Array, " Q"]) -> Int[Array, " Q"]:
    """How many active rows of the same group come before each row."""
    order = _by_group_and_rank(group, rank)
    starts = np.flatnonzero(np.diff(group[order], prepend=-1))
    so_far = np.cumsum(active[order]) - active[order]
    before = np.empty(len(group), np.int64)
    before[order] = so_far - np.repeat(so_far[starts], np.diff(starts, append=len(order)))
    return before


def _by_group_and_rank(group: Int[Array, " Q"], rank: Int[Array, " Q"]) -> Int[Array, " Q"]:
    """The order of the rows; selections are usually sorted already, and checking that is faster than sorting."""
    step = np.diff(group)
    if np.all((step > 0) | ((step == 0) & (np.diff(rank) >= 0))):
        return np.arange(len(group))
    return np.lexsort((rank, group))


def _is_over(group: Int[Array, " n"], label: Int[Array, " n"], caps: Int[Array, " G"]) -> Bool[Array, " G"]:
    """True for groups in which some label occurs more often than the group's cap."""
    pairs, times = np.unique(group * LABELS + label, return_counts=True)
    of = pairs // LABELS
    is_over = np.zeros(len(caps), bool)
    is_over[of[times > caps[of]]] = True
    return is_over


def _taken(labels: Sequence[Sequence[int]], k: int, cap: int) -> list[int]:
    """Rows of one group, taken greedily as long as they respect the cap."""
    taken: list[int] = []
    counts: Counter[tuple[int, int]] = Counter()
    for row, sides in enumerate(map(tuple, map(enumerate, labels))):
        if len(taken) < k and all(counts[side] < cap for side in sides):
            taken.append(row)
            counts.update(sides)
    return taken
