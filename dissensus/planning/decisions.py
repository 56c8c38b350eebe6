"""What is decided, now and at every later look, and when it is enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.special import lambertw

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import PlanningError
from dissensus.planning.cases import Cases
from dissensus.planning.draws import Goal
from dissensus.planning.estimate import Ledger, estimate
from dissensus.records import State

What = Literal["best", "order", "differences"]
NARROWEST = 150
"""The number of draws at which the bands, in standard errors, would be narrowest if variances were known."""
ROUNDING = 1e-9
"""Differences below this are none."""


@dataclass(frozen=True)
class Until:
    """What has to be decided before asking can stop; `margin` is ε.

    * `best`: one model is better than every other (with a margin: worse by at most the margin)
    * `order`: of each two models, one is better, or they are tied (differ by at most the margin)
    * `differences`: every difference between two models is known to ± the margin
    """

    what: What
    margin: float = 0.0

    @staticmethod
    def parsed(text: str) -> Until:
        """What a person wrote: 'best', 'order', 'ε=0.01', 'eps=1%', 'order,ε=0.01'.

        Raises:
            PlanningError: it is none of these, or ε is not between 0 and 1.
        """
        what: list[What] = []
        margins: list[float] = []
        for word in (part.strip().casefold() for part in text.split(",")):
            name, equals, value = (part.strip() for part in word.partition("="))
            if equals and name in NAMES_OF_MARGIN:
                margins.append(_share(value, text))
            elif word in ("best", "order"):
                what.append("best" if word == "best" else "order")
            else:
                raise _not_understood(text)
        if len(what) > 1 or len(margins) > 1:
            raise _not_understood(text)
        return Until(what[0] if what else "differences", margins[0] if margins else 0.0)

    @property
    def goal(self) -> Goal:
        """What the draws should look for."""
        return "best" if self.what == "best" else "order"

    def __str__(self) -> str:
        margin = [f"ε={self.margin!r}"] if self.margin else []
        return ",".join(([] if self.what == "differences" else [self.what]) + margin)


NAMES_OF_MARGIN = ("ε", "ϵ", "eps", "epsilon")


def _share(value: str, text: str) -> float:
    number = value.removesuffix("%").strip()
    try:
        share = float(number) / (100 if value.endswith("%") else 1)
    except ValueError:
        raise _not_understood(text) from None
    if not 0 < share < 1:
        raise PlanningError(f"ε is {value} in '{text}': give a difference of accuracies above 0 and below 1, like 0.01")
    return share


def _not_understood(text: str) -> PlanningError:
    return PlanningError(f"'{text}' does not say when to stop: write best, order, ε=0.01 (or ε=1%), or order,ε=0.01")


@dataclass(frozen=True)
class Bands:
    """Confidence bands of all differences between accuracies: they hold at all looks at once.

    `difference[i, j]` is how much more often model i is right than model j. `pair` is the half-width for one pair of
    models, `rivals` for who is the best (the lower ends for the best model against all others at once), `all_pairs` for
    all pairs at once.
    """

    difference: Float[Array, "M M"]
    pair: Float[Array, "M M"]
    rivals: Float[Array, "M M"]
    all_pairs: Float[Array, "M M"]

    def states(self, margin: float = 0.0, at_once: bool = False) -> list[list[State]]:
        """Each pair: 'decided' if one is better, 'tied' if they differ by at most `margin`, else 'undecided'."""
        half = self.all_pairs if at_once else self.pair
        size = np.abs(self.difference)
        found = np.where(
            size > half + ROUNDING, "decided", np.where(size + half <= margin + ROUNDING, "tied", "undecided")
        )
        return [[str(state) for state in row] for row in found]  # type: ignore[misc]

    def best(self, margin: float = 0.0) -> int | None:
        """The model that is better than every other, or worse by at most `margin`; None if that is not known yet."""
        low = self.difference - self.rivals
        np.fill_diagonal(low, np.inf)
        is_best: Bool[Array, " M"] = (low > ROUNDING - margin).all(axis=1)
        return int(np.argmax(np.where(is_best, self.difference.sum(axis=1), -np.inf))) if is_best.any() else None

    def leaders(self, margin: float = 0.0) -> list[int]:
        """The best model, or several that are surely equal and better than all others; empty if not known yet."""
        if (best := self.best(margin)) is not None:
            return [best]
        is_equal = (np.abs(self.difference) <= ROUNDING) & (self.rivals <= ROUNDING)
        return np.flatnonzero((is_equal | (self.difference - self.rivals > ROUNDING)).all(axis=1)).tolist()

    def settle(self, until: Until) -> bool:
        """Whether this is decided; statements about all pairs have to hold for all of them at once."""
        if until.what == "best":
            return bool(self.leaders(until.margin))
        if until.what == "differences":
            return bool((self.all_pairs <= until.margin + ROUNDING).all())
        return not any("undecided" in row for row in self.states(until.margin, at_once=True))


def are_told_apart(cases: Cases, left: Int[Array, " c"]) -> Bool[Array, "M M"]:
    """Which two models predict different labels on some item that is `left` to be asked about."""
    return _differing(cases, np.asarray(left)) > 0


def _differing(cases: Cases, items: Int[Array, " c"]) -> Int[Array, "M M"]:
    """On how many of the items, given for each case, only one of two models predicts the case's label."""
    voters = cases.voters.astype(np.int64)
    only_first = voters.T @ (items[:, None] * (1 - voters))
    return only_first + only_first.T


def alphas(models: int, level: float) -> tuple[float, float, float]:
    """How often a band may fail: for one pair, for who is the best, and for all pairs at once.

    An error about the best model is that one of its M − 1 rivals seems better than it is: one side of M − 1 bands, so
    that each may fail with 2 / (M − 1) times what one band may.
    """
    alpha, rivals, pairs = 1 - level, models - 1, models * (models - 1) / 2
    return alpha, alpha * min(1, 2 / max(rivals, 1)), alpha / max(pairs, 1)


def bands(ledger: Ledger, level: float = 0.95) -> Bands:
    """Bands that hold at any time, whenever one chooses to look; without two draws they are infinite."""
    models = ledger.change.shape[1]
    if len(ledger) < 2:
        endless = np.where(np.eye(models, dtype=bool), 0.0, np.inf)
        return Bands(np.zeros((models, models)), endless, endless, endless)
    found = estimate(ledger)

    def half(alpha: float) -> Float[Array, "M M"]:
        most = largest_error(len(ledger), alpha)
        wide = np.sqrt(found.variances(caution=1.0)) * most if np.isfinite(most) else np.full((models, models), np.inf)
        np.fill_diagonal(wide, 0.0)
        return wide

    difference = found.mean[:, None] - found.mean
    return Bands(difference, *(half(alpha) for alpha in alphas(models, level)))


def decisions(
    cases: Cases,
    ledger: Ledger,
    mean: Float[Array, " M"],
    left: Int[Array, " c"],
    level: float = 0.95,
    unsettled: Int[Array, " c"] | None = None,
) -> Bands:
    """What the draws decide, if `left` items of each case have no verdict yet.

    Where nothing is left that tells two models apart, the difference of their accuracies `mean` is exact. `unsettled`
    are those of `left` that people were asked about and could not tell. The draws count them as the belief expected,
    but each may be right or wrong: the bands are wider by what that would change.
    """
    found, is_open = bands(ledger, level), are_told_apart(cases, left)
    more = 0.0 if unsettled is None else _differing(cases, unsettled) / ledger.pool
    half = (np.where(is_open, wide + more, 0.0) for wide in (found.pair, found.rivals, found.all_pairs))
    return Bands(np.where(is_open, found.difference, mean[:, None] - mean), *half)


def largest_error(draws: int, alpha: float) -> float:
    """What the error, in standard errors, ever exceeds with probability α, at any number of draws.

    Let n errors be normal with mean θσ and variance σ², and t the usual statistic of their mean. If θ ~ N(0, 1/r), and
    σ has the density 1/σ, the likelihood against θ = 0 is

        B = √R · ((1 + t²/(n − 1)) / (1 + R·t²/(n − 1)))^(n/2),  R = r / (n + r).

    Under θ = 0 this is a martingale of mean one in what does not depend on σ, so that it ever reaches 1/α with
    probability at most α (Ville); solving for t gives the result. As n grows, it becomes Robbins' (1970) normal mixture
    for a known variance: t² = (1 + r/n)·log((n + r) / (r·α²)). For that one, r = n / (u − 1) with u − log u = 1 −
    2·log α makes it least at n draws; r is what does so at NARROWEST. Infinite if there are too few draws to tell.
    """
    return float(largest_errors(np.array([draws]), alpha)[0])


def largest_errors(draws: Float[Array, " n"], alpha: float) -> Float[Array, " n"]:
    """`largest_error` for several numbers of draws."""
    mixed = NARROWEST / float(-lambertw(-(alpha**2) / np.e, -1).real - 1)
    share = mixed / (draws + mixed)
    log_ratio = -np.log(share * alpha**2) / np.maximum(draws, 1)
    is_enough = (draws >= 2) & (log_ratio + np.log(share) < 0)
    ratio = np.exp(np.where(is_enough, log_ratio, 0.0))
    square = (draws - 1) * (ratio - 1) / np.where(is_enough, 1 - ratio * share, 1.0)
    return np.where(is_enough, np.sqrt(np.maximum(square, 0.0)), np.inf)
