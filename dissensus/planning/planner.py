"""One round of asking after another: belief, accuracies, the next batch, and what its answers add to the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import PlanningError
from dissensus.planning.accuracy import Accuracies, accuracies
from dissensus.planning.belief import Belief, believe, regressors
from dissensus.planning.cases import Cases
from dissensus.planning.draws import USUAL, Goal, Shares, draw, probabilities
from dissensus.planning.estimate import Ledger

NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Batch:
    """Questions drawn together: what was drawn, how likely, and what the belief expected then.

    `question` and `probability` have one entry per draw; `draw`, `case` and `predicted` one per label of each draw.
    Labels of questions that were drawn before, but not yet answered, are listed too, as draw −1: their answers correct
    what was expected. `expected` are all models' totals; `variance` is the forecast of the variance of one draw's
    estimate.
    """

    question: Int[Array, " n"]
    probability: Float[Array, " n"]
    draw: Int[Array, " k"]
    case: Int[Array, " k"]
    predicted: Float[Array, " k"]
    expected: Float[Array, " M"]
    variance: float

    def __len__(self) -> int:
        return len(self.question)


@dataclass
class Planner:
    """Plans the questions of one pool.

    `is_whole` asks about all labels of an item at once; `is_exclusive` believes that at most one of them is right.
    """

    cases: Cases
    is_whole: bool = False
    is_exclusive: bool = False
    goal: Goal = "order"
    shares: Shares | None = None
    """How draws are divided; what is usual for the goal if None."""
    belief: Belief | None = field(default=None, init=False)
    """After the last `look`."""

    def __post_init__(self) -> None:
        if self.is_exclusive and not self.is_whole:
            raise PlanningError("labels that exclude each other must be asked about together: set is_whole")
        self.regressors = regressors(self.cases, self.is_exclusive)
        self.group = self.cases.pattern if self.is_whole else np.arange(len(self.cases))
        """The question that each case belongs to."""
        self.start = np.flatnonzero(np.diff(self.group, prepend=-1))
        self.items = self.cases.items[self.cases.pattern[self.start]]
        """The number of items that each question can be asked about."""

    def look(self, right: Int[Array, " c"], answered: Int[Array, " q"]) -> Accuracies:
        """The accuracies after `answered` answers to each question, `right` of them for each case."""
        told = np.asarray(answered)[self.group]
        self.belief = believe(self.regressors, right, told[self.regressors.start], self.belief)
        return accuracies(self.cases, self.belief, right, self.items[self.group] - told)

    def batch(
        self,
        known: Accuracies,
        left: Int[Array, " q"],
        count: int,
        rng: np.random.Generator,
        pending: Int[Array, " p"] = NOTHING,
    ) -> Batch:
        """Draw the next questions, given what `look` returned last and how many items are `left` for each question.

        `pending` are the questions that are out: drawn, not answered, and no longer left.
        """
        belief = self._belief
        shares = self.shares or USUAL[self.goal]
        chance = probabilities(self.cases, belief, known, left, self.goal, shares, self.start)
        found = draw(chance, left, count, rng)
        number, case = self.cases_of(found.question)
        _, waiting = self.cases_of(pending)
        draws, cases = np.append(np.full(len(waiting), -1), number), np.append(waiting, case)
        expected, variance = known.mean * self.cases.pool, self._variance(chance, left)
        return Batch(found.question, found.probability, draws, cases, belief.probability[cases], expected, variance)

    def cases_of(self, questions: Int[Array, " n"]) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
        """The cases of some questions: which of the questions each is about, and its number."""
        sizes = np.diff(np.append(self.start, len(self.cases)))[questions]
        number = np.repeat(np.arange(len(questions)), sizes)
        within = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return number, self.start[questions][number] + within

    @property
    def _belief(self) -> Belief:
        assert self.belief is not None, "look first"
        return self.belief

    def _variance(self, chance: Float[Array, " q"], left: Int[Array, " q"]) -> float:
        """The forecast of the variance of one draw's estimate, summed over models around their mean."""
        centred = self.cases.voters - self.cases.voters.mean(axis=1, keepdims=True)
        right = self._belief.probability
        square = np.add.reduceat(right * (centred**2).sum(axis=1), self.start)
        if self.is_exclusive:
            square -= (np.add.reduceat(right[:, None] * centred, self.start, axis=0) ** 2).sum(axis=1)
        else:
            square -= np.add.reduceat(right**2 * (centred**2).sum(axis=1), self.start)
        is_left = (left > 0) & (chance > 0)  # agreed labels may have no chance
        return float(np.sum(left[is_left] ** 2 * square[is_left] / chance[is_left]))

    def ledger(self, batches: Sequence[Batch], answers: Sequence[Float[Array, " k"]]) -> Ledger:
        """The ledger of all draws that are answered: 1 where a label is right, 0 where not, NaN if not answered.

        An answer that decides nothing should be what was predicted: it then changes nothing.
        """
        parts = [self._entries(number, *one) for number, one in enumerate(zip(batches, answers, strict=True))]
        empty = np.zeros((0, self.cases.models))
        columns = zip((empty, empty, *[np.zeros(0)] * 3), *parts, strict=True)
        expected, change, probability, variance, number = map(np.concatenate, columns)
        return Ledger(expected, change, probability, variance, number.astype(np.int64), self.cases.pool)

    def _entries(self, number: int, batch: Batch, told: Float[Array, " k"]) -> tuple[Float[Array, n * M], ...]:
        change = np.where(np.isnan(told), 0.0, told - batch.predicted)[:, None] * self.cases.voters[batch.case]
        is_drawn = batch.draw >= 0
        moved = np.zeros((len(batch), self.cases.models))
        np.add.at(moved, batch.draw[is_drawn], change[is_drawn])
        is_told = np.ones(len(batch), bool)
        is_told[batch.draw[is_drawn & np.isnan(told)]] = False
        expected = batch.expected + change[~is_drawn].sum(axis=0)
        rows = int(is_told.sum())
        return (
            np.tile(expected, (rows, 1)),
            moved[is_told],
            batch.probability[is_told],
            np.full(rows, batch.variance),
            np.full(rows, float(number)),
        )
