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
from dissensus.planning.estimate import Ledger, differences

NOTHING = np.zeros(0, np.int64)


@dataclass(frozen=True)
class Batch:
    """Questions drawn together: what was drawn, how likely, and what the belief expected then.

    `question` and `probability` have one entry per draw; `draw`, `case` and `predicted` one per label of each draw.
    Labels that were asked about before are listed too, as draw −1: what was expected of them is corrected if their
    verdict comes, or changes, later. `expected` are all models' totals; `forecast` is the covariance that the belief
    expects of the totals that one draw estimates.
    """

    question: Int[Array, " n"]
    probability: Float[Array, " n"]
    draw: Int[Array, " k"]
    case: Int[Array, " k"]
    predicted: Float[Array, " k"]
    expected: Float[Array, " M"]
    forecast: Float[Array, "M M"]

    def __len__(self) -> int:
        return len(self.question)


@dataclass
class Planner:
    """Plans the questions of one pool.

    `is_whole` asks about all labels of an item at once, unless these are more than `most`; `is_exclusive` believes that
    at most one of them is right.

    Raises:
        PlanningError: labels exclude each other, but are asked about one by one.
    """

    cases: Cases
    is_whole: bool = False
    is_exclusive: bool = False
    goal: Goal = "order"
    shares: Shares | None = None
    """How draws are divided; what is usual for the goal if None."""
    most: int | None = None
    """Items with more labels than this are asked about label by label."""
    belief: Belief | None = field(default=None, init=False)
    """After the last `look`."""

    def __post_init__(self) -> None:
        if self.is_exclusive and (not self.is_whole or self.most is not None):
            raise PlanningError(
                "labels that exclude each other can only be planned if items are asked about as a whole"
            )
        self.regressors = regressors(self.cases, self.is_exclusive)
        is_first = np.ones(len(self.cases), bool)
        if self.is_whole:
            most = len(self.cases) if self.most is None else self.most
            is_first = (np.diff(self.cases.pattern, prepend=-1) > 0) | (self.cases.labels > most)
        self.start = np.flatnonzero(is_first)
        self.group = np.cumsum(is_first) - 1
        """The question that each case belongs to."""
        self.items = self.cases.items[self.cases.pattern[self.start]]
        """The number of items that each question can be asked about."""

    def look(self, right: Int[Array, " c"], answered: Int[Array, " q"] | Int[Array, " c"]) -> Accuracies:
        """The accuracies after `answered` answers to each question, `right` of them for each case.

        Unless labels exclude each other, there may be a number of answers for each case instead.
        """
        told = self.per_case(answered)
        self.belief = believe(self.regressors, right, told[self.regressors.start], self.belief)
        return accuracies(self.cases, self.belief, right, self.items[self.group] - told)

    def per_case(self, answered: Int[Array, " q"] | Int[Array, " c"]) -> Int[Array, " c"]:
        """The number of answers about each case, given that or the number of answers to each question."""
        told = np.asarray(answered)
        return told if len(told) == len(self.cases) else told[self.group]

    def batch(
        self,
        known: Accuracies,
        left: Int[Array, " q"],
        count: int,
        rng: np.random.Generator,
        pending: Int[Array, " p"] = NOTHING,
    ) -> Batch:
        """Draw the next questions, given what `look` returned last and how many items are `left` for each question.

        `pending` are the cases that were asked about before and are no longer left.
        """
        belief, chance = self._belief, self.chance(known, left)
        found = draw(chance, left, count, rng)
        number, case = self.cases_of(found.question)
        draws, cases = np.append(np.full(len(pending), -1), number), np.append(pending, case)
        expected, forecast = known.mean * self.cases.pool, self.forecast(chance, left)
        return Batch(found.question, found.probability, draws, cases, belief.probability[cases], expected, forecast)

    def chance(self, known: Accuracies, left: Int[Array, " q"]) -> Float[Array, " q"]:
        """The probability of drawing each question next, summed over its `left` items."""
        shares = self.shares or USUAL[self.goal]
        return probabilities(self.cases, self._belief, known, left, self.goal, shares, self.start)

    def variance(self, known: Accuracies, left: Int[Array, " q"]) -> float:
        """The variance of what one draw says about a difference between two models, forecast, averaged over all pairs.

        It takes as many draws for an interval of some length as this is large: of two ways to ask, the one with half
        the variance needs half the questions.
        """
        apart = differences(self.forecast(self.chance(known, left), left))
        models = self.cases.models
        return float(apart.sum() / max(models * (models - 1), 1))

    def cases_of(self, questions: Int[Array, " n"]) -> tuple[Int[Array, " k"], Int[Array, " k"]]:
        """The cases of some questions: which of the questions each is about, and its number."""
        sizes = self.sizes[questions]
        number = np.repeat(np.arange(len(questions)), sizes)
        within = np.arange(len(number)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        return number, self.start[questions][number] + within

    @property
    def sizes(self) -> Int[Array, " q"]:
        """The number of labels of each question."""
        return np.diff(np.append(self.start, len(self.cases)))

    @property
    def _belief(self) -> Belief:
        assert self.belief is not None, "look first"
        return self.belief

    def forecast(self, chance: Float[Array, " q"], left: Int[Array, " q"]) -> Float[Array, "M M"]:
        """The covariance of the totals that one draw estimates, if the belief is right: see `estimate.py`.

        A question with `left` items and `chance` in all has items of probability π = chance / left each, so that its
        items contribute left · (covariance of its answers) · π / π².
        """
        voters, right = self.cases.voters.astype(np.float64), self._belief.probability
        weight = np.divide(
            left.astype(np.float64) ** 2, chance, out=np.zeros(len(left)), where=(left > 0) & (chance > 0)
        )
        return self.regressors.covariance(right, weight[self.group], voters, voters)

    def ledger(self, batches: Sequence[Batch], answers: Sequence[Float[Array, " k"]]) -> Ledger:
        """The ledger of all draws that are answered: 1 where a label is right, 0 where not, NaN if not answered.

        An answer that decides nothing should be what was predicted: it then changes nothing.
        """
        parts = [self._entries(number, *one) for number, one in enumerate(zip(batches, answers, strict=True))]
        empty = np.zeros((0, self.cases.models))
        columns = zip((empty, empty, *[np.zeros(0)] * 2), *parts, strict=True)
        expected, change, probability, number = map(np.concatenate, columns)
        forecasts = np.array([batch.forecast for batch in batches]).reshape(-1, *[self.cases.models] * 2)
        return Ledger(expected, change, probability, number.astype(np.int64), forecasts, self.cases.pool)

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
            np.full(rows, float(number)),
        )
