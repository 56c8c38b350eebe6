"""Recorded answers, played as if people were being asked now."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.cases import Cases
from dissensus.planning.estimate import Ledger
from dissensus.planning.planner import Batch, Planner

SMALLEST, GROWTH = 2, 0.1
"""Batches have at least so many questions, and this share of the answers so far."""


@dataclass(frozen=True)
class Recorded:
    """Whether each case is right on each of its items, case after case; `start` has the first entry of each case.

    Items of a pattern are in the same order in all of its cases.
    """

    right: Bool[Array, " n"]
    start: Int[Array, " c"]

    def accuracies(self, cases: Cases) -> Float[Array, " M"]:
        """The share of the pool on which each model is right."""
        total = np.add.reduceat(self.right.astype(np.int64), self.start)
        return np.asarray(total @ cases.voters / cases.pool)

    def shuffled(self, planner: Planner, rng: np.random.Generator) -> Recorded:
        """Items in a random order, the same for all cases that are asked together."""
        keys = np.empty(len(self.right))
        for first, last in zip(planner.start, np.append(planner.start[1:], len(planner.cases)), strict=True):
            items = int(planner.cases.items[planner.cases.pattern[first]])
            order = rng.random(items)
            for case in range(first, last):
                keys[self.start[case] : self.start[case] + items] = case + order
        return Recorded(self.right[np.argsort(keys, kind="stable")], self.start)


def recorded(cases: Cases, patterns: Int[Array, " N"], right: Bool[Array, "M N"]) -> Recorded:
    """What each model's being `right` on each item says about the cases, if items have these patterns."""
    order = np.argsort(patterns, kind="stable")
    models = cases.voters.argmax(axis=1)  # all voters of a case are right or wrong together
    ends = np.cumsum(cases.items)
    found = [
        right[model, order[ends[own] - cases.items[own] : ends[own]]]
        for model, own in zip(models.tolist(), cases.pattern.tolist(), strict=True)
    ]
    sizes = cases.items[cases.pattern]
    return Recorded(np.concatenate(found), np.cumsum(sizes) - sizes)


@dataclass(frozen=True)
class Look:
    """What is known after so many answers."""

    answers: int
    known: Accuracies
    ledger: Ledger
    planner: Planner
    right: Int[Array, " c"]
    """How often each case was right."""
    asked: Int[Array, " q"]
    """How often each question was asked."""

    @property
    def left(self) -> Int[Array, " c"]:
        """How many items of each case have no answer yet."""
        return (self.planner.items - self.asked)[self.planner.group]


def sizes_of_batches(budgets: Sequence[int]) -> list[int]:
    """The numbers of answers after which to plan again: batches grow with what is known, and end at each budget."""
    ends, last = [], 0
    for budget in sorted(set(budgets)):
        while last < budget:
            last = min(last + max(SMALLEST, int(last * GROWTH)), budget)
            ends.append(last)
    return ends


def replay(planner: Planner, truth: Recorded, budgets: Sequence[int], seed: int = 0) -> Iterator[Look]:
    """Ask as the planner says, and look at what is known at each of the budgets; ends when nothing is left to ask."""
    rng = np.random.default_rng(seed)
    truth = truth.shuffled(planner, rng)
    right, asked = np.zeros(len(planner.cases), np.int64), np.zeros(len(planner.start), np.int64)
    batches: list[Batch] = []
    answers: list[Float[Array, " k"]] = []
    known = planner.look(right, asked)
    done = 0
    for end in sizes_of_batches(budgets):
        batch = planner.batch(known, planner.items - asked, end - done, rng)
        turn = asked[batch.question] + turns(batch.question)
        told = truth.right[truth.start[batch.case] + turn[batch.draw]].astype(np.float64)
        np.add.at(right, batch.case, told.astype(np.int64))
        np.add.at(asked, batch.question, 1)
        batches.append(batch)
        answers.append(told)
        done += len(batch)
        known = planner.look(right, asked)
        if end in budgets or not (planner.items > asked).any():
            yield Look(done, known, planner.ledger(batches, answers), planner, right.copy(), asked.copy())
        if not (planner.items > asked).any():
            return


def turns(questions: Int[Array, " n"]) -> Int[Array, " n"]:
    """How often each question was drawn before, within the same batch."""
    order = np.argsort(questions, kind="stable")
    sorted_questions = questions[order]
    begins = np.flatnonzero(np.diff(sorted_questions, prepend=-1))
    turns = np.empty(len(questions), np.int64)
    turns[order] = np.arange(len(questions)) - np.repeat(begins, np.diff(np.append(begins, len(questions))))
    return turns
