"""How many answers it takes until something is decided: the price, before anybody is asked and later.

One draw estimates a difference between two models with a variance that the belief forecasts (`Planner.batch`). The band
after n draws is `largest_error(n, α)` standard errors wide, and a pair is decided once that is less than its
difference. Differences are not known either: they are sampled from what is believed about the accuracies, which gives
a range of prices. Before anybody is asked, the belief rests on IMAGINED answers that agree with the consensus among the
models. They stay when people answer, and are soon outweighed.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.planning.accuracy import Accuracies, accuracies
from dissensus.planning.belief import believe
from dissensus.planning.cases import Cases
from dissensus.planning.decisions import Until, alphas, largest_errors
from dissensus.planning.estimate import Ledger, differences, estimate
from dissensus.planning.guard import guarded
from dissensus.planning.planner import Planner

IMAGINED = 50
"""The weight of the consensus among the models, in answers."""
POWER = 2.0
"""How much the majority among the models counts. Chosen among 1 (each label is right as often as models predict it), 2
and 3, each with 20 and 50 imagined answers, on 8 simulated pools and 16 sets of half of the ImageNet classifiers: with
1, most forecasts before the first answer were too high; the other differences were within noise."""
PLACES = 200
"""The questions over which the imagined answers are spread."""
RANGE = (0.1, 0.5, 0.9)
EVERYTHING = 0.9
"""From this share of the questions on, one might as well ask all of them."""
SAMPLES, MOST = 200, 200_000
"""How many accuracies are sampled, and how many differences between them at most."""


@dataclass(frozen=True)
class Price:
    """The questions that have yet to be asked: the 10 %, 50 % and 90 % quantiles of what is believed.

    `left` is how many there are that tell models apart.
    """

    low: int
    median: int
    high: int
    left: int

    @property
    def is_everything(self) -> bool:
        """Whether little less than asking everything is expected to be enough."""
        return self.median >= EVERYTHING * max(self.left, 1)


@dataclass(frozen=True)
class Outlook:
    """What is known, and what is expected of further draws.

    `variance` is that of every difference as one further draw estimates it. `difference` is what the `draws` so far
    say, and `so_far` the variance of that, infinite without two draws. `left` counts questions that tell models apart.
    """

    known: Accuracies
    variance: Float[Array, "M M"]
    left: int
    draws: int
    difference: Float[Array, "M M"]
    so_far: Float[Array, "M M"]

    def price(self, until: Until, level: float = 0.95, seed: int = 0) -> Price:
        """The questions that it takes until this is decided."""
        models = len(self.known.mean)
        count = max(min(SAMPLES, MOST // (models * models)), 20)
        needed = self._needed(until, self.known.samples(count, seed), level).max(axis=1)
        low, median, high = (int(np.ceil(value)) for value in np.quantile(needed, RANGE))
        return Price(low, median, high, self.left)

    def pairs(self, until: Until, level: float = 0.95) -> Int[Array, "M M"]:
        """The questions that each pair takes, if the accuracies are as believed."""
        first, second = np.triu_indices(len(self.known.mean), 1)
        found = np.zeros(self.variance.shape, np.int64)
        found[first, second] = self._needed(until, self.known.mean[None, :], level)[0]
        return found + found.T

    def _needed(self, until: Until, accuracy: Float[Array, "S M"], level: float) -> Float[Array, "S P"]:
        """The draws that every pair takes that matters, for each of the sampled accuracies."""
        models, (_, rivals, all_pairs) = accuracy.shape[1], alphas(accuracy.shape[1], level)
        if until.what == "best":
            best = accuracy.argmax(axis=1)
            second = np.argsort(np.arange(models)[None, :] == best[:, None], axis=1, kind="stable")[:, :-1]
            first, alpha = np.repeat(best[:, None], models - 1, axis=1), rivals
        else:
            first, second = (index[None, :] for index in np.triu_indices(models, 1))
            alpha = all_pairs
        rows = np.arange(len(accuracy))[:, None]
        gap = accuracy[rows, first] - accuracy[rows, second]
        variance, estimated, so_far = (table[first, second] for table in (self.variance, self.difference, self.so_far))
        pairs = Pairs(gap, variance, self.left, self.draws, estimated, so_far)
        return pairs.needed(until, alpha)


@dataclass(frozen=True)
class Pairs:
    """Differences that are believed (`gap`), one draw's `variance`, and the `estimated` differences `so_far`."""

    gap: Float[Array, "S P"]
    variance: Float[Array, "S P"]
    left: int
    draws: int = 0
    estimated: Float[Array, "S P"] | float = 0.0
    so_far: Float[Array, "S P"] | float = np.inf

    def needed(self, until: Until, alpha: float) -> Int[Array, "S P"]:
        """The smallest number of further draws that decides each pair; `left` if only asking everything does."""

        def is_settled(further: Int[Array, "S P"]) -> Bool[Array, "S P"]:
            estimated, half = self.after(further, alpha)
            if until.what == "differences":
                return np.asarray(half <= until.margin)
            if until.what == "best":
                return np.asarray(estimated - half > -until.margin)
            return np.asarray((np.abs(estimated) > half) | (np.abs(estimated) + half <= until.margin))

        shape = np.broadcast_shapes(self.gap.shape, self.variance.shape)
        return np.where(np.broadcast_to(self.variance > 0, shape), _first(is_settled, shape, self.left), 0)

    def after(self, further: Int[Array, "S P"], alpha: float) -> tuple[Float[Array, "S P"], Float[Array, "S P"]]:
        """The estimate and the half-width of its band that are expected after further draws.

        Draws are without replacement: m of N count as m / (1 − m/N), so that the variance vanishes with the last one.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            more = further / (1 - further / max(self.left, 1))
            before = np.where(np.isfinite(self.so_far), self.variance / self.so_far, 0.0)
            half = largest_errors(self.draws + further, alpha) * np.sqrt(self.variance / (before + more))
            estimated = (before * self.estimated + more * self.gap) / (before + more)
        return np.nan_to_num(estimated, nan=0.0), np.where(np.isnan(half), np.inf, half)


def _first(is_settled: Callable[[Int[Array, "S P"]], Bool[Array, "S P"]], shape: tuple[int, ...], left: int) -> Array:
    """The smallest number below `left` from which on pairs are settled, by bisection; `left` if there is none."""
    low, high = np.full(shape, -1, np.int64), np.full(shape, left, np.int64)
    while (high - low > 1).any():
        middle = np.where(high - low > 1, (low + high) // 2, np.maximum(low, 0))
        found = is_settled(middle)
        is_open = high - low > 1
        high, low = np.where(is_open & found, middle, high), np.where(is_open & ~found, middle, low)
    return high


def outlook(
    planner: Planner,
    right: Int[Array, " c"],
    answered: Int[Array, " q"] | Int[Array, " c"],
    left: Int[Array, " q"],
    ledger: Ledger,
) -> Outlook:
    """What to expect after `answered` answers to each question, `right` of them for each case, if `left` remain.

    As for `Planner.look`, there may be a number of answers for each case instead. The planner's own belief stays as it
    is.
    """
    told, imagined = planner.per_case(answered), _imagined(planner)
    chosen = np.asarray(right) + imagined * consensus(planner.cases)
    belief = believe(planner.regressors, chosen, (told + imagined)[planner.regressors.start])
    remaining = planner.items[planner.group] - told
    known = guarded(accuracies(planner.cases, belief, right, remaining), ledger).known
    dreaming = copy(planner)
    dreaming.belief = belief
    forecast = dreaming.batch(known, left, 0, np.random.default_rng(0)).forecast
    models, contested = planner.cases.models, int(left[~planner.cases.is_agreed[planner.start]].sum())
    variance = differences(forecast) / planner.cases.pool**2
    if len(ledger) < 2:
        return Outlook(known, variance, contested, 0, np.zeros((models, models)), np.full((models, models), np.inf))
    drawn = estimate(ledger)
    apart = drawn.mean[:, None] - drawn.mean
    return Outlook(known, variance, contested, len(ledger), apart, drawn.variances(caution=1.0))


def consensus(cases: Cases) -> Float[Array, " c"]:
    """How likely each label seems before anybody is asked: by the squares of the votes for the labels of its item."""
    strength = cases.voters.sum(axis=1).astype(np.float64) ** POWER
    return strength / np.add.reduceat(strength, cases.start)[cases.pattern]


def _imagined(planner: Planner) -> Float[Array, " c"]:
    """IMAGINED answers about each case, spread over contested questions as evenly as their items.

    The questions are those of the belief, so that it is the same whichever way people are asked.
    """
    cases, start = planner.cases, planner.regressors.start
    contested = cases.items[cases.pattern[start]] * ~cases.is_agreed[start]
    places = (np.arange(PLACES) + 0.5) / PLACES * contested.sum()
    questions = np.searchsorted(np.cumsum(contested), places, side="right")
    return (np.bincount(questions, minlength=len(contested)) * (IMAGINED / PLACES))[planner.regressors.group]
