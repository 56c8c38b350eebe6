"""The mean of what people say about a pair or an item, and how much each of them moves it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int
from dissensus.screening.preferences import WeightedAnswers, preferences
from dissensus.screening.two_way import TwoWay, linked_groups


@dataclass(frozen=True)
class Means:
    """The mean answer to every question; zero where no answer counts, which is where `weight` is zero."""

    value: Float[Array, " I"]
    weight: Float[Array, " I"]
    moved: Float[Array, "R I"]
    """How much a person's answers move each mean; everybody's together move it by nothing."""
    group: Int[Array, " I"]
    """Means of different groups cannot be compared."""

    def between(self, first: Int[Array, " P"], second: Int[Array, " P"]) -> PairMeans:
        """How much higher the mean of `second` is than that of `first`, at most 100."""
        is_known = (self.group[first] == self.group[second]) & (self.weight[first] > 0) & (self.weight[second] > 0)
        apart = (self.value[second] - self.value[first]).clip(-100, 100)
        moved = np.where(is_known, self.moved[:, second] - self.moved[:, first], 0.0)
        return PairMeans(np.where(is_known, apart, 0.0), moved, is_known)


@dataclass(frozen=True)
class PairMeans:
    """How much better people find the second item of each pair, −100 to 100; zero where it is not known."""

    value: Float[Array, " P"]
    moved: Float[Array, "R P"]
    is_known: Bool[Array, " P"]


def pair_means(
    question: Int[Array, " A"], person: Int[Array, " A"], weighed: WeightedAnswers, questions: int, people: int
) -> PairMeans:
    """The weighted mean of what people said about each pair."""
    value, total = preferences(question, weighed, questions)
    weight = weighed.weight / np.where(total > 0, total, 1.0)[question]
    moved = _table(person, question, weight * (weighed.value - value[question]), people, questions)
    return PairMeans(value, moved, total > 0)


def item_means(
    question: Int[Array, " A"], person: Int[Array, " A"], weighed: WeightedAnswers, questions: int, people: int
) -> Means:
    """The mean rating of every item if everybody were equally lenient (their biases in P.910's sense are removed).

    Weighted least squares of rating = quality + bias. If the same people rated two items, the difference of the two
    means is the mean difference within people. Others count with what their rating says beyond their bias, which is
    known from all other items they share with somebody. A person who rated only one item adds nothing about
    differences. Items that no chain of people links are in different groups: there, either quality or leniency may
    differ. A person's `moved` is the fit to their residuals alone, so it includes what they do to everybody's bias.
    """
    weight, counts = weighed.weight, weighed.weight > 0
    group, of_person = linked_groups(question[counts], person[counts], questions, people)
    fit = TwoWay(question, person, weight, questions, people, np.unique(of_person, return_inverse=True)[1])
    total = weight * weighed.value
    quality, bias = fit.solve(np.bincount(question, total, questions), np.bincount(person, total, people))
    residual = weight * (weighed.value - quality[question] - bias[person])
    moved, _ = fit.solve(_table(question, person, residual, questions, people), np.zeros((people, people)))
    return Means(quality, fit.totals, moved.T, group)


def _table(
    row: Int[Array, " A"], column: Int[Array, " A"], value: Float[Array, " A"], rows: int, columns: int
) -> Float[Array, "r c"]:
    return np.bincount(row * columns + column, value, rows * columns).reshape(rows, columns)
