"""Attacks of one model on another: which there are, and which selected rows of them count after the answers."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Bool, Int

JUDGED, UNJUDGED, UNFIT, SCREENED_OUT = 1, 0, -1, -2
"""What became of a question. Screened out: people answered it, and the screening lets none of their answers count."""


def attacks_of(models: int, newcomers: int = 0) -> Bool[Array, "M M"]:
    """True at [attacker, defender] for all ordered pairs; with newcomers (the last models) for those that have one.

    A model that joins M others costs at most 2·M attacks in each level, or in each category.
    """
    is_new = np.arange(models) >= models - newcomers if newcomers else np.ones(models, bool)
    return (is_new[:, None] | is_new) & ~np.eye(models, dtype=bool)


def states_of(
    answered: Int[Array, " q"], unfit: Int[Array, " q"], min_answers: int, unfit_share: float
) -> Int[Array, " q"]:
    """What became of each question, from how many people said something about it and how many found it unfit."""
    state = np.where(answered >= min_answers, JUDGED, UNJUDGED)
    # shares as products: a half must not exceed 0.5 by a rounding error
    state[(unfit > unfit_share * answered * (1 + 1e-12)) & (answered >= min_answers)] = UNFIT
    return state


def had_turn(
    place: Int[Array, " Q"], rank: Int[Array, " Q"], discarded: Bool[Array, " Q"], k: int
) -> Bool[Array, " Q"]:
    """True where fewer than k rows of the same place that people did not discard come before by rank.

    Those that are not discarded themselves are active; a discarded one had its turn and was given up.
    """
    order = np.lexsort((rank, place))
    starts = np.flatnonzero(np.diff(place[order], prepend=-1))
    is_left = ~discarded[order]
    before = np.cumsum(is_left) - is_left
    turn = np.empty(len(place), bool)
    turn[order] = before - np.repeat(before[starts], np.diff(starts, append=len(place))) < k
    return turn


def in_counted_duels(
    duel: Int[Array, " Q"], active: Bool[Array, " Q"], judged: Bool[Array, " Q"], share: float
) -> Bool[Array, " Q"]:
    """True for the judged rows of duels in which at least `share` of the active rows are judged."""
    number = np.unique(duel, return_inverse=True)[1]
    reached = np.bincount(number, judged) / np.maximum(np.bincount(number, active), 1)
    return judged & (reached[number] >= share)


def marked(number: Int[Array, " Q"], rows: Bool[Array, " Q"], questions: int) -> Bool[Array, " q"]:
    """True at the questions of some rows."""
    is_marked = np.zeros(questions, bool)
    is_marked[number[rows]] = True
    return is_marked


def duel_of(attacker: Int[Array, " Q"], defender: Int[Array, " Q"]) -> Int[Array, " Q"]:
    """Every row's duel as one number."""
    return attacker.astype(np.int64) * (1 << 20) + defender


def place_of(duel: Int[Array, " Q"], group: Int[Array, " Q"]) -> Int[Array, " Q"]:
    """Every row's level or category of its duel as one number."""
    return duel * (1 << 20) + group
