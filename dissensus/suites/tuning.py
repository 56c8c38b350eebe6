"""Hyperparameters by the mean accuracy over four folds (5.4.7 of the thesis), for estimators as scikit-learn's.

A single fold, as in the studies that the thesis repeats, makes the choice on small data sets mostly chance. The folds
are stratified and follow from the seed. The accuracy of the chosen hyperparameters on the folds they were chosen by is
a little too high; a nested estimate, which chooses them again without each outer fold, is not.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import DissensusError, SuiteError, first_line

FOLDS = 4
Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Sequence[Any]]]


@dataclass(frozen=True)
class Tuned:
    """The best hyperparameters, the first of equally good ones, and how good they are."""

    parameters: dict[str, Any]
    accuracy: float
    """Mean over the folds that the hyperparameters were chosen by, as in the thesis."""
    nested: float | None
    """Mean over outer folds that took no part in the choice; None if it was not asked for."""
    tried: tuple[dict[str, Any], ...]
    accuracies: Float[Array, "G F"]
    """Of everything that was tried, on every fold."""


def tuned(
    estimator: Any, grid: Grid, x: Array, y: Array, folds: int = FOLDS, seed: int = 0, is_nested: bool = False
) -> Tuned:
    """Choose hyperparameters from a grid by the mean accuracy over stratified folds.

    Raises:
        SuiteError: no class has a member for every fold, or the estimator cannot be fitted.
    """
    from sklearn.model_selection import GridSearchCV, cross_val_score

    cut = _folds(y, folds, seed)
    search = GridSearchCV(estimator, grid, cv=cut, scoring="accuracy", refit=is_nested, error_score="raise")
    nested = None
    try:
        with warnings.catch_warnings():
            # classes with fewer members than folds are in some folds only
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            search.fit(x, y)
            if is_nested:
                nested = float(cross_val_score(search, x, y, cv=cut, scoring="accuracy", error_score="raise").mean())
    except DissensusError:
        raise
    except ValueError as error:
        raise SuiteError(f"the estimator cannot be tuned on these data: {first_line(error)}") from None
    found = search.cv_results_
    accuracies = np.stack([found[f"split{fold}_test_score"] for fold in range(folds)], axis=1)
    best = int(np.argmax(accuracies.mean(axis=1).round(12)))
    tried = tuple(dict(one) for one in found["params"])
    return Tuned(tried[best], float(accuracies[best].mean()), nested, tried, accuracies)


def tuned_suite(
    classifiers: Mapping[str, tuple[Any, Grid]],
    data_sets: Mapping[str, tuple[Array, Array]],
    folds: int = FOLDS,
    seed: int = 0,
    is_nested: bool = False,
) -> dict[str, list[Any]]:
    """Accuracies of tuned classifiers on several data sets, as the table that `dissensus.compare_classifiers` takes.

    `classifiers` has an estimator and its grid for each name, `data_sets` has x and y.

    Raises:
        SuiteError: there is nothing to compare, or a classifier cannot be tuned on a data set, which it names.
    """
    if not classifiers or not data_sets:
        raise SuiteError("there is nothing to tune: give at least one classifier and one data set")
    table: dict[str, list[Any]] = {"dataset": list(data_sets)} | {name: [] for name in classifiers}
    for data_set, (x, y) in data_sets.items():
        for name, (estimator, grid) in classifiers.items():
            try:
                found = tuned(estimator, grid, x, y, folds, seed, is_nested)
            except DissensusError as error:
                raise SuiteError(f"{name} on {data_set}: {error}") from None
            table[name].append(found.accuracy if found.nested is None else found.nested)
    return table


def _folds(y: Array, folds: int, seed: int) -> Any:
    from sklearn.model_selection import StratifiedKFold

    largest = int(np.unique(np.asarray(y), return_counts=True)[1].max(initial=0))
    if folds < 2 or largest < folds:
        raise SuiteError(
            f"the largest class has {largest} items, too few for {folds} folds: use fewer folds, at least 2"
        )
    return StratifiedKFold(folds, shuffle=True, random_state=seed)
