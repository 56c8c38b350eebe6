"""Accuracy of each model on the items it and another model disagree on most, and the dominance computed from it."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.records import Comparisons, Outcomes, Tally


def tally(outcomes: Outcomes, models: int) -> Tally:
    """Count Cases I, II and III of every duel."""
    only, both, neither = (np.zeros((models, models)) for _ in range(3))
    first, second = outcomes.first, outcomes.second
    first_wins = outcomes.first_right & ~outcomes.second_right
    second_wins = outcomes.second_right & ~outcomes.first_right
    np.add.at(only, (first[first_wins], second[first_wins]), 1)
    np.add.at(only, (second[second_wins], first[second_wins]), 1)
    for case, is_case in (
        (both, outcomes.first_right & outcomes.second_right),
        (neither, ~outcomes.first_right & ~outcomes.second_right),
    ):
        np.add.at(case, (first[is_case], second[is_case]), 1)
        np.add.at(case, (second[is_case], first[is_case]), 1)
    return Tally(only, both, neither)


def accuracy(cases: Tally, smoothing: float) -> Float[Array, "*B M M"]:
    """A: the share of the duel {i, j}'s items on which i was right, with Laplace smoothing (c + s) / (n + 2s).

    a_ij + a_ji may exceed one (Case I). The diagonal and duels without items are one half, which says nothing;
    rankers leave these pairs out.
    """
    items = cases.items + 2 * smoothing
    return np.divide(cases.right + smoothing, items, out=np.full_like(items, 0.5), where=items > 0)


def dominance(accuracies: Float[Array, "*B M M"]) -> Float[Array, "*B M M"]:
    """B: b_ij = a_ij / a_ji, how many times as often i was right as j; reciprocal, with ones on the diagonal."""
    with np.errstate(
        divide="ignore", invalid="ignore"
    ):  # possible without smoothing; rankers reject values that are not positive
        return accuracies / accuracies.swapaxes(-1, -2)


def compare(cases: Tally, smoothing: float) -> Comparisons:
    """The tally, with both matrices."""
    accuracies = accuracy(cases, smoothing)
    return Comparisons(cases, accuracies, dominance(accuracies))
