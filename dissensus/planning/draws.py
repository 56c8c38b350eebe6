"""What to ask next: questions drawn at random, more often where an answer would decide something.

Every question that is left has a probability above zero, and the probabilities are recorded: that is what makes the
estimate from the draws (`estimate.py`) unbiased, whatever the belief thinks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import PlanningError
from dissensus.planning.accuracy import Accuracies
from dissensus.planning.belief import Belief
from dissensus.planning.cases import Cases

Goal = Literal["order", "best"]
GOALS: tuple[Goal, ...] = get_args(Goal)


@dataclass(frozen=True)
class Shares:
    """How the draws are divided: by what an answer decides, by how unsure it is, evenly, and among agreed labels.

    The last is for labels that all models predict, which count only in accuracies themselves, not in differences.
    Without any of it, differences are estimated as well as before, but accuracies rest on the belief.

    Raises:
        PlanningError: no draws are even, so that some questions might never be drawn.
    """

    decisive: float = 0.67
    unsure: float = 0.2
    even: float = 0.1
    agreed: float = 0.03
    power: float = 1.0
    """Above 1, draws concentrate on the most decisive questions."""

    def __post_init__(self) -> None:
        if min(self.decisive, self.unsure, self.agreed) < 0 or self.even <= 0:
            raise PlanningError("no share of draws may be negative, and some must be even: no question may be left out")


USUAL: dict[Goal, Shares] = {"order": Shares(), "best": Shares(0.8, 0.1, 0.07, 0.03, power=2.0)}
"""On simulated pools and half of the ImageNet classifiers, powers 1 to 4 were equally good within noise."""


def decisiveness(belief: Belief, known: Accuracies, goal: Goal) -> Float[Array, " q"]:
    """By how much one answer to each question is expected to reduce the variances of the differences that matter.

    For the order these are the differences between all models, each weighted by how close it is: exp(−z²/2) divided by
    its variance, with z the difference in standard deviations. For the best model a pair counts as much as both of its
    models are likely to be the best.
    """
    spread = np.diag(known.covariance)
    variance = np.maximum(spread[:, None] + spread - 2 * known.covariance, 1e-18)
    if goal == "best":
        best = known.best(512) + 1e-3
        weights = np.outer(best, best) / variance
    else:
        weights = np.exp(-0.5 * (known.mean[:, None] - known.mean) ** 2 / variance) / variance
    np.fill_diagonal(weights, 0.0)
    laplacian = np.diag(weights.sum(axis=1)) - weights  # v'Lv is the weighted sum of squared differences of v
    values, vectors = np.linalg.eigh(laplacian)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    given, found = belief.regressors, np.zeros(len(belief.regressors.start))
    for probability, share, gain in zip(belief.right, belief.evidence, known.gains, strict=True):
        if share > 0.01:
            moved = gain @ root
            square = given.summed(probability * np.einsum("cr,cr->c", moved, moved))
            mean = given.summed(probability[:, None] * moved)
            found += share * (square - np.einsum("qr,qr->q", mean, mean))
    return np.maximum(found, 0.0)


def probabilities(
    cases: Cases,
    belief: Belief,
    known: Accuracies,
    left: Int[Array, " q"],
    goal: Goal,
    shares: Shares,
    start: Int[Array, " q"],
) -> Float[Array, " q"]:
    """The probability of asking one question of each kind next, summed over its `left` items.

    They sum to one, or to zero if nothing is left that may be drawn.

    `start` has the first case of every question: a label, or all labels of an item.
    """
    right = belief.probability
    unsure = np.add.reduceat(right * (1 - right), start)
    is_agreed = cases.is_agreed[start]
    contested = left * ~is_agreed
    decisive = decisiveness(belief, known, goal)
    if len(start) < len(decisive):  # several questions of the belief are asked as one
        decisive = np.add.reduceat(decisive, start)
    decisive = decisive**shares.power
    parts = (
        (shares.decisive, contested * decisive),
        (shares.unsure, contested * unsure),
        (shares.even, contested.astype(np.float64)),
        (shares.agreed, (left * is_agreed).astype(np.float64)),
    )
    found = sum((share * part / part.sum() for share, part in parts if part.sum() > 0), np.zeros(len(left)))
    return np.asarray(found / (found.sum() or 1.0))


@dataclass(frozen=True)
class Drawn:
    """Questions in the order of the draws, and the probability with which each item was drawn at its turn."""

    question: Int[Array, " n"]
    probability: Float[Array, " n"]


def draw(probability: Float[Array, " q"], left: Int[Array, " q"], count: int, rng: np.random.Generator) -> Drawn:
    """Draw `count` items without replacement; all items with the same question are equally likely.

    An item that has been drawn is out, so that later probabilities are relative to what is left. There are fewer draws
    if less is left that has a probability.
    """
    each = np.divide(probability, left, out=np.zeros(len(left)), where=left > 0)
    left = left.copy()
    questions, found = [], []
    for _ in range(min(count, int(left.sum()))):
        mass = each * left
        ends = np.cumsum(mass)
        if ends[-1] <= 0:
            break
        question = int(np.searchsorted(ends, rng.random() * ends[-1], side="right"))
        question = min(question, len(left) - 1)
        questions.append(question)
        found.append(each[question] / ends[-1])
        left[question] -= 1
    return Drawn(np.array(questions, np.int64), np.array(found))
