"""How well classifiers do over many data sets: ranks, shares of the best accuracy, and performance profiles.

Accuracies are fractions, a row per data set (S) and a column per classifier (M). Two accuracies that differ by less
than `SAME` are the same: they come from different sums of the same counts.
"""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import SuiteError

SAME = 1e-9


def checked(accuracies: Float[Array, "S M"]) -> Float[Array, "S M"]:
    """The accuracies, rounded so that equal ones are equal.

    Raises:
        SuiteError: there are no two classifiers, no data set, or an entry that is not a fraction.
    """
    accuracies = np.asarray(accuracies, np.float64)
    if accuracies.ndim != 2 or accuracies.shape[1] < 2 or not len(accuracies):
        raise SuiteError("there is nothing to compare: give at least one data set and two classifiers")
    if not ((accuracies >= 0) & (accuracies <= 1)).all():  # NaN is neither
        row, column = np.argwhere(~((accuracies >= 0) & (accuracies <= 1)))[0]
        raise SuiteError(
            f"the accuracy of classifier {column} on data set {row} is {accuracies[row, column]:g}: give fractions"
        )
    return np.round(accuracies / SAME) * SAME


def ranks(accuracies: Float[Array, "S M"]) -> Float[Array, "S M"]:
    """Rank of every classifier on every data set, 1 for the best; equal ones share the mean of their ranks."""
    from scipy.stats import rankdata

    return rankdata(-checked(accuracies), axis=1)


def shares_of_best(accuracies: Float[Array, "S M"]) -> Float[Array, "S M"]:
    """Accuracies as parts of the best one on the same data set; 1 for all if the best is 0."""
    accuracies = checked(accuracies)
    best = accuracies.max(axis=1, keepdims=True)
    return np.where(best > 0, accuracies / np.where(best > 0, best, 1.0), 1.0)


def reached(accuracies: Float[Array, "S M"], share: float) -> Float[Array, " M"]:
    """Share of the data sets on which a classifier has at least this part of the best accuracy: P90 for 0.9."""
    return (shares_of_best(accuracies) >= share - SAME).mean(axis=0)


def profiles(accuracies: Float[Array, "S M"]) -> tuple[Float[Array, " T"], Float[Array, "T M"]]:
    """Performance profiles: for each τ, the share of data sets on which a classifier is within τ of the best accuracy.

    They are step functions (Dolan and Moré, 2002, with differences for ratios); τ are the places of all steps, from 0.
    """
    accuracies = checked(accuracies)
    behind = np.round((accuracies.max(axis=1, keepdims=True) - accuracies) / SAME) * SAME
    places = np.unique(np.append(behind, 0.0))
    found = [np.searchsorted(np.sort(column), places + SAME / 2) for column in behind.T]
    return places, np.stack(found, axis=1) / len(accuracies)
