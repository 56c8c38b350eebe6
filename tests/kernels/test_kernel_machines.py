"""Kernel machines: scikit-learn's own checks, against its ridge and SVC, choosing penalties, images, and states."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import Any
from unittest import SkipTest

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from dissensus.errors import KernelError
from dissensus.kernels.gram import gram
from dissensus.kernels.layers import chain, conv3, gaussian, mean, pool2
from dissensus.kernels.learning import KernelMachine
from dissensus.kernels.machines import KernelRidgeClassifier, KernelSVC
from dissensus.kernels.whitening import Whitening

DIGITS, LABELS = load_digits(return_X_y=True)
DIGITS = DIGITS[:300] / 16
LABELS = LABELS[:300]
TRAIN, TEST = slice(0, 200), slice(200, 300)


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Matrices are so small that threads of BLAS mostly wait for each other."""
    with threadpool_limits(1):
        yield


INDEFINITE = "it turns the matrix into one that is no kernel's, which ridge regression refuses"


def expected(machine: KernelMachine) -> dict[str, str]:
    if machine.kernel == "precomputed" and isinstance(machine, KernelRidgeClassifier):
        return {"check_positive_only_tag_during_fit": INDEFINITE, "check_estimators_dtypes": INDEFINITE}
    return {}


@parametrize_with_checks(
    [
        KernelRidgeClassifier("gaussian", penalty=1e-2),
        KernelRidgeClassifier("arc-cosine", penalty=(1e-2, 1e-1), tilt=0.3, whiten=True),
        KernelRidgeClassifier("precomputed", penalty=1e-2),
        KernelSVC("ntk"),
        KernelSVC("precomputed"),
    ],
    expected_failed_checks=expected,
)
def test_scikit_learns_own_checks_pass(estimator: KernelMachine, check: Any) -> None:
    with suppress(SkipTest):  # of parts of SciPy that are switched off, and that machines do not claim to support
        check(estimator)


@pytest.mark.parametrize("penalty", [1e-6, 1e-2, 1.0])
def test_ridge_is_scikit_learns_ridge_on_one_hot_labels(penalty: float) -> None:
    machine = KernelRidgeClassifier("gaussian", penalty, gamma=0.1).fit(DIGITS[TRAIN], LABELS[TRAIN])
    other = KernelRidge(alpha=penalty, kernel="rbf", gamma=0.1).fit(DIGITS[TRAIN], np.eye(10)[LABELS[TRAIN]])
    np.testing.assert_allclose(machine.scores(DIGITS[TEST]), other.predict(DIGITS[TEST]), atol=1e-8)
    assert machine.score(DIGITS[TEST], LABELS[TEST]) > 0.9


@pytest.mark.parametrize("classes", [2, 3, 10])
def test_support_vectors_are_those_of_scikit_learn(classes: int) -> None:
    kept = classes > LABELS
    train, test = (DIGITS[kept][::2], LABELS[kept][::2]), DIGITS[kept][1::2]
    machine = KernelSVC("gaussian", C=3.0, gamma=0.1).fit(*train)
    other = SVC(C=3.0, gamma=0.1).fit(*train)
    np.testing.assert_allclose(machine.decision_function(test), other.decision_function(test), atol=5e-3)
    same = SVC(C=3.0, kernel="precomputed").fit(rbf_kernel(train[0], gamma=0.1), train[1])
    block = rbf_kernel(test, train[0], gamma=0.1)
    np.testing.assert_allclose(machine.decision_function(test), same.decision_function(block), atol=1e-9)
    assert len(machine.items_) == len(machine.support_) < len(train[0])
    given = KernelSVC("precomputed", C=3.0).fit(rbf_kernel(train[0], gamma=0.1), train[1])
    np.testing.assert_allclose(given.decision_function(block), machine.decision_function(test), atol=1e-9)


def test_a_precomputed_matrix_is_the_kernel_itself() -> None:
    matrix = rbf_kernel(DIGITS, gamma=0.1)
    own = KernelRidgeClassifier("gaussian", 1e-3, 0.3, gamma=0.1).fit(DIGITS[TRAIN], LABELS[TRAIN])
    given = KernelRidgeClassifier("precomputed", 1e-3, 0.3).fit(matrix[TRAIN, TRAIN], LABELS[TRAIN])
    np.testing.assert_allclose(given.scores(matrix[TEST, TRAIN]), own.scores(DIGITS[TEST]), atol=1e-9)
    with pytest.raises(ValueError, match="features"):
        given.predict(matrix[TEST, TEST])


@pytest.mark.parametrize("machine", [KernelRidgeClassifier("precomputed"), KernelSVC("precomputed")])
def test_grid_search_and_cross_validation_cut_a_matrix_both_ways(machine: KernelMachine) -> None:
    matrix = rbf_kernel(DIGITS, gamma=0.1)
    folds = StratifiedKFold(3)
    name = "C" if isinstance(machine, KernelSVC) else "penalty"
    values = [1e-3, 1.0]
    search = GridSearchCV(machine, {name: values}, cv=folds).fit(matrix, LABELS)
    for value, score in zip(values, search.cv_results_["mean_test_score"], strict=True):
        expected = []
        for train, test in folds.split(matrix, LABELS):
            one = clone(machine).set_params(**{name: value}).fit(matrix[np.ix_(train, train)], LABELS[train])
            expected.append(one.score(matrix[np.ix_(test, train)], LABELS[test]))
        assert score == pytest.approx(np.mean(expected))
    assert cross_val_score(machine.set_params(**{name: 1.0}), matrix, LABELS, cv=folds).mean() > 0.9


def test_machines_work_in_pipelines() -> None:
    machine = make_pipeline(StandardScaler(), KernelRidgeClassifier("gaussian", 1e-2))
    assert cross_val_score(machine, DIGITS, LABELS, cv=3).mean() > 0.85


def test_the_best_penalty_is_chosen_by_leaving_items_out() -> None:
    penalties = (1e-4, 1e-1, 30.0)
    chosen = KernelRidgeClassifier("gaussian", penalties, gamma=0.02).fit(DIGITS[TRAIN], LABELS[TRAIN])
    alone = [KernelRidgeClassifier("gaussian", one, gamma=0.02).fit(DIGITS[TRAIN], LABELS[TRAIN]) for one in penalties]
    best = max(range(3), key=lambda place: alone[place].leave_one_out_accuracy_)
    assert chosen.penalty_ == penalties[best]
    np.testing.assert_allclose(chosen.scores(DIGITS[TEST]), alone[best].scores(DIGITS[TEST]), atol=1e-8)
    np.testing.assert_allclose(chosen.leave_one_out_, alone[best].leave_one_out_, atol=1e-8)


def test_order_of_items_and_names_of_classes_do_not_matter() -> None:
    names = np.array([f"digit {one}" for one in range(10)])
    order = np.random.default_rng(0).permutation(200)
    plain = KernelRidgeClassifier("arc-cosine", 1e-2).fit(DIGITS[TRAIN], LABELS[TRAIN])
    other = KernelRidgeClassifier("arc-cosine", 1e-2).fit(DIGITS[TRAIN][order], names[LABELS[TRAIN]][order])
    np.testing.assert_allclose(other.scores(DIGITS[TEST]), plain.scores(DIGITS[TEST]), atol=1e-8)
    np.testing.assert_allclose(other.leave_one_out_, plain.leave_one_out_[order], atol=1e-8)
    assert (other.predict(DIGITS[TEST]) == names[plain.predict(DIGITS[TEST])]).all()


def test_flips_train_on_mirror_images_and_leave_both_out() -> None:
    images = DIGITS[:40].reshape(-1, 8, 8, 1)
    machine = KernelRidgeClassifier("gaussian", 1e-3, flips=True, gamma=0.1).fit(images, LABELS[:40])
    assert len(machine.items_) == 80
    assert len(machine.leave_one_out_) == 40
    np.testing.assert_allclose(machine.scores(images[:, :, ::-1]), machine.scores(images), atol=1e-8)
    rest = KernelRidgeClassifier("gaussian", 1e-3, flips=True, gamma=0.1).fit(images[1:], LABELS[1:40])
    assert list(rest.classes_) == list(machine.classes_)
    np.testing.assert_allclose(rest.scores(images[:1])[0], machine.leave_one_out_[0], atol=1e-8)


def test_an_image_that_is_its_own_mirror_image_is_named() -> None:
    images = DIGITS[:10].reshape(-1, 8, 8, 1).copy()
    images[4] = (images[4] + images[4, :, ::-1]) / 2
    machine = KernelRidgeClassifier("gaussian", flips=True)
    with pytest.raises(KernelError, match="the mirror image of item 4 is the same: use a penalty above 0, or no flips"):
        machine.fit(images, LABELS[:10])
    assert np.isfinite(machine.set_params(penalty=1e-3).fit(images, LABELS[:10]).leave_one_out_).all()


def test_whitening_is_learnt_from_training_images_only() -> None:
    images = DIGITS.reshape(-1, 8, 8, 1)
    machine = KernelRidgeClassifier("gaussian", 1e-3, whiten=True, gamma=0.01).fit(images[TRAIN], LABELS[TRAIN])
    whitening = Whitening.fit(images[TRAIN])
    by_hand = KernelRidgeClassifier("gaussian", 1e-3, gamma=0.01).fit(whitening.apply(images[TRAIN]), LABELS[TRAIN])
    np.testing.assert_allclose(machine.scores(images[TEST]), by_hand.scores(whitening.apply(images[TEST])), atol=1e-9)


@pytest.mark.parametrize(
    "machine",
    [
        KernelRidgeClassifier("gaussian", (1e-3, 1e-2), 0.3, whiten="augmented", flips=True),
        KernelSVC("linear", C=2.0),
        KernelSVC("gaussian", whiten=True),
    ],
)
@pytest.mark.parametrize("has_names", [False, True])
def test_a_machine_survives_a_file_without_pickle(machine: KernelMachine, has_names: bool) -> None:
    images = DIGITS[:60].reshape(-1, 8, 8, 1)
    labels = np.array(["zero", "one", "two"], object)[LABELS[:60] % 3] if has_names else LABELS[:60]
    fitted = clone(machine).fit(images, labels)
    file = io.BytesIO()
    np.savez(file, **fitted.state())
    file.seek(0)
    with np.load(file, allow_pickle=False) as state:
        again = type(fitted).from_state(state)
    assert {**again.get_params(), "penalty": 0} == {**fitted.get_params(), "penalty": 0}
    np.testing.assert_array_equal(again.scores(images), fitted.scores(images))
    assert (again.predict(images) == fitted.predict(images)).all()


def test_machines_of_tables_and_matrices_have_states_and_others_are_refused() -> None:
    for machine in (KernelRidgeClassifier("ntk", 1e-2), KernelSVC("precomputed")):
        items = DIGITS[:60] @ DIGITS[:60].T if machine.kernel == "precomputed" else DIGITS[:60]
        state = machine.fit(items, LABELS[:60]).state()
        again = type(machine).from_state(state)
        np.testing.assert_array_equal(again.predict(items), machine.predict(items))
    for wrong in (
        {"machine": "KernelRidgeClassifier", "parameters": "{}"},
        state | {"machine": "os.system"},
        state | {"parameters": "{"},
        state | {"coefficients": state["coefficients"][:, 1:]},
    ):
        with pytest.raises(KernelError, match="not the state of a kernel machine"):
            KernelSVC.from_state(wrong)
    with pytest.raises(KernelError, match="not the state of a kernel machine"):
        KernelRidgeClassifier.from_state(state)


@pytest.mark.parametrize(
    ("machine", "items", "words"),
    [
        (KernelRidgeClassifier(), DIGITS, "is not images, as the kernel myrtle5 needs"),
        (KernelRidgeClassifier("gaussian", flips=True), DIGITS, "flips mirror images"),
        (KernelRidgeClassifier("precomputed", whiten=True), DIGITS @ DIGITS.T, "do that before computing it"),
        (KernelRidgeClassifier("linear"), DIGITS, "singular with a penalty of 0"),
        (KernelRidgeClassifier("gaussian", penalty=-1.0), DIGITS, "at least 0"),
        (KernelRidgeClassifier("gaussian", penalty="much"), DIGITS, "'much' is not a number"),
        (KernelRidgeClassifier("gaussian", penalty=()), DIGITS, "no penalty"),
        (KernelRidgeClassifier("gaussian", penalty=1.0, tilt=2.0), DIGITS, "a tilt of 2"),
        (KernelRidgeClassifier("gaussian", whiten="yes"), DIGITS, "whiten='yes' is unknown"),
        (KernelRidgeClassifier("precomputed", 1.0), np.triu(np.ones((300, 300))), "not symmetric"),
    ],
)
def test_errors_say_what_to_do(machine: KernelMachine, items: Any, words: str) -> None:
    with pytest.raises(KernelError, match=words) as error:
        machine.fit(items, LABELS)
    assert "\n" not in str(error.value)


def test_images_have_a_kernel_of_their_own() -> None:
    images = DIGITS[:120].reshape(-1, 8, 8, 1)
    train, test = slice(0, 80), slice(80, 120)
    layers = chain(conv3(), gaussian(), pool2(), conv3(), gaussian(), mean(), gaussian())
    machine = KernelRidgeClassifier(layers, precision="float64").fit(images[train], LABELS[train])
    matrix = gram(images, kernel=layers, precision="float64")
    given = KernelRidgeClassifier("precomputed").fit(matrix[train, train], LABELS[train])
    np.testing.assert_allclose(machine.scores(images[test]), given.scores(matrix[test, train]), atol=1e-8)
    again = KernelRidgeClassifier.from_state(machine.state())
    np.testing.assert_array_equal(again.scores(images[test]), machine.scores(images[test]))
    assert again.kernel == "conv3 gaussian pool2 conv3 gaussian mean gaussian"
    assert cross_val_score(machine, images[:90], LABELS[:90], cv=3).mean() > 0.7


def test_equal_images_with_other_labels_and_black_images_are_named() -> None:
    images = DIGITS[:12].reshape(-1, 8, 8, 1).copy()
    images[7] = images[2]
    machine = KernelRidgeClassifier("conv3 gaussian mean gaussian")
    with pytest.raises(KernelError, match=r"equal \(2 = 7\); remove duplicates, or use a penalty of at least"):
        machine.fit(images, LABELS[:12])
    images[7] = 0
    with pytest.raises(KernelError, match="the kernel of item 7 with itself is 0, as of a black image"):
        machine.fit(images, LABELS[:12])
    assert machine.set_params(penalty=1e-3).fit(images, LABELS[:12]).predict(images[7:8]) in LABELS[:12]
    images[7, 0, 0] = np.nan
    with pytest.raises(KernelError, match=r"finite|NaN"):
        machine.fit(images, LABELS[:12])
