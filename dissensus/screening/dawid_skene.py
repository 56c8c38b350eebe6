"""Dawid & Skene (1979): the truth of every item and every rater's confusion matrix, estimated jointly by EM."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import cross_counts, require_range

NO_MAYBE_YES = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
"""Three answers about two truths: the object is there or not, and 'maybe' is half a vote for either."""
NO_MAYBE_YES.setflags(write=False)
SCALE = np.array([2, 0, 1, 1])
"""The codes of yes, no, unsure and unfit as rows of that table; 'unfit' answers are removed beforehand."""
SCALE.setflags(write=False)


@dataclass(frozen=True)
class DawidSkene:
    """The estimates for items and raters, with the parameters they were computed from."""

    posterior: Float[Array, "I K"]
    """Probability of each truth; the prior for an item without answers."""
    prior: Float[Array, " K"]
    confusion: Float[Array, "R K L"]
    """Probability that a rater gives answer l if the truth is k."""
    meaning: Float[Array, "L K"]
    answers: Int[Array, " R"]
    """Number of answers by each rater."""
    compared: Int[Array, " R"]
    """How many of them are on items that somebody else also answered; without any, the skill means nothing."""
    iterations: int
    log_likelihood: float
    smoothing: float
    tolerance: float

    @property
    def skill(self) -> Float[Array, " R"]:
        """Probability of the true answer to an item drawn from the prior; 'maybe' counts as half, by its meaning.

        A rater who always gives the same answer has that answer's prior as skill: look at `confusion` too.
        """
        return np.einsum("k,rkl,lk->r", self.prior, self.confusion, self.meaning)


def dawid_skene(
    item: Int[Array, " A"],
    rater: Int[Array, " A"],
    answer: Int[Array, " A"],
    items: int,
    raters: int,
    meaning: Float[Array, "L K"],
    smoothing: float = 4.0,
    tolerance: float = 1e-5,
    max_iterations: int = 20_000,
) -> DawidSkene:
    """Posterior of each item's truth and confusion matrix of each rater, from raters of unequal skill.

    `meaning[l, k]` is the share of a vote that answer l gives to truth k: the identity if answers and truths are the
    same set, `NO_MAYBE_YES` if one answer is not a truth. EM starts from these votes, which also fixes which truth is
    which, and alternates until no posterior changes by more than `tolerance`:

        p_k   ∝ s/K + Σ_i T_ik                                share of each truth
        π_rkl ∝ s g_kl + Σ_(r answered l to i) T_ik           confusion matrix of each rater
        T_ik  ∝ p_k Π_(r answered l to i) π_rkl               posterior of each item

    Here s = `smoothing` is a number of pseudo-answers per rater and truth, half of them right and half random (g), so
    that no rater is taken to be infallible, least of all after three answers. Answers are assumed independent given the
    truth: pass at most one answer per rater and item.

    Raises:
        ScreeningError: there are no answers, a number is out of range, or EM did not converge.
    """
    _require_sound(item, rater, answer, items, raters, meaning, smoothing)
    order = np.argsort(item, kind="stable")
    per_item = np.bincount(item, minlength=items)
    table = np.concatenate([[0], np.cumsum(per_item)]), rater[order].astype(np.int64), answer[order].astype(np.int64)
    votes = cross_counts(item, answer, items, len(meaning)) @ meaning
    posterior = votes / np.maximum(per_item, 1)[:, None]
    imagined = smoothing / meaning.shape[1], np.repeat(smoothing * _guess(meaning)[None], raters, axis=0)
    prior, confusion, iterations, log_likelihood = _converge(table, posterior, imagined, tolerance, max_iterations)
    posterior[per_item == 0] = prior
    answers = np.bincount(rater, minlength=raters)
    compared = np.bincount(rater[per_item[item] > 1], minlength=raters)
    found = posterior, prior, confusion, np.array(meaning), answers, compared
    return DawidSkene(*found, iterations, log_likelihood, smoothing, tolerance)


Table = tuple[Int[Array, " I+1"], Int[Array, " A"], Int[Array, " A"]]
"""Where each item's answers start, their raters, and the answers; sorted by item."""


def _converge(
    table: Table,
    posterior: Float[Array, "I K"],
    imagined: tuple[float, Float[Array, "R K L"]],
    tolerance: float,
    max_iterations: int,
) -> tuple[Float[Array, " K"], Float[Array, "R K L"], int, float]:
    """Update the posteriors in place until convergence; returns prior, confusion, iterations and log-likelihood."""
    counts = np.empty_like(imagined[1])
    change = np.inf
    for iteration in range(1, max_iterations + 1):
        _count(*table, posterior, counts)
        prior = _shares(posterior.sum(axis=0) + imagined[0])
        confusion = _shares(counts + imagined[1])
        log_likelihood, change = _expect(*table, np.log(prior), np.log(confusion), posterior)
        if change <= tolerance:
            return prior, confusion, iteration, log_likelihood
    raise ScreeningError(
        f"Dawid–Skene did not converge in {max_iterations} steps (last change {change:.1g}): "
        "use majority, or allow more steps"
    )


def _require_sound(
    item: Int[Array, " A"],
    rater: Int[Array, " A"],
    answer: Int[Array, " A"],
    items: int,
    raters: int,
    meaning: Float[Array, "L K"],
    smoothing: float,
) -> None:
    if not len(item) == len(rater) == len(answer):
        raise ScreeningError("items, raters and answers have different lengths: pass columns of one table")
    if len(item) == 0:
        raise ScreeningError("there are no answers to estimate from: collect some first")
    for name, column, size in (("items", item, items), ("raters", rater, raters), ("answers", answer, len(meaning))):
        require_range(name, column, size)
    if not 0 < smoothing < np.inf:
        raise ScreeningError(f"the smoothing is {smoothing:g}: it must be positive and finite")
    if not (np.all(meaning >= 0) and np.allclose(meaning.sum(axis=1), 1) and np.all(meaning.sum(axis=0) > 0)):
        raise ScreeningError(
            "`meaning` is invalid: entries must not be negative, each row must sum to 1, and no column may be zero"
        )


def _guess(meaning: Float[Array, "L K"]) -> Float[Array, "K L"]:
    """Confusion matrix of an unknown rater: half of the answers are right, half are random."""
    return 0.5 / len(meaning) + 0.5 * _shares(meaning.T)


def _shares(counts: Float[Array, "*rows L"]) -> Float[Array, "*rows L"]:
    return counts / counts.sum(axis=-1, keepdims=True)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count(starts, rater, answer, posterior, counts):  # type: ignore[no-untyped-def]
    """Count each rater's answers by truth, weighted by the posterior (the M-step)."""
    counts[:] = 0.0
    for item in range(len(starts) - 1):
        for place in range(starts[item], starts[item + 1]):
            for truth in range(posterior.shape[1]):
                counts[rater[place], truth, answer[place]] += posterior[item, truth]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _expect(starts, rater, answer, log_prior, log_confusion, posterior):  # type: ignore[no-untyped-def]
    """Update the posteriors of answered items (the E-step); returns the log-likelihood and the largest change."""
    truths = len(log_prior)
    joint = np.empty(truths)
    log_likelihood, change = 0.0, 0.0
    for item in range(len(starts) - 1):
        if starts[item] == starts[item + 1]:
            continue
        joint[:] = log_prior
        for place in range(starts[item], starts[item + 1]):
            for truth in range(truths):
                joint[truth] += log_confusion[rater[place], truth, answer[place]]
        top = joint.max()
        total = 0.0
        for truth in range(truths):
            joint[truth] = np.exp(joint[truth] - top)
            total += joint[truth]
        log_likelihood += top + np.log(total)
        for truth in range(truths):
            probability = joint[truth] / total
            change = max(change, abs(probability - posterior[item, truth]))
            posterior[item, truth] = probability
    return log_likelihood, change
