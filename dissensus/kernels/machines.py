"""Kernel machines with scikit-learn's interface: ridge regression on one-hot labels, and support vectors.

X is an array of images (number × height × width × channels) for kernels of images, a table with a row per item for
kernels of tables, or a block of the matrix itself for `kernel="precomputed"`, as scikit-learn cuts it for
cross-validation. Kernels of tables take images, too, and flatten them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted, some
from dissensus.kernels.learning import PRECOMPUTED, KernelMachine
from dissensus.kernels.ridge import Cholesky, Spectrum, checked, checked_penalty, tilted_and_left_out
from dissensus.kernels.whitening import EPSILON


class KernelRidgeClassifier(KernelMachine):
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
        _, targets = checked(matrix, np.eye(len(self.classes_))[codes])
        count = len(codes) // copies
        several = np.ndim(self.penalty) > 0
        penalties = [checked_penalty(one) for one in np.atleast_1d(np.asarray(self.penalty, object))]
        if not penalties:
            raise KernelError("there is no penalty to choose from: give one or several")
        if self.flips and 0 in penalties:
            self._refuse_symmetric(count)
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

    def _refuse_symmetric(self, count: int) -> None:
        """Raise an error if an image is its own mirror image, which makes two rows of the matrix equal."""
        images, mirrored = self.items_[:count], self.items_[count:]
        same = [place for place in range(count) if np.array_equal(images[place], mirrored[place])]
        if same:
            which = some([str(place) for place in same])
            raise KernelError(f"the mirror image of item {which} is the same: use a penalty above 0, or no flips")


class KernelSVC(KernelMachine):
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
            raise KernelError(
                f"the items are of one class, {quoted(self.classes_.tolist()[0])}: give items of at least two"
            )
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
