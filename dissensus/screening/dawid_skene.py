"""Dawid & Skene (1979): the truth of every item and everybody's ways to err, each found from the other by EM."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import cross_counts, require_range

NO_MAYBE_YES = np.array([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]])
"""Three answers about two truths: the thing is there or it is not, and 'maybe' is half a vote for either."""
NO_MAYBE_YES.setflags(write=False)
SCALE = np.array([2, 0, 1, 1])
"""The codes of yes, no, unsure and unfit as rows of that table; whoever says unfit does not vote."""
SCALE.setflags(write=False)


@dataclass(frozen=True)
class DawidSkene:
    """What the answers say of items and of raters, with what it was made from."""

    posterior: Float[Array, "I K"]
    """Probability of each truth; an item without answers has the prior."""
    prior: Float[Array, " K"]
    confusion: Float[Array, "R K L"]
    """Probability that a rater gives answer l where the truth is k."""
    meaning: Float[Array, "L K"]
    answers: Int[Array, " R"]
    """Number of answers of each rater."""
    compared: Int[Array, " R"]
    """Those on items that somebody else answered too; without any, a rater's skill is only their own word."""
    iterations: int
    log_likelihood: float
    smoothing: float
    tolerance: float

    @property
    def skill(self) -> Float[Array, " R"]:
        """Probability of the true answer to an item drawn by the prior; 'maybe' counts by its meaning, as half.

        Who always gives the same answer has the prior of that answer as skill: look at `confusion` beside it.
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
    """Posterior of the truth of each item and confusion matrix of each rater, from answers of unequal raters.

    `meaning[l, k]` is the share of a vote that answer l gives to truth k: the identity where answers and truths are the
    same things, `NO_MAYBE_YES` where one answer is no truth. The start is the vote counted so, which also fixes which
    truth is which. Then, in turn, until no posterior changes by more than `tolerance`:

        p_k   ∝ s/K + Σ_i T_ik                                share of each truth
        π_rkl ∝ s g_kl + Σ_(r answered l to i) T_ik           confusion matrix of each rater
        T_ik  ∝ p_k Π_(r answered l to i) π_rkl               posterior of each item

    Here s = `smoothing` is a number of imagined answers per rater and truth, half of them right and half at random (g),
    so that nobody is believed to be infallible, least of all after three answers. Answers are taken to be independent
    given the truth: hand in one answer of a rater to an item.

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
"""Where the answers to each item start, their raters and what they said; by item."""


def _converge(
    table: Table,
    posterior: Float[Array, "I K"],
    imagined: tuple[float, Float[Array, "R K L"]],
    tolerance: float,
    max_iterations: int,
) -> tuple[Float[Array, " K"], Float[Array, "R K L"], int, float]:
    """Improve the posteriors in place until they stay; prior, confusion, iterations and log-likelihood."""
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
        f"Dawid–Skene still changed by {change:.1g} after {max_iterations} steps: use the majority, or allow more steps"
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
        raise ScreeningError("items, raters and answers must be columns of one table: their lengths differ")
    if len(item) == 0:
        raise ScreeningError("there are no answers yet, so there is nothing to estimate")
    for name, column, size in (("items", item, items), ("raters", rater, raters), ("answers", answer, len(meaning))):
        require_range(name, column, size)
    if not 0 < smoothing < np.inf:
        raise ScreeningError(f"the smoothing must be a positive number, not {smoothing:g}: nobody is infallible")
    if not (np.all(meaning >= 0) and np.allclose(meaning.sum(axis=1), 1) and np.all(meaning.sum(axis=0) > 0)):
        raise ScreeningError(
            "in `meaning` every answer gives one vote in all, and every truth gets some from an answer"
        )


def _guess(meaning: Float[Array, "L K"]) -> Float[Array, "K L"]:
    """Confusion matrix of somebody unknown: half of the answers are right, half are drawn at random."""
    return 0.5 / len(meaning) + 0.5 * _shares(meaning.T)


def _shares(counts: Float[Array, "*rows L"]) -> Float[Array, "*rows L"]:
    return counts / counts.sum(axis=-1, keepdims=True)


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _count(starts, rater, answer, posterior, counts):  # type: ignore[no-untyped-def]
    """Answers of each rater by truth, weighted by how probable that truth is (the M-step)."""
    counts[:] = 0.0
    for item in range(len(starts) - 1):
        for place in range(starts[item], starts[item + 1]):
            for truth in range(posterior.shape[1]):
                counts[rater[place], truth, answer[place]] += posterior[item, truth]


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _expect(starts, rater, answer, log_prior, log_confusion, posterior):  # type: ignore[no-untyped-def]
    """Rewrite the posteriors of answered items (the E-step); log-likelihood of all answers and largest change."""
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
