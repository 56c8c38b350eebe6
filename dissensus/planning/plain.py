"""Questions at random and plain means: what careful planning has to beat.

Every question is as likely as any other, among all of them or among those on which models disagree. A model's accuracy
is the share of right answers among the questions about its own labels, without any belief about the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float
from dissensus.planning.estimate import Ledger
from dissensus.planning.planner import Planner
from dissensus.planning.replay import Recorded, turns
from dissensus.proportions import wilson

HALF = 0.5
"""What is expected of a label before anybody is asked."""


@dataclass(frozen=True)
class PlainLook:
    """Accuracies after so many answers, the ends of their intervals, and the covariance of their errors."""

    answers: int
    mean: Float[Array, " M"]
    low: Float[Array, " M"]
    high: Float[Array, " M"]
    covariance: Float[Array, "M M"]
    ledger: Ledger


@dataclass(frozen=True)
class _Draws:
    """All draws in their order: how many labels of each model were asked about, and how many were right.

    `labels` is how many labels each model has among the questions that can be drawn.
    """

    asked: Float[Array, "n M"]
    right: Float[Array, "n M"]
    labels: Float[Array, " M"]


def plain_replay(
    planner: Planner,
    truth: Recorded,
    budgets: Sequence[int],
    seed: int = 0,
    is_contested: bool = False,
    level: float = 0.95,
) -> Iterator[PlainLook]:
    """Ask at random, and look at each of the budgets; ends when nothing is left to ask.

    If `is_contested`, only items on which models disagree are asked about. Nothing is then known about the others:
    they count as right in the mean, while intervals reach from all wrong to all right.
    """
    is_open = ~planner.cases.is_agreed[planner.start] if is_contested else np.ones(len(planner.start), bool)
    every, closed = int(planner.items[is_open].sum()), int(planner.items[~is_open].sum())
    draws = _drawn(planner, truth, is_open, max(budgets), seed)
    for budget in sorted(set(budgets)):
        yield _look(draws, min(budget, every), every, closed, planner.cases.pool, level)
        if budget >= every:
            return


def _drawn(planner: Planner, truth: Recorded, is_open: Bool[Array, " q"], most: int, seed: int) -> _Draws:
    """The first draws among the open questions, at most so many."""
    rng = np.random.default_rng(seed)
    truth = truth.shuffled(planner, rng)
    questions = np.repeat(np.arange(len(planner.start)), np.where(is_open, planner.items, 0))
    questions = rng.permutation(questions)[:most]
    number, case = planner.cases_of(questions)
    voters = planner.cases.voters[case].astype(np.float64)
    told = truth.right[truth.start[case] + turns(questions)[number]]
    asked = np.zeros((len(questions), planner.cases.models))
    right = asked.copy()
    np.add.at(asked, number, voters)
    np.add.at(right, number, voters * told[:, None])
    of_case = planner.cases.items[planner.cases.pattern] * is_open[planner.group]
    return _Draws(asked, right, of_case @ planner.cases.voters)


def _look(draws: _Draws, count: int, every: int, closed: int, pool: int, level: float) -> PlainLook:
    asked, right = draws.asked[:count], draws.right[:count]
    answers, hits = asked.sum(axis=0), right.sum(axis=0)
    share = np.divide(hits, answers, out=np.full(len(hits), HALF), where=answers > 0)
    smooth = (hits + 1) / (answers + 2)  # so that the same few answers do not look certain
    scale = draws.labels / np.maximum(answers, 1) / pool
    apart = (right - smooth * asked) * scale
    covariance = apart.T @ apart * (1 - count / every) * count / max(count - 1, 1)
    low, high = _wilson(share, answers, draws.labels, level)
    part = draws.labels / pool
    covariance += np.diag(np.where(answers > 0, 0.0, (HALF * part) ** 2))  # nothing is known about these models
    ledger = Ledger(
        np.tile(HALF * draws.labels, (count, 1)),
        right - HALF * asked,
        1 / (every - np.arange(count)),
        np.zeros(count, np.int64),
        np.zeros((1, len(hits), len(hits))),  # nothing is forecast: all draws have the same weight
        pool,
    )
    return PlainLook(count, share * part + closed / pool, low * part, high * part + closed / pool, covariance, ledger)


def _wilson(
    share: Float[Array, " M"], answers: Float[Array, " M"], labels: Float[Array, " M"], level: float
) -> tuple[Float[Array, " M"], Float[Array, " M"]]:
    """Wilson's interval of a share, for draws without replacement: nothing is uncertain once all labels are asked."""
    left = labels - answers
    count = answers * np.maximum(labels - 1, 1) / np.maximum(left, 1)
    low, high = wilson(share * count, count, level)
    low, high = np.minimum(low, share), np.maximum(high, share)
    return np.where(left > 0, low, share), np.where(left > 0, high, share)
