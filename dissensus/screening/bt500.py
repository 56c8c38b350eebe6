"""ITU-R BT.500: answers far from what others say are outliers, and people with many of them are rejected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.errors import ScreeningError
from dissensus.screening.counts import require_range
from dissensus.screening.shares import Shares

SPREAD = 3
"""Answers that a question needs before one of them can be an outlier."""

SLACK = 1e-9
"""What lies on a limit must not fall beside it by a rounding error."""


@dataclass(frozen=True)
class Bt500:
    """What was screened out, and what is left."""

    is_outlier: Bool[Array, " A"]
    """Of rejected people: among the answers of all. Of the others: among those of the others."""
    is_accepted: Bool[Array, " A"]
    """Answers that count: no outliers, and not of somebody rejected."""
    rejected: dict[int, str]
    """Rejected people, in their order, with the reason in words."""
    outliers: Shares
    """Outliers among everybody's own answers, before anybody was rejected."""
    high: Int[Array, " R"]
    low: Int[Array, " R"]
    """Those above and below what others say; both add up to `outliers`."""
    too_few: tuple[int, ...]
    """People who answered, but too little to be rejected."""
    mean: Float[Array, " I"]
    """Mean of the accepted answers; zero where there is none."""
    is_answered: Bool[Array, " I"]
    removed: float
    """Share of outliers among the answers of those who were not rejected."""
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
    """Outliers, rejected people, and the mean of what is left of each question (section 3.4 of the gMAD paper).

    An answer is an outlier if it lies 2 standard deviations or more from the mean of its question where the answers
    look Gaussian (kurtosis m₄/m₂² of 2 to 4), otherwise √20 or more. Questions with fewer than three answers or without
    any spread have none. A person with more than `limit` outliers among the own answers is rejected; then outliers are
    found again among the answers of the others, once. With `balance` = 0.3 it is BT.500's full rule: rejected only if
    also |P − Q| / (P + Q) < 0.3 for P outliers above and Q below, which keeps people who are merely biased.

    Nobody with fewer than `fewest` answers is rejected: below 20, a single outlier is already more than 5 %.

    Conventions: the standard deviation divides by n − `ddof`, and what lies on a limit is beyond it (≥), both as in
    BT.500; the moments of the kurtosis divide by n. Hand in one answer of a person to a question.

    Raises:
        ScreeningError: there are no answers, columns of different lengths, a number out of range, a value that is not
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
    """Columns of one table of answers that are numbers.

    Raises:
        ScreeningError: they are not, or there are none.
    """
    if not len(question) == len(person) == len(value):
        raise ScreeningError("questions, people and values must be columns of one table: their lengths differ")
    if len(value) == 0:
        raise ScreeningError("there are no answers yet, so there is nothing to screen")
    require_range("questions", question, questions)
    require_range("people", person, people)
    if not np.isfinite(value).all():
        raise ScreeningError("a value is NaN or infinite: an answer is a number, and no answer is no row")


def _sides(question: Int[Array, " A"], value: Float[Array, " A"], questions: int, ddof: int) -> Int[Array, " A"]:
    """1 and −1 for outliers above and below, 0 for all other answers."""
    answers = np.bincount(question, minlength=questions)
    divisor = np.maximum(answers, 1)
    mean = np.bincount(question, weights=value, minlength=questions) / divisor
    apart = value - mean[question]
    m2, m4 = (np.bincount(question, weights=apart**power, minlength=questions) / divisor for power in (2, 4))
    # deviations that are rounding errors of equal values are no spread
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
            "allow more, ask for a balance, or use p910, which rejects nobody"
        )
    return {int(p): _reason(int(high[p]), int(low[p]), int(of[p]), limit) for p in np.flatnonzero(suspect)}


def _reason(high: int, low: int, of: int, limit: float) -> str:
    share = f"{high + low} of {of} answers ({_percent((high + low) / of)})"
    return f"{share} lie outside what others say, {high} above and {low} below; at most {_percent(limit)} may"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}".removesuffix(".0") + " %"
