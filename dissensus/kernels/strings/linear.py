"""Ridge regression on features that never are in memory all at once: only their products are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError
from dissensus.processors import one_thread_per_product

FEW = 2048
"""Size up to which one thread multiplies matrices: on a busy machine, threads that wait for each other lose more."""
Chunk = tuple[Float[Array, "n M"], Float[Array, " n"]]
"""Features of some rows, and their targets."""


@dataclass(frozen=True, eq=False)
class Ridge:
    """A linear function of features: their products with `weights`, plus `offset`."""

    weights: Float[Array, " M"]
    offset: float
    penalty: float

    def values(self, features: Float[Array, "n M"]) -> Float[Array, " n"]:
        return features @ self.weights.astype(np.float32) + self.offset


@dataclass(frozen=True, eq=False)
class Moments:
    """Sums over all rows of features and targets, from which every ridge regression follows.

    Features are shifted by the mean of the first rows before they are multiplied, because sums of squares in float32
    lose digits where a mean is large.
    """

    count: int
    shift: Float[Array, " M"]
    sums: Float[Array, " M"]
    """Of shifted features."""
    products: Float[Array, "M M"]
    """Of shifted features; only on and below the diagonal, float32, in Fortran order."""
    targets: float
    with_targets: Float[Array, " M"]

    @property
    def spread(self) -> float:
        """The mean squared distance of a row from the mean: what penalties are relative to."""
        diagonal = self.products.diagonal().astype(float)
        return float((diagonal - self.sums**2 / self.count).sum() / self.count)


def moments(chunks: Iterable[Chunk]) -> Moments:
    """The moments of rows that come in chunks.

    Raises:
        KernelError: there are no rows.
    """
    from scipy.linalg.blas import ssyrk

    rest = iter(chunks)
    features, values = next(rest, (np.zeros((0, 0), np.float32), np.zeros(0)))
    if not len(values):
        raise KernelError("there are no sequences to learn from")
    shift = features.mean(axis=0, dtype=float).astype(np.float32)
    size, count, targets = len(shift), 0, 0.0
    sums, with_targets = np.zeros(size), np.zeros(size)
    products = np.zeros((size, size), np.float32, order="F")
    while len(values):
        moved = np.ascontiguousarray(features - shift, np.float32)
        with _threads(size):
            products = ssyrk(1.0, moved.T, beta=1.0, c=products, lower=1, overwrite_c=1)
        sums += moved.sum(axis=0, dtype=float)
        with_targets += values @ moved
        targets += float(values.sum())
        count += len(values)
        features, values = next(rest, (features, np.zeros(0)))
    return Moments(count, shift, sums, products, targets, with_targets)


def ridge(known: Moments, penalties: Sequence[float]) -> list[Ridge]:
    """Least squares with the penalty λ · spread · ‖weights‖² · rows, one for each λ; the offset is not penalised.

    λ is relative to the mean squared distance of a row of features from their mean, so that it means the same for
    features of any scale, and for any number of random features of the same kernel.

    Raises:
        KernelError: all rows are the same, a penalty is not positive, or it is too small for the precision.
    """
    from scipy.linalg.blas import dsyr

    spread = _checked(known.spread, penalties)
    rest = known.with_targets - known.sums * known.targets / known.count
    centre, mean = known.shift + known.sums / known.count, known.targets / known.count
    found = []
    for penalty in penalties:
        matrix = known.products.astype(float, order="F")
        matrix = dsyr(-1 / known.count, known.sums, a=matrix, lower=1, overwrite_a=1)
        weights = _solved(matrix, rest, penalty, spread * known.count)
        found.append(Ridge(weights, float(mean - centre @ weights), float(penalty)))
    return found


def ridge_of_few(features: Float[Array, "n M"], targets: Float[Array, " n"], penalties: Sequence[float]) -> list[Ridge]:
    """The same functions as `ridge` of the moments, faster if there are fewer rows than features: by their products.

    Raises:
        KernelError: as `ridge`.
    """
    from scipy.linalg.blas import ssyrk

    centre, mean = features.mean(axis=0, dtype=float), float(targets.mean())
    moved = np.ascontiguousarray(features - centre, np.float32)
    with _threads(len(moved)):
        products = ssyrk(1.0, moved.T, trans=1, lower=1)
    spread = _checked(float(products.diagonal().mean(dtype=float)), penalties)
    found = []
    for penalty in penalties:
        parts = _solved(products.astype(float, order="F"), targets - mean, penalty, spread * len(moved))
        weights = parts @ moved
        found.append(Ridge(weights, float(mean - centre @ weights), float(penalty)))
    return found


def _checked(spread: float, penalties: Sequence[float]) -> float:
    """The spread, if there is any and all penalties are positive."""
    if not np.isfinite(spread) or spread <= 0:
        raise KernelError("all sequences have the same features: there is nothing to tell them apart")
    wrong = [penalty for penalty in penalties if not (np.isfinite(penalty) and penalty > 0)]
    if wrong:
        raise KernelError(f"penalty {wrong[0]}: give a positive number")
    return spread


def _solved(matrix: Float[Array, "k k"], right: Float[Array, " k"], penalty: float, unit: float) -> Float[Array, " k"]:
    """The solution for the matrix, given on and below its diagonal, plus the penalty; the matrix is overwritten."""
    from scipy.linalg import cho_solve, cholesky

    matrix[np.diag_indices_from(matrix)] += penalty * unit
    with _threads(len(matrix)):
        try:
            factor = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise KernelError(f"penalty {penalty:g} is too small for float32 features: choose a larger one") from None
        return cho_solve((factor, True), right, check_finite=False)


def _threads(size: int) -> AbstractContextManager[Any]:
    """As many threads as a matrix of this size is worth."""
    return one_thread_per_product() if size <= FEW else nullcontext()
