"""ITU-R BT.500: answers far from the others are outliers, and people with many outliers are rejected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import require_range
from dissensus.screening.shares import Shares

SPREAD = 3
"""How many answers a question needs before one of them can be an outlier."""

SLACK = 1e-9
"""Tolerance, so that rounding errors do not move values that lie exactly on a limit."""


@dataclass(frozen=True)
class Bt500:
    """What was screened out and what is left."""

    is_outlier: Bool[Array, " A"]
    """For rejected people, relative to everybody's answers; for the rest, relative to those of the accepted people."""
    is_accepted: Bool[Array, " A"]
    """Answers that count: neither outliers nor by a rejected person."""
    rejected: dict[int, str]
    """Rejected people, in order, with the reason in words."""
    outliers: Shares
    """Outliers among each person's answers, before anybody was rejected."""
    high: Int[Array, " R"]
    low: Int[Array, " R"]
    """Outliers above and below the others' answers; they add up to `outliers`."""
    too_few: tuple[int, ...]
    """People with too few answers to be rejected."""
    mean: Float[Array, " I"]
    """Mean of the accepted answers; zero if there are none."""
    is_answered: Bool[Array, " I"]
    removed: float
    """Share of outliers among the answers of people who were not rejected."""
    limit: float
    balance: float | None
    fewest: int


def bt500(
    question: Int[Array, " A"],
    person: Int[Array, " A"],
    value: Float[Array, " A"],
    questions: int,
    people: int,
    limit: float = 0.05,
    balance: float | None = None,
    fewest: int = 20,
    ddof: int = 1,
) -> Bt500:
    """Outliers, rejected people, and the mean of each question's remaining answers (section 3.4 of the gMAD paper).

    An answer is an outlier if it lies at least 2 standard deviations from the mean of its question; √20 if the answers
    do not look Gaussian (kurtosis m₄/m₂² outside 2 to 4). Questions with fewer than three answers or without
    any spread have no outliers. A person whose share of outliers exceeds `limit` is rejected; outliers are then found
    once more among the remaining answers. `balance` = 0.3 gives BT.500's full rule: people are rejected only if also
    |P − Q| / (P + Q) < 0.3 for P outliers above and Q below, which keeps people who are merely biased.

    Nobody with fewer than `fewest` answers is rejected: below 20, a single outlier is already more than 5 %.

    Conventions: the standard deviation divides by n − `ddof`, and values on a limit count as beyond it (≥), both as in
    BT.500; the moments of the kurtosis divide by n. Pass at most one answer per person and question.

    Raises:
        ScreeningError: there are no answers, columns have different lengths, a number is out of range, a value is not
            finite, or everybody would be rejected.
    """
    require_answers(question, person, value, questions, people)
    side = _sides(question, value, questions, ddof)
    of = np.bincount(person, minlength=people)
    high, low = (np.bincount(person[rows], minlength=people) for rows in (side > 0, side < 0))
    rejected = _rejected(high, low, of, limit, balance, fewest)
    kept = ~np.isin(person, list(rejected))
    is_outlier = side != 0
    is_outlier[kept] = _sides(question[kept], value[kept], questions, ddof) != 0
    is_accepted = kept & ~is_outlier
    answers = np.bincount(question[is_accepted], minlength=questions)
    sums = np.bincount(question[is_accepted], weights=value[is_accepted], minlength=questions)
    return Bt500(
        is_outlier=is_outlier,
        is_accepted=is_accepted,
        rejected=rejected,
        outliers=Shares((high + low).astype(float), of),
        high=high,
        low=low,
        too_few=tuple(np.flatnonzero((of > 0) & (of < fewest)).tolist()),
        mean=sums / np.maximum(answers, 1),
        is_answered=answers > 0,
        removed=float(is_outlier[kept].mean()),
        limit=limit,
        balance=balance,
        fewest=fewest,
    )


def require_answers(
    question: Int[Array, " A"], person: Int[Array, " A"], value: Float[Array, " A"], questions: int, people: int
) -> None:
    """Check that these are columns of one table of numeric answers.

    Raises:
        ScreeningError: they are not, or there are no answers.
    """
    if not len(question) == len(person) == len(value):
        raise ScreeningError("questions, people and values have different lengths: pass columns of one table")
    if len(value) == 0:
        raise ScreeningError("there are no answers to screen: collect some first")
    require_range("questions", question, questions)
    require_range("people", person, people)
    if not np.isfinite(value).all():
        raise ScreeningError("a value is NaN or infinite: pass finite numbers, and leave out rows without an answer")


def _sides(question: Int[Array, " A"], value: Float[Array, " A"], questions: int, ddof: int) -> Int[Array, " A"]:
    """1 for outliers above, −1 for outliers below, 0 for all other answers."""
    answers = np.bincount(question, minlength=questions)
    divisor = np.maximum(answers, 1)
    mean = np.bincount(question, weights=value, minlength=questions) / divisor
    apart = value - mean[question]
    m2, m4 = (np.bincount(question, weights=apart**power, minlength=questions) / divisor for power in (2, 4))
    # rounding errors between equal values do not count as spread
    can_vary = (answers >= SPREAD) & (np.sqrt(m2) > SLACK * np.abs(value).max(initial=0.0))
    kurtosis = m4 / np.where(can_vary, m2, 1.0) ** 2
    looks_gaussian = (kurtosis >= 2 - SLACK) & (kurtosis <= 4 + SLACK)
    deviation = np.sqrt(m2 * answers / np.maximum(answers - ddof, 1))
    beyond = np.where(looks_gaussian, 2.0, np.sqrt(20.0)) * deviation * (1 - SLACK)
    is_outlier = can_vary[question] & (np.abs(apart) >= beyond[question])
    return np.where(is_outlier, np.sign(apart), 0.0).astype(np.int64)


def _rejected(
    high: Int[Array, " R"],
    low: Int[Array, " R"],
    of: Int[Array, " R"],
    limit: float,
    balance: float | None,
    fewest: int,
) -> dict[int, str]:
    suspect = (high + low > limit * of * (1 + SLACK)) & (of >= fewest)
    if balance is not None:
        suspect &= np.abs(high - low) < balance * (high + low) * (1 - SLACK)
    if suspect[of > 0].all():
        raise ScreeningError(
            f"all {(of > 0).sum()} people have more than {_percent(limit)} outliers, so nobody would be left: "
            "raise the limit, set a balance, or use p910, which rejects nobody"
        )
    return {int(p): _reason(int(high[p]), int(low[p]), int(of[p]), limit) for p in np.flatnonzero(suspect)}


def _reason(high: int, low: int, of: int, limit: float) -> str:
    share = f"{high + low} of {of} answers ({_percent((high + low) / of)})"
    return f"{share} are outliers, {high} above and {low} below the others' answers; the limit is {_percent(limit)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
