"""When is a label right? A Bayesian logistic model of the cases, fitted to the answers so far.

A question offers one label or several, and 'none of them': with one label this is logistic regression, with several it
is a multinomial logit in which labels exclude each other. The logit of a label is linear in its features; models and,
if there are few classes, pairs of a model and a class have effects of their own, shrunk towards zero. How strongly is
not estimated but averaged over a grid of spreads, each with the weight of its evidence: with few answers the best
spread alone would be too sure of itself. Posteriors are normal approximations around the mode (Laplace).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csr_array
from scipy.special import expit

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import PlanningError
from dissensus.planning.cases import FEW_CLASSES, Cases, features

WIDE = 2.0
"""Standard deviation of the prior of the features' weights."""
SPREADS = ((0.1, 0, 0), (0.3, 0, 0), (1.0, 0, 0), (3.0, 0, 0))
"""Standard deviations of the effects of models, of classes, and of models within classes; 0 leaves them out."""
NARROW = 4.0
"""How much likelier than each of the others the first spread is beforehand: most often, features say nearly all."""
SPREADS_OF_CLASSES = (*SPREADS, (0.3, 0.3, 0.3), (0.3, 1.0, 1.0))
STEPS, CLOSE = 50, 1e-6
NEGLIGIBLE = 1e-3
"""Spreads with less of the evidence than this do not count."""


@dataclass(frozen=True)
class Regressors:
    """The columns of the regression, one row per case, and what is known about their weights beforehand.

    `precisions` has one row per spread, with infinity for columns that the spread leaves out; `odds` says how likely
    each spread is beforehand. `group` numbers the questions that the cases belong to: the case itself, or its pattern
    if labels exclude each other.
    """

    columns: Float[Array, "c f"]
    precisions: Float[Array, "g f"]
    odds: Float[Array, " g"]
    start: Int[Array, " q"]
    group: Int[Array, " c"]

    @property
    def is_exclusive(self) -> bool:
        """Whether at most one label of an item is right."""
        return len(self.start) < len(self.group)

    def kept(self, spread: int) -> Bool[Array, " f"]:
        """The columns that a spread does not leave out."""
        return np.isfinite(self.precisions[spread])

    def summed(self, values: Float[Array, "c n"]) -> Float[Array, "q n"]:
        """Sums over the cases of each question."""
        return np.asarray(self._sums @ values) if self.is_exclusive else values

    @cached_property
    def _sums(self) -> csr_array:
        """The matrix that sums over the cases of each question: much faster than `reduceat` for short rows."""
        cases = len(self.group)
        return csr_array((np.ones(cases), np.arange(cases), np.append(self.start, cases)))

    def covariance(
        self,
        probability: Float[Array, " c"],
        times: Float[Array, " c"],
        first: Float[Array, "c n"],
        second: Float[Array, "c k"],
    ) -> Float[Array, "n k"]:
        """The covariance of two weighted sums of answers, each question counted so many `times`."""
        if not self.is_exclusive:
            return (first * (probability * (1 - probability) * times)[:, None]).T @ second
        one, other = (self.summed(values * probability[:, None]) for values in (first, second))
        together = (one * times[self.start][:, None]).T @ other
        return (first * (probability * times)[:, None]).T @ second - together


def regressors(cases: Cases, is_exclusive: bool) -> Regressors:
    """The features of all cases, an effect per model and, with few classes, per class and per model and class."""
    own = features(cases)
    models = cases.voters - cases.voters.mean(axis=1, keepdims=True)
    blocks, spreads = [models], np.array(SPREADS, np.float64)
    if cases.is_named and cases.vote.max() < FEW_CLASSES:
        classes = np.eye(int(cases.vote.max()) + 1)[cases.vote]
        both = (models[:, :, None] * classes[:, None, :]).reshape(len(cases), -1)
        blocks += [classes - classes.mean(axis=0), both[:, both.any(axis=0)]]
        spreads = np.array(SPREADS_OF_CLASSES)
    with np.errstate(divide="ignore"):
        narrow = [np.repeat(spreads[:, [number]] ** -2, block.shape[1], axis=1) for number, block in enumerate(blocks)]
    precisions = np.hstack([np.full((len(spreads), own.shape[1]), WIDE**-2), *narrow])
    odds = np.append(NARROW, np.ones(len(spreads) - 1))
    group = cases.pattern if is_exclusive else np.arange(len(cases))
    return Regressors(np.hstack([own, *blocks]), precisions, odds, np.flatnonzero(np.diff(group, prepend=-1)), group)


@dataclass(frozen=True)
class Belief:
    """How likely every case is right, by spread, with the weights of the spreads: 0 for those that do not count.

    `weights` (of the columns) and `factors` (Cholesky factors of the Hessians) are those of each spread's mode.
    """

    regressors: Regressors
    right: Float[Array, "g c"]
    evidence: Float[Array, " g"]
    weights: Float[Array, "g f"]
    factors: tuple[tuple[Float[Array, "f f"], bool], ...]

    @property
    def probability(self) -> Float[Array, " c"]:
        """How likely each case is right, averaged over the spreads."""
        return self.evidence @ self.right


def believe(given: Regressors, right: Int[Array, " c"], asked: Int[Array, " q"], start: Belief | None = None) -> Belief:
    """The posterior after `asked` answers to each question, of which `right` chose each case.

    `start` is an earlier belief to start the search from; the result does not depend on it.

    Raises:
        PlanningError: no mode was found.
    """
    told = np.flatnonzero(np.asarray(asked)[given.group] > 0)
    answers = _Answers.of(given, told, right, asked)
    weights, factors, evidence = [], [], []
    for number, precision in enumerate(given.precisions):
        kept, mode = given.kept(number), np.zeros(len(precision))
        begin = mode[kept] if start is None else start.weights[number, kept]
        mode[kept], factor, log_evidence = _mode(answers.take(kept), precision[kept], begin)
        weights.append(mode)
        factors.append(factor)
        evidence.append(log_evidence)
    share = given.odds * np.exp(np.array(evidence) - max(evidence))
    share = np.where(share < NEGLIGIBLE * share.sum(), 0.0, share)
    probability = np.zeros((len(share), len(given.columns)))
    for number in np.flatnonzero(share).tolist():
        probability[number] = _probabilities(given.columns @ weights[number], given.start, given.group)[0]
    return Belief(given, probability, share / share.sum(), np.array(weights), tuple(factors))


@dataclass(frozen=True)
class _Answers:
    """The answered questions: their columns, how often each case was chosen, how often each question was asked."""

    columns: Float[Array, "a f"]
    right: Float[Array, " a"]
    asked: Float[Array, " n"]
    start: Int[Array, " n"]
    group: Int[Array, " a"]

    @staticmethod
    def of(given: Regressors, told: Int[Array, " a"], right: Int[Array, " c"], asked: Int[Array, " q"]) -> _Answers:
        questions, group = np.unique(given.group[told], return_inverse=True)
        start = np.flatnonzero(np.diff(group.ravel(), prepend=-1))
        return _Answers(
            given.columns[told],
            np.asarray(right)[told].astype(np.float64),
            np.asarray(asked)[questions].astype(np.float64),
            start,
            group.ravel(),
        )

    def take(self, columns: Bool[Array, " f"]) -> _Answers:
        return self if columns.all() else replace(self, columns=self.columns[:, columns])

    def loss(self, weights: Float[Array, " f"]) -> tuple[float, Float[Array, " a"]]:
        """The negative log-likelihood, and the probability of every case."""
        logits = self.columns @ weights
        probability, total = _probabilities(logits, self.start, self.group)
        return float(self.asked @ total - self.right @ logits), probability

    def derivatives(self, probability: Float[Array, " a"]) -> tuple[Float[Array, " f"], Float[Array, "f f"]]:
        """Gradient and Hessian of the loss."""
        expected = probability * self.asked[self.group]
        weighted = self.columns * expected[:, None]
        hessian = weighted.T @ self.columns
        if len(self.asked):
            share = np.add.reduceat(self.columns * probability[:, None], self.start, axis=0)
            hessian -= (share * self.asked[:, None]).T @ share
        return self.columns.T @ (expected - self.right), hessian


def _probabilities(
    logits: Float[Array, " a"], start: Int[Array, " n"], group: Int[Array, " a"]
) -> tuple[Float[Array, " a"], Float[Array, " n"]]:
    """Probability of each case against the others of its question and none, and the log of the normaliser."""
    if len(start) == len(group):
        return expit(logits), np.logaddexp(0, logits)
    most = np.maximum(np.maximum.reduceat(logits, start), 0.0)
    odds = np.exp(logits - most[group])
    total = np.add.reduceat(odds, start) + np.exp(-most)
    return odds / total[group], most + np.log(total)


def _mode(
    answers: _Answers, precision: Float[Array, " f"], weights: Float[Array, " f"]
) -> tuple[Float[Array, " f"], tuple[Float[Array, "f f"], bool], float]:
    """The mode by Newton's method with halved steps, the factor of its Hessian, and the log evidence."""

    def penalised(weights: Float[Array, " f"]) -> tuple[float, Float[Array, " a"]]:
        loss, probability = answers.loss(weights)
        return loss + 0.5 * float(precision @ weights**2), probability

    loss, probability = penalised(weights)
    for _ in range(STEPS):
        gradient, hessian = answers.derivatives(probability)
        gradient = gradient + precision * weights
        hessian[np.diag_indices_from(hessian)] += precision
        factor = cho_factor(hessian)
        step = cho_solve(factor, gradient)
        decrease = float(gradient @ step)
        if decrease < CLOSE:
            log_determinant = 2 * float(np.log(np.diag(factor[0])).sum())
            return weights, factor, -loss + 0.5 * (float(np.log(precision).sum()) - log_determinant)
        length = 1.0
        while True:
            ahead, ahead_probability = penalised(weights - length * step)
            if ahead <= loss - 1e-4 * length * decrease or length < 1e-6:
                break
            length /= 2
        weights, loss, probability = weights - length * step, ahead, ahead_probability
    raise PlanningError("the model of which labels are right did not converge: report this as a bug")
