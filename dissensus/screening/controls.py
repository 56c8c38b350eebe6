"""The control-question filter: who gets too many control questions wrong.

The laconic paper's rule (section 5.2): 25 trusted people reached a mean precision of 0.875 with a standard deviation of
0.061; sessions below the mean minus two standard deviations, 0.753, were dropped. We only make suggestions; a person
decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.proportions import clopper_pearson
from dissensus.screening.shares import Shares

MIN_CONTROLS = 5
"""Fewest answers to control questions needed to assess a person."""


@dataclass(frozen=True)
class Threshold:
    """The least share of correct control answers, and where it comes from, in words."""

    value: float
    trusted: int
    """Number of trusted people it was computed from; 0 for the fixed threshold."""
    words: str


@dataclass(frozen=True)
class Suggestion:
    """A person whose answers should perhaps not count, and why."""

    annotator: int
    right: int
    of: int
    could_be_chance: bool
    """True if a person exactly at the threshold would do this badly in 5 % of cases or more (at level 0.95)."""
    reason: str


def control_results(annotator: Int[Array, " A"], is_right: Bool[Array, " A"], annotators: int) -> Shares:
    """Each person's correct answers to control questions."""
    return Shares(
        np.bincount(annotator, weights=is_right, minlength=annotators), np.bincount(annotator, minlength=annotators)
    )


def control_threshold(
    results: Shares,
    is_trusted: Bool[Array, " R"],
    fallback: float = 0.7,
    min_controls: int = MIN_CONTROLS,
    min_trusted: int = 2,
    deviations: float = 2.0,
) -> Threshold:
    """Mean minus `deviations` standard deviations (n − 1) of the trusted people's shares, all weighted equally.

    Only trusted people with at least `min_controls` control answers are used. If there are fewer than `min_trusted` of
    them, or they have no spread, so that a single slip would exclude anybody, the threshold is `fallback`.
    """
    measured = is_trusted & (results.of >= max(min_controls, 1))
    people = int(measured.sum())
    if people < max(min_trusted, 2):
        found = "no trusted person has" if people == 0 else f"only {people} trusted {_has(people)}"
        return Threshold(fallback, 0, f"the default threshold, as {found} answered {min_controls} control questions")
    shares = results.hits[measured] / results.of[measured]
    mean, deviation = float(shares.mean()), float(shares.std(ddof=1))
    if deviation < 1e-12:
        return Threshold(fallback, 0, f"the default threshold, as all {people} trusted people have the same share")
    return Threshold(
        max(mean - deviations * deviation, 0.0), people, f"the mean − {deviations:g} SD of {people} trusted people"
    )


def suggested_exclusions(
    results: Shares,
    is_trusted: Bool[Array, " R"],
    threshold: Threshold,
    min_controls: int = MIN_CONTROLS,
    only_sure: bool = False,
    level: float = 0.95,
) -> list[Suggestion]:
    """People below the threshold, in order, each with the reason in words.

    Nobody is suggested before giving `min_controls` control answers, and trusted people, who set the standard, never
    are. The paper uses the share alone; `only_sure` also requires its upper confidence bound (one-sided,
    Clopper–Pearson) to be below the threshold.
    """
    suggestions = []
    for person in np.flatnonzero(~is_trusted & (results.of >= max(min_controls, 1))):
        right, of = round(float(results.hits[person])), int(results.of[person])
        # rounding must not push a share equal to the threshold below it
        if right >= threshold.value * of * (1 - 1e-12):
            continue
        highest = float(clopper_pearson(right, of, 2 * level - 1)[1])
        could_be_chance = highest >= threshold.value
        if not (only_sure and could_be_chance):
            reason = _reason(right, of, threshold, highest if could_be_chance else None)
            suggestions.append(Suggestion(int(person), right, of, could_be_chance, reason))
    return suggestions


def _reason(right: int, of: int, threshold: Threshold, highest: float | None) -> str:
    share = f"{right} of {of} control questions correct ({_percent(right / of)})"
    reason = f"{share}, below {_percent(threshold.value)} ({threshold.words})"
    if highest is None:
        return reason
    return f"{reason}; this could be bad luck with so few questions: the true share could be up to {_percent(highest)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _has(people: int) -> str:
    return "person has" if people == 1 else "people have"
