"""Four-fold tuning: by hand, the same for the same seed, precomputed kernels, nested estimates, and bad input."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from dissensus import compare_classifiers
from dissensus.errors import SuiteError
from dissensus.suites.tuning import tuned, tuned_suite

X, Y = load_iris(return_X_y=True)
GRID = {"C": [0.01, 1.0, 100.0], "gamma": [0.1, 1.0]}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


def test_the_best_mean_over_four_folds_is_chosen() -> None:
    found = tuned(SVC(), GRID, X, Y, seed=5)
    by_hand = {}
    for c in GRID["C"]:
        for gamma in GRID["gamma"]:
            folds = StratifiedKFold(4, shuffle=True, random_state=5).split(X, Y)
            scores = [SVC(C=c, gamma=gamma).fit(X[train], Y[train]).score(X[test], Y[test]) for train, test in folds]
            by_hand[c, gamma] = np.mean(scores)
    best = max(by_hand, key=by_hand.__getitem__)
    assert (found.parameters["C"], found.parameters["gamma"]) == best
    assert found.accuracy == pytest.approx(by_hand[best])
    np.testing.assert_allclose(found.accuracies.mean(axis=1), list(by_hand.values()))
    assert found.nested is None


def test_the_seed_decides_and_a_matrix_is_cut_both_ways() -> None:
    first, second = (tuned(SVC(gamma=0.5), {"C": [0.1, 1.0]}, X, Y, seed=seed) for seed in (1, 1))
    np.testing.assert_array_equal(first.accuracies, second.accuracies)
    matrix = rbf_kernel(X, gamma=0.5)
    given = tuned(SVC(kernel="precomputed"), {"C": [0.1, 1.0]}, matrix, Y, seed=1)
    np.testing.assert_allclose(given.accuracies, first.accuracies)


def test_nested_estimates_are_not_better_by_choice() -> None:
    random = np.random.default_rng(0)
    noise, labels = random.normal(size=(60, 3)), np.repeat([0, 1], 30)
    found = tuned(KNeighborsClassifier(), {"n_neighbors": list(range(1, 16))}, noise, labels, is_nested=True)
    assert found.nested is not None
    assert found.nested < found.accuracy


def test_a_whole_suite_becomes_a_table_to_compare() -> None:
    wine = load_wine(return_X_y=True)
    classifiers = {"svm": (SVC(), GRID), "neighbours": (KNeighborsClassifier(), {"n_neighbors": [1, 5]})}
    table = tuned_suite(classifiers, {"iris": (X, Y), "wine": wine})
    assert table["dataset"] == ["iris", "wine"]
    assert table["svm"][1] == tuned(clone(SVC()), GRID, *wine).accuracy
    assert len(compare_classifiers(table).classifiers) == 2


def test_rare_classes_are_kept_and_hopeless_data_are_refused(recwarn: pytest.WarningsRecorder) -> None:
    rare = np.append(Y[:100], [7])
    assert tuned(SVC(), {"C": [1.0]}, X[:101], rare).accuracy > 0.9
    assert not [one for one in recwarn if "least populated" in str(one.message)]
    with pytest.raises(SuiteError, match="the largest class has 1 items, too few for 4 folds"):
        tuned(SVC(), {"C": [1.0]}, X[:5], np.arange(5))
    with pytest.raises(SuiteError, match="cannot be tuned on these data: Invalid parameter"):
        tuned(SVC(), {"c": [1.0]}, X, Y)
    with pytest.raises(SuiteError, match="svm on holes: the estimator cannot be tuned"):
        tuned_suite({"svm": (SVC(), {"C": [1.0]})}, {"holes": (np.full_like(X, np.nan), Y)})
    with pytest.raises(SuiteError, match="nothing to tune"):
        tuned_suite({}, {})
