"""From slider answers to preferences: every screening method gives each answer a value and a weight."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.screening.bt500 import bt500
from dissensus.screening.p910 import p910


@dataclass(frozen=True)
class WeightedAnswers:
    """Answers as a screening counts them: the preference on a question is Σ weight·value / Σ weight."""

    value: Float[Array, " A"]
    weight: Float[Array, " A"]


Weighing = Callable[[Int[Array, " A"], Int[Array, " A"], Float[Array, " A"], int, int], WeightedAnswers]
"""(question, person, value, questions, people) → value and weight of each answer."""


def by_mean(
    question: Int[Array, " A"],  # noqa: ARG001
    person: Int[Array, " A"],  # noqa: ARG001
    value: Float[Array, " A"],
    questions: int,  # noqa: ARG001
    people: int,  # noqa: ARG001
) -> WeightedAnswers:
    """All answers, with equal weight."""
    return WeightedAnswers(value.astype(np.float64), np.ones(len(value)))


def by_bt500(
    question: Int[Array, " A"],
    person: Int[Array, " A"],
    value: Float[Array, " A"],
    questions: int,
    people: int,
    balance: float | None = None,
) -> WeightedAnswers:
    """The answers that BT.500 accepts, with equal weight; `balance` as in `bt500`.

    Raises:
        ScreeningError: everybody would be rejected.
    """
    if len(value) == 0:
        return WeightedAnswers(np.zeros(0), np.zeros(0))
    found = bt500(question, person, value, questions, people, balance=balance)
    return WeightedAnswers(value.astype(np.float64), found.is_accepted.astype(np.float64))


def by_p910(
    question: Int[Array, " A"], person: Int[Array, " A"], value: Float[Array, " A"], questions: int, people: int
) -> WeightedAnswers:
    """Answers without their person's bias, weighted by the person's consistency: their mean is P.910's quality.

    Raises:
        ScreeningError: there is no estimate, for example because a person gave only one answer.
    """
    if len(value) == 0:
        return WeightedAnswers(np.zeros(0), np.zeros(0))
    found = p910(question, person, value, questions, people)
    return WeightedAnswers(value - found.bias[person], found.inconsistency[person] ** -2.0)


def preferences(question: Int[Array, " A"], weighed: WeightedAnswers, questions: int) -> tuple[Array, Array]:
    """The preference on every question, −100 to 100, and its total weight; zero if no answer counts."""
    weight = np.bincount(question, weights=weighed.weight, minlength=questions)
    total = np.bincount(question, weights=weighed.weight * weighed.value, minlength=questions)
    return (total / np.where(weight > 0, weight, 1.0)).clip(-100, 100), weight
