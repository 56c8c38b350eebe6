"""What kernel machines share: preparing items, their matrix, scores, and a state that fits into a file."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, check_is_fitted, column_or_1d, validate_data

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError, quoted, sides
from dissensus.kernels.augmenting import augmented_whitening, flipped
from dissensus.kernels.gram import gram
from dissensus.kernels.layers import kernel_named, text_of
from dissensus.kernels.tables import TABLES
from dissensus.kernels.whitening import Whitening

PRECOMPUTED = "precomputed"


class KernelMachine(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are the kernel of new and training items, times coefficients."""

    kernel: Any
    whiten: bool | str
    epsilon: float
    flips: bool
    gamma: float | None
    depth: int
    device: str
    precision: str
    seed: int
    progress: Callable[[int, int], None] | None = None
    """Called with the pairs of images that are done, and how many there are; not one of scikit-learn's parameters."""
    matrix_of: Callable[[Array], Float[Array, "N N"]] | None = None
    """Computes the matrix of the training items elsewhere, such as on disk; not one of scikit-learn's parameters."""

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
            if str(state["machine"]) != cls.__name__:
                raise ValueError(f"{quoted(str(state['machine']))}, not {cls.__name__}")
            made = cls(**json.loads(str(state["parameters"])))
            made.classes_, made.items_ = np.asarray(state["classes"]), np.asarray(state["items"])
            made.coefficients_ = np.asarray(state["coefficients"], np.float64)
            made.intercept_ = np.asarray(state["intercept"], np.float64)
            made.gamma_ = float(state["table_gamma"])
            parts = {key.removeprefix("whitening_"): state[key] for key in state if key.startswith("whitening_")}
            made.whitening_ = Whitening.from_state(parts) if parts else None
            made._refuse_unfitting()
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
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
        matrix = self._matrix(self.items_) if self.matrix_of is None else self.matrix_of(self.items_)
        return matrix, np.tile(codes, copies), copies

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
            raise KernelError(
                f"items of {sides(X.shape[1:])} do not fit the training items of {sides(self.items_.shape[1:])}"
            )
        items = X if self.whitening_ is None else self.whitening_.apply(X)
        return self._matrix(items, self.items_).astype(np.float64) @ self.coefficients_ + self.intercept_

    def _checked(self, X: Array, y: Array | None = None) -> tuple[Array, Any]:  # noqa: N803
        """Items and labels as arrays; tables are checked as scikit-learn checks them."""
        fits = y is not None
        if np.asarray(X).ndim != 4 or self.kernel == PRECOMPUTED:
            if not _is_of_tables(self.kernel):
                raise KernelError(
                    f"an array of {sides(np.shape(X))} is not images, as the kernel {self.kernel} needs: give number × "
                    f"height × width × channels, or use one of the kernels {', '.join(TABLES)}"
                )
            kinds = (np.float64, np.float32)
            if fits:
                return validate_data(self, X, y, dtype=kinds)
            return validate_data(self, X, reset=False, dtype=kinds), None
        images = np.asarray(X)
        if not np.issubdtype(images.dtype, np.number):
            raise KernelError(f"images of type {images.dtype} are not numbers: give an array of pixels")
        if not len(images):
            raise KernelError("there are no images: give at least one")
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
            return gram(x, z, self.kernel, device=self.device, precision=self.precision, progress=self.progress)
        options = {"gaussian": {"gamma": self.gamma_}, "linear": {}}.get(self.kernel, {"depth": self.depth})
        rows, others = (one if one is None else one.reshape(len(one), -1) for one in (x, z))
        return TABLES[self.kernel](rows, others, **options)

    def _refuse_unfitting(self) -> None:
        """Raise an error if the arrays of a state do not fit each other."""
        rows, columns = self.coefficients_.shape
        count = len(self.classes_)
        if columns not in (count, count * (count - 1) // 2) or self.intercept_.shape != (columns,):
            raise ValueError(f"{columns} columns of coefficients for {count} classes")
        if self.kernel != PRECOMPUTED and rows != len(self.items_):
            raise ValueError(f"{rows} rows of coefficients for {len(self.items_)} items")
        if self.items_.dtype.kind not in "fiub":
            raise ValueError(f"items of {self.items_.dtype}")
        if self.whitening_ is not None and len(self.whitening_.mean) != self.items_[:1].size:
            size = sides(self.items_.shape[1:])
            raise ValueError(f"whitening of {len(self.whitening_.mean)} values for items of {size}")
        if not all(np.isfinite(one).all() for one in (self.items_, self.coefficients_, self.intercept_)):
            raise ValueError("its arrays have values that are not finite")

    def _refuse_with_matrix(self) -> None:
        if self.flips or self.whiten:
            raise KernelError("a precomputed kernel has no images to mirror or whiten: do that before computing it")


def _is_of_tables(kernel: Any) -> bool:
    return isinstance(kernel, str) and kernel in (*TABLES, PRECOMPUTED)


def _kernel_text(kernel: Any) -> str:
    """A kernel as text that a machine can be made with again."""
    if isinstance(kernel, str):
        return kernel
    return text_of(kernel_named(kernel))


def _plain(value: Any) -> Any:
    """A parameter that JSON does not know as one that it does."""
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else list(value)
