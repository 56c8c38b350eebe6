"""From cases to models: how often each model is right on the pool, as far as the belief knows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_solve

from dissensus.arrays import Array, Float, Int
from dissensus.planning.belief import Belief
from dissensus.planning.cases import Cases

SAMPLES = 4000


@dataclass(frozen=True)
class Accuracies:
    """The share of the pool on which each model is right: a normal approximation.

    `gains` says how far one more answer would move each accuracy: for every spread that counts, case and model.
    """

    mean: Float[Array, " M"]
    covariance: Float[Array, "M M"]
    gains: tuple[Float[Array, "c M"], ...]

    def samples(self, count: int, seed: int = 0) -> Float[Array, "S M"]:
        """Accuracies as they might be."""
        values, vectors = np.linalg.eigh(self.covariance)
        values = np.where(
            values > values[-1] * 1e-12, values, 0.0
        )  # rounding must not part models that are surely equal
        noise = np.random.default_rng(seed).standard_normal((count, len(self.mean)))
        return np.asarray(self.mean + noise @ (vectors * np.sqrt(values)).T)

    def best(self, samples: int = SAMPLES, seed: int = 0) -> Float[Array, " M"]:
        """The probability that each model is the best; equal models share it."""
        drawn = self.samples(samples, seed)
        winners = drawn >= drawn.max(axis=1, keepdims=True) - 1e-12
        return (winners / winners.sum(axis=1, keepdims=True)).mean(axis=0)


def accuracies(cases: Cases, belief: Belief, right: Int[Array, " c"], left: Int[Array, " c"]) -> Accuracies:
    """The accuracies after `right` answers for each case, if `left` of its items have not been asked about.

    Two things are uncertain: the weights of the belief, and the labels of the items that are left. Answers are final.
    """
    given, voters = belief.regressors, cases.voters.astype(np.float64)
    times = left.astype(np.float64)
    means, covariances = np.zeros((len(belief.evidence), cases.models)), np.zeros((cases.models, cases.models))
    gains = [np.zeros((0, cases.models))] * len(belief.evidence)
    for number in np.flatnonzero(belief.evidence).tolist():
        probability, columns = belief.right[number], given.columns[:, given.kept(number)]
        means[number] = (right + probability * left) @ voters
        both = given.covariance(probability, times, np.hstack([columns, voters]), voters)
        slope, own = both[: -cases.models], both[-cases.models :]
        shift = cho_solve(belief.factors[number], slope)
        covariances += belief.evidence[number] * (slope.T @ shift + own)
        gains[number] = (columns @ shift + voters) / cases.pool
    mean = belief.evidence @ means
    apart = means - mean
    covariances += (apart * belief.evidence[:, None]).T @ apart
    return Accuracies(mean / cases.pool, covariances / cases.pool**2, tuple(gains))
