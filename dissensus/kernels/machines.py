"""Kernel machines with scikit-learn's interface: ridge regression on one-hot labels, and support vectors.

X is an array of images (number × height × width × channels) for kernels of images, a table with a row per item for
kernels of tables, or a block of the matrix itself for `kernel="precomputed"`, as scikit-learn cuts it for
cross-validation. Kernels of tables take images, too, and flatten them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError, quoted
from dissensus.kernels.augmenting import augmented_whitening, flipped
from dissensus.kernels.ridge import Cholesky, Spectrum, checked, checked_penalty, tilted_and_left_out
from dissensus.kernels.whitening import EPSILON, Whitening

PRECOMPUTED = "precomputed"
TABLE_KERNELS = ("linear", "gaussian", "arc-cosine", "ntk")


class _Machine(ClassifierMixin, BaseEstimator):
    """What both machines share: preparing items, their matrix, and scores as the matrix times coefficients."""

    kernel: Any
    whiten: bool | str
    epsilon: float
    flips: bool
    gamma: float | None
    depth: int
    device: str
    precision: str
    seed: int

    def scores(self, X: Array) -> Float[Array, "N C"]:  # noqa: N803 - scikit-learn's name
        """A score of every class for every item; the largest one is predicted."""
        raise NotImplementedError

    def predict(self, X: Array) -> Array:  # noqa: N803
        """The class with the largest score; the first of them, if several have it."""
        scores = self.scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def decision_function(self, X: Array) -> Array:  # noqa: N803
        """A score per class; of two classes, how much larger that of the second is."""
        scores = self.scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def state(self) -> dict[str, Any]:
        """Everything that is needed to predict, as arrays and strings: `numpy.savez(path, **state)` keeps it.

        Raises:
            KernelError: the classes are neither numbers nor text.
        """
        check_is_fitted(self)
        classes = np.asarray(self.classes_)
        if classes.dtype == object:
            classes = np.asarray(classes.tolist())
        if classes.dtype.kind not in "biufSU":
            raise KernelError(f"classes such as {quoted(self.classes_[0])} cannot be saved: use numbers or text")
        parameters = self.get_params(deep=False) | {"kernel": _kernel_text(self.kernel)}
        found = {
            "machine": type(self).__name__,
            "parameters": json.dumps(parameters, default=_plain),
            "classes": classes,
            "items": self.items_,
            "coefficients": self.coefficients_,
            "intercept": self.intercept_,
            "table_gamma": np.float64(self.gamma_),
        }
        whitening = {} if self.whitening_ is None else self.whitening_.state()
        return found | {f"whitening_{name}": value for name, value in whitening.items()}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Self:
        """The machine that `state` was called on, which predicts the same.

        Raises:
            KernelError: something is missing, or it is the state of something else.
        """
        try:
            name, parameters = str(state["machine"]), json.loads(str(state["parameters"]))
            kind = next(one for one in MACHINES if one.__name__ == name and issubclass(one, cls))
            made = kind(**parameters)
            made.classes_, made.items_ = np.asarray(state["classes"]), np.asarray(state["items"])
            made.coefficients_ = np.asarray(state["coefficients"], np.float64)
            made.intercept_ = np.asarray(state["intercept"], np.float64)
            made.gamma_ = float(state["table_gamma"])
            parts = {key.removeprefix("whitening_"): state[key] for key in state if key.startswith("whitening_")}
            made.whitening_ = Whitening.from_state(parts) if parts else None
        except (KeyError, TypeError, ValueError, StopIteration, AttributeError) as error:
            raise KernelError(f"this is not the state of a kernel machine ({type(error).__name__}: {error})") from None
        return made

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == PRECOMPUTED
        tags.input_tags.two_d_array = _is_of_tables(self.kernel)
        tags.input_tags.three_d_array = not _is_of_tables(self.kernel)
        return tags

    def _learnt(self, X: Array, y: Array) -> tuple[Float[Array, "N N"], Int[Array, " N"], int]:  # noqa: N803
        """Matrix and class numbers of the training items, with their copies; how many copies of each there are."""
        X, y = self._checked(X, y)  # noqa: N806
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if self.kernel == PRECOMPUTED:
            self._refuse_with_matrix()
            self.items_, self.whitening_, self.gamma_ = np.empty((0, 0)), None, 0.0
            return X, codes, 1
        if self.flips and X.ndim != 4:
            raise KernelError("flips mirror images, and a table has none: set flips to False")
        copies = 2 if self.flips else 1
        items = flipped(X) if self.flips else X
        self.whitening_ = self._whitening(X, items)
        self.items_ = items if self.whitening_ is None else self.whitening_.apply(items)
        self.gamma_ = self._gamma()
        return self._matrix(self.items_), np.tile(codes, copies), copies

    def _scored(self, X: Array) -> Float[Array, "N S"]:  # noqa: N803
        """The matrix between new and training items, times the coefficients."""
        check_is_fitted(self)
        X, _ = self._checked(X)  # noqa: N806
        if self.kernel == PRECOMPUTED:
            if X.shape[1] != len(self.coefficients_):
                raise KernelError(
                    f"a matrix of {X.shape[1]:,} columns does not fit {len(self.coefficients_):,} training items: give "
                    "the kernel of the new items with all of them"
                )
            return np.asarray(X, np.float64) @ self.coefficients_ + self.intercept_
        if X.shape[1:] != self.items_.shape[1:]:
            raise KernelError(f"items of {_sides(X)} do not fit the training items of {_sides(self.items_)}")
        items = X if self.whitening_ is None else self.whitening_.apply(X)
        return self._matrix(items, self.items_).astype(np.float64) @ self.coefficients_ + self.intercept_

    def _checked(self, X: Array, y: Array | None = None) -> tuple[Array, Any]:  # noqa: N803
        """Items and labels as arrays; tables are checked as scikit-learn checks them."""
        fits = y is not None
        if np.asarray(X).ndim != 4 or self.kernel == PRECOMPUTED:
            if not _is_of_tables(self.kernel):
                raise KernelError(
                    f"an array of {_sides(X, 0)} is not images, as the kernel {self.kernel} needs: give number × "
                    f"height × width × channels, or use one of the kernels {', '.join(TABLE_KERNELS)}"
                )
            kinds = (np.float64, np.float32)
            if fits:
                return validate_data(self, X, y, dtype=kinds)
            return validate_data(self, X, reset=False, dtype=kinds), None
        images = np.asarray(X)
        if not np.issubdtype(images.dtype, np.number) or not len(images):
            raise KernelError(f"images of type {images.dtype} are not numbers: give an array of pixels")
        if fits:
            y = column_or_1d(y, warn=True)
            check_consistent_length(images, y)
        return images, y

    def _whitening(self, images: Array, items: Array) -> Whitening | None:
        if self.whiten in (False, None):
            return None
        if self.whiten == "augmented":
            return augmented_whitening(images, self.epsilon, self.seed, has_flips=self.flips)
        if self.whiten is not True:
            raise KernelError(f"whiten={quoted(self.whiten)} is unknown: use True, False or 'augmented'")
        return Whitening.fit(items, self.epsilon, has_contrast=items.ndim == 4)

    def _gamma(self) -> float:
        """The width of a Gaussian kernel: as given, or 1 / (values per item × their variance)."""
        if self.gamma is not None:
            return float(self.gamma)
        variance = float(np.var(np.asarray(self.items_, np.float64))) if self.kernel == "gaussian" else 0.0
        return 1 / (self.items_[0].size * variance) if variance else 1.0

    def _matrix(self, x: Array, z: Array | None = None) -> Float[Array, "N M"]:
        if not _is_of_tables(self.kernel):
            from dissensus.kernels.gram import gram

            return gram(x, z, self.kernel, device=self.device, precision=self.precision)
        return _table_matrix(self.kernel, x, z, self.gamma_, self.depth)

    def _refuse_with_matrix(self) -> None:
        if self.flips or self.whiten:
            raise KernelError("a precomputed kernel has no images to mirror or whiten: do that before computing it")


class KernelRidgeClassifier(_Machine):
    """Kernel ridge regression on one-hot labels, solved exactly (1.2.1 of the thesis).

    Args:
        kernel: A name such as myrtle5, layers, or a text of layers; linear, gaussian, arc-cosine or ntk for tables;
            or precomputed.
        penalty: λ, added to the diagonal of the matrix; 0 interpolates. Of several, the one with the best
            leave-one-out accuracy is taken (then the smallest squared error), from one eigendecomposition.
        tilt: Share of the labels that are imputed by leaving each item out; the thesis' 0.3, or 0 for none.
        whiten: ZCA whitening, learnt from the training items: True, or 'augmented' to learn it from 20 random copies
            of each image as well.
        epsilon: Added to the eigenvalues in whitening, in units of their mean.
        flips: Train on every image and its mirror image.
        gamma: Width of the Gaussian kernel exp(−γ·‖x − z‖²); by default 1 / (values per item × their variance).
        depth: Hidden layers of the arc-cosine kernel and the NTK.
        device: auto, cpu or cuda, for kernels of images.
        precision: float32 or float64, of the matrix; equations are always solved in float64.
        seed: Of the random copies.

    After `fit`: `classes_`; `penalty_`, the one that was taken; `leave_one_out_`, the scores of every training item
    by a machine without it (and its mirror image); `leave_one_out_accuracy_`.
    """

    def __init__(
        self, kernel: Any = "myrtle5", penalty: float | Sequence[float] = 0.0, tilt: float = 0.0,
        whiten: bool | str = False, flips: bool = False, device: str = "auto", precision: str = "float32",
        *, epsilon: float = EPSILON, gamma: float | None = None, depth: int = 1, seed: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.penalty = penalty
        self.tilt = tilt
        self.whiten = whiten
        self.flips = flips
        self.device = device
        self.precision = precision
        self.epsilon = epsilon
        self.gamma = gamma
        self.depth = depth
        self.seed = seed

    def fit(self, X: Array, y: Array) -> Self:  # noqa: N803
        """Learn from items and their classes.

        Raises:
            KernelError: the items do not fit the kernel, or their matrix is singular with this penalty.
        """
        matrix, codes, copies = self._learnt(X, y)
        targets = checked(matrix, np.eye(len(self.classes_))[codes])
        count = len(codes) // copies
        several = np.ndim(self.penalty) > 0
        penalties = [checked_penalty(one) for one in np.atleast_1d(np.asarray(self.penalty, object))]
        if not penalties:
            raise KernelError("there is no penalty to choose from: give one or several")
        spectrum = Spectrum(matrix) if several else None
        best: tuple[float, float] | None = None
        for penalty in penalties:
            factor = Cholesky(matrix, penalty) if spectrum is None else spectrum.at(penalty)
            coefficients, loo = tilted_and_left_out(factor, targets, self.tilt, copies)
            accuracy = float(np.mean(loo[:count].argmax(axis=1) == codes[:count]))
            quality = accuracy, -float(np.square(loo - targets).sum())
            if best is None or quality > best:
                best, self.coefficients_, self.penalty_ = quality, coefficients, penalty
                self.leave_one_out_, self.leave_one_out_accuracy_ = loo[:count], accuracy
        self.intercept_ = np.zeros(len(self.classes_))
        return self

    def scores(self, X: Array) -> Float[Array, "N C"]:  # noqa: N803
        """A score of every class for every item, near 1 for the right one."""
        return self._scored(X)


class KernelSVC(_Machine):
    """Support vector machine with the hinge loss, by scikit-learn's SVC (libsvm), one class against another.

    The arguments are those of `KernelRidgeClassifier`, with `C` (larger is less regularised) in place of the penalty.
    Ties between classes go to the one with the larger margins. Only support vectors are kept.
    """

    def __init__(
        self, kernel: Any = "myrtle5", C: float = 1.0, whiten: bool | str = False, flips: bool = False,  # noqa: N803
        device: str = "auto", precision: str = "float32",
        *, epsilon: float = EPSILON, gamma: float | None = None, depth: int = 1, seed: int = 0,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self.C = C
        self.whiten = whiten
        self.flips = flips
        self.device = device
        self.precision = precision
        self.epsilon = epsilon
        self.gamma = gamma
        self.depth = depth
        self.seed = seed

    def fit(self, X: Array, y: Array) -> Self:  # noqa: N803
        """Learn from items and their classes.

        Raises:
            KernelError: the items do not fit the kernel.
        """
        from sklearn.svm import SVC

        matrix, codes, _ = self._learnt(X, y)
        checked(matrix, codes[:, None])
        if len(self.classes_) < 2:
            raise KernelError(f"the items are of one class, {quoted(self.classes_[0])}: give items of at least two")
        machine = SVC(C=self.C, kernel=PRECOMPUTED).fit(np.asarray(matrix, np.float64), codes)
        self.support_ = machine.support_
        coefficients = _pair_coefficients(machine)
        if self.kernel == PRECOMPUTED:
            self.coefficients_ = np.zeros((len(codes), coefficients.shape[1]))
            self.coefficients_[self.support_] = coefficients
        else:
            self.items_, self.coefficients_ = self.items_[self.support_], coefficients
        self.intercept_ = -machine.intercept_ if len(self.classes_) == 2 else machine.intercept_
        return self

    def scores(self, X: Array) -> Float[Array, "N C"]:  # noqa: N803
        """Duels that each class wins against the others, and less than half a duel for its margins."""
        margins = self._scored(X)
        count = len(self.classes_)
        if count == 2:
            return np.concatenate([margins, -margins], axis=1) / 2
        wins, sums = np.zeros((2, len(margins), count))
        for pair, (first, second) in enumerate(zip(*np.triu_indices(count, 1), strict=True)):
            won = margins[:, pair] >= 0
            wins[:, first] += won
            wins[:, second] += ~won
            sums[:, first] += margins[:, pair]
            sums[:, second] -= margins[:, pair]
        return wins + sums / (3 * (np.abs(sums) + 1))


MACHINES: tuple[type[_Machine], ...] = (KernelRidgeClassifier, KernelSVC)


def _pair_coefficients(machine: Any) -> Float[Array, "S P"]:
    """Coefficients of the support vectors for every pair of classes, positive for the first of the two.

    libsvm keeps, for every support vector, a row for each other class; for two classes, scikit-learn turns the sign.
    """
    dual, count = machine.dual_coef_, len(machine.n_support_)
    if count == 2:
        return -dual.T
    ends = np.concatenate([[0], np.cumsum(machine.n_support_)])
    pairs = list(zip(*np.triu_indices(count, 1), strict=True))
    found = np.zeros((dual.shape[1], len(pairs)))
    for place, (first, second) in enumerate(pairs):
        own, other = (slice(ends[one], ends[one + 1]) for one in (first, second))
        found[own, place] = dual[second - 1, own]
        found[other, place] = dual[first, other]
    return found


def _is_of_tables(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel in (*TABLE_KERNELS, PRECOMPUTED)


def _kernel_text(kernel: Any) -> str:
    """A kernel as text that a machine can be made with again."""
    if isinstance(kernel, str):
        return kernel
    from dissensus.kernels.layers import kernel_named, text_of

    return text_of(kernel_named(kernel))


def _table_matrix(kernel: str, x: Array, z: Array | None, gamma: float, depth: int) -> Float[Array, "N M"]:
    x = np.asarray(x, np.float64).reshape(len(x), -1)
    z = x if z is None else np.asarray(z, np.float64).reshape(len(z), -1)
    k = x @ z.T
    if kernel == "gaussian":
        k = np.exp(-gamma * np.maximum((x**2).sum(1)[:, None] + (z**2).sum(1) - 2 * k, 0))
    return k


def _plain(value: Any) -> Any:
    """A parameter that JSON does not know as one that it does."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else list(value)


def _sides(array: Array, start: int = 1) -> str:
    return " × ".join(str(side) for side in np.shape(array)[start:]) or "one value"
