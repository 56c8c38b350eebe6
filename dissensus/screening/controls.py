"""The control-item filter: who knows too few of the answers that are known.

The laconic paper's rule (section 5.2): 25 trusted people reached a mean precision of 0.875 with a standard deviation of
0.061; sessions below the mean less two standard deviations, 0.753, were dropped. We only suggest; a person decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Int
from dissensus.screening.shares import Shares


@dataclass(frozen=True)
class Threshold:
    """The least share of control questions to be right, and where it comes from, in words."""

    value: float
    trusted: int
    """Trusted people it was taken from; 0 where it is the fixed one."""
    words: str


@dataclass(frozen=True)
class Suggestion:
    """Somebody whose answers might better not count, and why."""

    annotator: int
    right: int
    of: int
    could_be_chance: bool
    """True where somebody as good as the threshold would do as badly in 5 % of cases or more (at level 0.95)."""
    reason: str


def control_results(annotator: Int[Array, " A"], is_right: Bool[Array, " A"], annotators: int) -> Shares:
    """Right answers of each person among those to control questions."""
    return Shares(
        np.bincount(annotator, weights=is_right, minlength=annotators), np.bincount(annotator, minlength=annotators)
    )


def control_threshold(
    results: Shares,
    is_trusted: Bool[Array, " R"],
    fallback: float = 0.7,
    min_controls: int = 5,
    min_trusted: int = 2,
    deviations: float = 2.0,
) -> Threshold:
    """Mean less `deviations` standard deviations (n − 1) of the trusted people's shares, each person counting alike.

    Only trusted people with `min_controls` control answers are measured. Fewer than `min_trusted` of them, or a group
    without any spread, whose threshold would drop everybody for one slip, give the fixed `fallback`.
    """
    measured = is_trusted & (results.of >= max(min_controls, 1))
    people = int(measured.sum())
    if people < max(min_trusted, 2):
        found = "no trusted person has" if people == 0 else f"only {people} trusted {_has(people)}"
        return Threshold(fallback, 0, f"the fixed threshold, since {found} answered {min_controls} control questions")
    shares = results.hits[measured] / results.of[measured]
    mean, deviation = float(shares.mean()), float(shares.std(ddof=1))
    if deviation < 1e-12:
        return Threshold(fallback, 0, f"the fixed threshold, since the {people} trusted people do not differ at all")
    return Threshold(
        max(mean - deviations * deviation, 0.0), people, f"mean − {deviations:g} sd of the {people} trusted people"
    )


def suggested_exclusions(
    results: Shares,
    is_trusted: Bool[Array, " R"],
    threshold: Threshold,
    min_controls: int = 5,
    only_sure: bool = False,
    level: float = 0.95,
) -> list[Suggestion]:
    """People below the threshold, in their order, each with the reason in words.

    Nobody is suggested before `min_controls` control answers, and the trusted, who are the measure, never. The paper
    looks at the share alone; `only_sure` also wants its upper bound (one-sided, Clopper–Pearson) below the threshold.
    """
    from scipy.special import betaincinv  # not needed by most commands

    suggestions = []
    for person in np.flatnonzero(~is_trusted & (results.of >= max(min_controls, 1))):
        right, of = round(float(results.hits[person])), int(results.of[person])
        # a share equal to the threshold must not fall below it by a rounding error
        if right >= threshold.value * of * (1 - 1e-12):
            continue
        highest = float(betaincinv(right + 1, of - right, level))
        could_be_chance = highest >= threshold.value
        if not (only_sure and could_be_chance):
            reason = _reason(right, of, threshold, highest if could_be_chance else None)
            suggestions.append(Suggestion(int(person), right, of, could_be_chance, reason))
    return suggestions


def _reason(right: int, of: int, threshold: Threshold, highest: float | None) -> str:
    share = f"{right} of {of} control questions right ({_percent(right / of)})"
    reason = f"{share}, below {_percent(threshold.value)} = {threshold.words}"
    if highest is None:
        return reason
    return f"{reason}; so few questions may be bad luck: somebody right in {_percent(highest)} could do no better"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def _has(people: int) -> str:
    return "person has" if people == 1 else "people have"
