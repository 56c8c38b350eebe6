"""Ridge regression on features that never are in memory all at once: only their products are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError


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


def moments(chunks: Iterable[tuple[Float[Array, "n M"], Float[Array, " n"]]]) -> Moments:
    """The moments of rows that come in chunks: features, and the targets of these rows.

    Raises:
        KernelError: there are no rows.
    """
    from scipy.linalg.blas import ssyrk

    count, targets = 0, 0.0
    shift = sums = products = with_targets = None
    for features, values in chunks:
        if shift is None:
            shift = features.mean(axis=0, dtype=float).astype(np.float32)
            products = np.zeros((len(shift), len(shift)), np.float32, order="F")
            sums, with_targets = np.zeros(len(shift)), np.zeros(len(shift))
        moved = np.ascontiguousarray(features - shift, np.float32)
        products = ssyrk(1.0, moved.T, beta=1.0, c=products, lower=1, overwrite_c=1)
        sums += moved.sum(axis=0, dtype=float)
        with_targets += values @ moved
        targets += float(values.sum())
        count += len(values)
    if not count or shift is None or sums is None or products is None or with_targets is None:
        raise KernelError("there are no sequences to learn from")
    return Moments(count, shift, sums, products, targets, with_targets)


@dataclass(frozen=True, eq=False)
class Ridge:
    """A linear function of features: their products with `weights`, plus `offset`."""

    weights: Float[Array, " M"]
    offset: float
    penalty: float

    def values(self, features: Float[Array, "n M"]) -> Float[Array, " n"]:
        return features @ self.weights.astype(np.float32) + self.offset


def ridge(known: Moments, penalties: Sequence[float]) -> list[Ridge]:
    """Least squares with the penalty λ · spread · ‖weights‖² · rows, one for each λ; the offset is not penalised.

    λ is relative to the mean squared distance of a row of features from their mean, so that it means the same for
    features of any scale, and for any number of random features of the same kernel.

    Raises:
        KernelError: all rows are the same, a penalty is not positive, or it is too small for the precision.
    """
    spread = known.spread
    if not np.isfinite(spread) or spread <= 0:
        raise KernelError("all sequences have the same features: there is nothing to tell them apart")
    rest = known.with_targets - known.sums * known.targets / known.count
    return [_solved(known, rest, float(penalty), spread) for penalty in penalties]


def _solved(known: Moments, rest: Float[Array, " M"], penalty: float, spread: float) -> Ridge:
    from scipy.linalg import cho_solve, cholesky
    from scipy.linalg.blas import dsyr

    if not np.isfinite(penalty) or penalty <= 0:
        raise KernelError(f"penalty {penalty}: give a positive number")
    matrix = known.products.astype(float, order="F")
    matrix = dsyr(-1 / known.count, known.sums, a=matrix, lower=1, overwrite_a=1)
    matrix[np.diag_indices_from(matrix)] += penalty * spread * known.count
    try:
        factor = cholesky(matrix, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        raise KernelError(f"penalty {penalty:g} is too small for float32 features: choose a larger one") from None
    weights = cho_solve((factor, True), rest, check_finite=False)
    centre = known.shift + known.sums / known.count
    return Ridge(weights, float(known.targets / known.count - centre @ weights), penalty)
