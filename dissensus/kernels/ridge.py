"""Kernel ridge regression on matrices: coefficients α = (K + λI)⁻¹Y, leave-one-out predictions, and tilting.

K is the symmetric matrix of kernel values of N items, Y their targets (one-hot labels, not centred), λ the penalty,
which may be 0. Everything is computed in float64, also for float32 matrices; K itself is never changed. One penalty
takes a Cholesky factorisation, several take one eigendecomposition.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted, sides, some

EPSILON = float(np.finfo(np.float64).eps)
NOISE = 64 * EPSILON
"""Leave-one-out predictions below this share of the largest target are rounding errors."""
ROWS = 512
"""Rows that are checked at once, so that a check needs little memory."""
SMALLEST = 1e-300
"""Eigenvalues below this one are zero: what is divided by them overflows."""
TINIEST, LARGEST = 1e-280, 1e280
"""Matrices of this size, and no others, get advice on a penalty: beyond it, numbers vanish or overflow on the way."""
TILT = 0.3
"""Weight of the leave-one-out predictions in the thesis."""


def solve(
    matrix: Float[Array, "N N"], targets: Float[Array, "N C"], penalties: float | Sequence[float]
) -> Float[Array, "N C"] | Float[Array, "P N C"]:
    """Coefficients of kernel ridge regression for one penalty, or for each of several.

    Raises:
        KernelError: the matrix is not symmetric and finite, or it is singular with this penalty.
    """
    matrix, targets = checked(matrix, targets)
    if np.ndim(penalties) == 0:
        return Cholesky(matrix, float(penalties)).solve(targets)  # type: ignore[arg-type]
    spectrum = Spectrum(matrix)
    return np.stack([spectrum.at(penalty).solve(targets) for penalty in penalties])  # type: ignore[union-attr]


def leave_one_out(
    matrix: Float[Array, "N N"], targets: Float[Array, "N C"], penalty: float, copies: int = 1
) -> Float[Array, "N C"]:
    """What every item would be predicted as by a machine that was trained without it: Y − α / diag(Q), Q = (K + λI)⁻¹.

    With `copies`, the items come several times, as with mirrored images: rows i, i + N / copies, … belong together
    and are left out together, by the same formula with blocks of Q.

    Raises:
        KernelError: the matrix is not symmetric and finite, or it is singular with this penalty.
    """
    matrix, targets = checked(matrix, targets)
    return left_out(Cholesky(matrix, penalty), targets, copies)[1]


def tilted(
    matrix: Float[Array, "N N"], targets: Float[Array, "N C"], penalty: float, t: float = TILT, copies: int = 1
) -> Float[Array, "N C"]:
    """Coefficients of leave-one-out tilting: α = Q ((1 − t)·Y + t·Y_loo).

    It averages the predictions from the true labels and from those that are imputed by leaving each item out. The
    thesis prints Q (Y − t·Y_loo), which moves away from them: −t / (1 − t) in place of t gives the same classes.

    Raises:
        KernelError: as `solve`, or t is not a finite number of at most 1.
    """
    matrix, targets = checked(matrix, targets)
    return tilted_and_left_out(Cholesky(matrix, penalty), targets, t, copies)[0]


class Factor(Protocol):
    """K + λI in a form that solves equations."""

    def solve(self, targets: Float[Array, "N C"]) -> Float[Array, "N C"]:
        """Q times the targets."""
        ...

    def inverse_blocks(self, copies: int) -> Float[Array, "n k k"]:
        """The entries of Q among the copies of each item; its diagonal, if there is one copy."""
        ...


class Cholesky:
    """K + λI = L Lᵀ in one array beside K; it is replaced by the inverse of L once a diagonal is needed.

    Raises:
        KernelError: the matrix is singular with this penalty.
    """

    def __init__(self, matrix: Float[Array, "N N"], penalty: float) -> None:
        factor = _cholesky(matrix, checked_penalty(penalty))
        if factor is None:
            raise KernelError(_why_singular(matrix, penalty))
        self._factor = factor
        self._is_inverse = False

    def solve(self, targets: Float[Array, "N C"]) -> Float[Array, "N C"]:
        """Q times the targets."""
        from scipy.linalg import cho_solve

        if self._is_inverse:
            return self._factor.T @ (self._factor @ targets)
        return cho_solve((self._factor, True), targets, check_finite=False)

    def inverse_blocks(self, copies: int) -> Float[Array, "n k k"]:
        """The entries of Q among the copies of each item; its diagonal, if there is one copy."""
        from scipy.linalg.lapack import dtrtri

        if not self._is_inverse:
            self._factor, _ = dtrtri(self._factor, lower=1, overwrite_c=1)
            self._is_inverse = True
        # Q = L⁻ᵀ L⁻¹, so its entries are products of columns of L⁻¹.
        parts = np.split(self._factor, copies, axis=1)
        return np.stack([np.stack([np.einsum("ki,ki->i", a, b) for a in parts], -1) for b in parts], -1)


class Spectrum:
    """Eigenvalues and eigenvectors of K, which serve every penalty."""

    def __init__(self, matrix: Float[Array, "N N"]) -> None:
        from scipy.linalg import eigh

        work = np.array(matrix, np.float64).T  # symmetric: the transpose is the same matrix in LAPACK's order
        # The default driver needs one array beside this one; 'evd' is faster, and needs two more.
        self.values, self.vectors = eigh(work, overwrite_a=True, check_finite=False)
        self._matrix = matrix

    def at(self, penalty: float) -> Factor:
        """K + λI for one penalty.

        Raises:
            KernelError: the matrix is singular with this penalty.
        """
        shifted = self.values + checked_penalty(penalty)
        if shifted[0] <= max(EPSILON * shifted[-1], SMALLEST):
            raise KernelError(_why_singular(self._matrix, penalty))
        return _Shifted(shifted, self.vectors)


class _Shifted:
    def __init__(self, values: Float[Array, " N"], vectors: Float[Array, "N N"]) -> None:
        self._values, self._vectors = values, vectors

    def solve(self, targets: Float[Array, "N C"]) -> Float[Array, "N C"]:
        return self._vectors @ ((self._vectors.T @ targets) / self._values[:, None])

    def inverse_blocks(self, copies: int) -> Float[Array, "n k k"]:
        parts, weights = np.split(self._vectors, copies), 1 / self._values
        return np.stack([np.stack([np.einsum("ik,k,ik->i", a, weights, b) for a in parts], -1) for b in parts], -1)


def left_out(
    factor: Factor, targets: Float[Array, "N C"], copies: int = 1
) -> tuple[Float[Array, "N C"], Float[Array, "N C"]]:
    """Coefficients, and the predictions of every item without it and its copies.

    Raises:
        KernelError: the rows do not divide into copies.
    """
    count, classes = targets.shape
    if copies < 1 or count % copies:
        raise KernelError(f"{count:,} rows are not {copies} copies of the same items: give their number")
    coefficients = factor.solve(targets)
    blocks = factor.inverse_blocks(copies)
    apart = coefficients.reshape(copies, -1, classes).transpose(1, 0, 2)
    residuals = np.linalg.solve(blocks, apart).transpose(1, 0, 2).reshape(count, classes)
    loo = targets - residuals
    # What is left of a target after rounding knows the label: of a black image, or with a huge penalty, it is all.
    loo[np.abs(loo) < NOISE * float(np.abs(targets).max(initial=0))] = 0
    return coefficients, loo


def tilted_and_left_out(
    factor: Factor, targets: Float[Array, "N C"], t: float, copies: int = 1
) -> tuple[Float[Array, "N C"], Float[Array, "N C"]]:
    """Tilted coefficients, and the leave-one-out predictions that they come from.

    Raises:
        KernelError: t is not a finite number of at most 1, or the rows do not divide into copies.
    """
    if not -np.inf < t <= 1:
        raise KernelError(f"a tilt of {t:g} is not a finite number of at most 1: use 0.3, or 0 for none")
    coefficients, loo = left_out(factor, targets, copies)
    return (coefficients if t == 0 else factor.solve((1 - t) * targets + t * loo)), loo


def checked(
    matrix: Float[Array, "N N"], targets: Float[Array, "N C"]
) -> tuple[Float[Array, "N N"], Float[Array, "N C"]]:
    """The matrix as an array, and the targets in float64, once both are known to fit.

    Raises:
        KernelError: the matrix is not square, symmetric and finite, or the targets have other rows or gaps.
    """
    matrix = np.asarray(matrix)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not len(matrix):
        raise KernelError(
            f"a matrix of {sides(matrix.shape)} is not square: give the kernel of the items with themselves"
        )
    targets = np.asarray(targets, np.float64)
    if targets.ndim != 2 or len(targets) != len(matrix):
        raise KernelError(
            f"targets of {sides(targets.shape)} do not fit a matrix of {len(matrix):,} rows: give a row each"
        )
    if not np.isfinite(targets).all():
        raise KernelError("some targets are not finite: give a number for every item and class")
    largest = float(np.abs(np.diagonal(matrix)).max())
    tolerance = max(largest, 1e-300) * (1e-5 if matrix.dtype.itemsize < 8 else 1e-9)
    for rows in _slices(len(matrix)):
        if not np.isfinite(matrix[rows]).all():
            place = rows.start + int(np.flatnonzero(~np.isfinite(matrix[rows]).all(axis=1))[0])
            raise KernelError(f"row {place} of the matrix is not finite: compute the kernel again, in float64")
        if not np.allclose(matrix[rows], matrix[:, rows].T, rtol=1e-5, atol=tolerance):
            raise KernelError("the matrix is not symmetric: give the kernel of the items with themselves")
    return matrix, targets


def checked_penalty(penalty: Any) -> float:
    """The penalty as a number.

    Raises:
        KernelError: it is not a finite number of at least 0.
    """
    try:
        number = float(penalty)
    except (TypeError, ValueError):
        raise KernelError(f"a penalty of {quoted(penalty)} is not a number: use 0 or more, such as 1e-4") from None
    if not 0 <= number < np.inf:
        raise KernelError(f"a penalty of {number:g} is not a number of at least 0: use 0 or more, such as 1e-4")
    return number


def _cholesky(matrix: Float[Array, "N N"], penalty: float) -> Float[Array, "N N"] | None:
    """The lower factor of K + λI; None if it is singular in float64."""
    from scipy.linalg.lapack import dpocon, dpotrf

    work = np.array(matrix, np.float64)
    work[np.diag_indices_from(work)] += penalty
    with np.errstate(over="ignore"):
        norm = max(float(np.abs(work[rows]).sum(axis=1).max()) for rows in _slices(len(work)))
    factor, failed_at = dpotrf(work.T, lower=1, clean=1, overwrite_a=1)
    if failed_at:
        return None
    reciprocal, _ = dpocon(factor, norm, uplo="L")
    return factor if reciprocal > EPSILON else None


def _why_singular(matrix: Float[Array, "N N"], penalty: float) -> str:
    """What makes the matrix singular, and the smallest power of ten that is enough as a penalty."""
    start = f"the matrix is singular with a penalty of {penalty:g}: "
    zero = np.flatnonzero(np.diagonal(matrix) == 0)
    if len(zero):
        start += f"the kernel of {_named(zero)} with itself is 0, as of a black image; "
    equal = _equal_rows(matrix)
    if equal:
        pairs = some([f"{first} = {second}" for first, second in equal])
        start += f"some items are equal ({pairs}); remove duplicates, or "
    enough = _smallest_penalty(matrix)
    return f"{start}{'scale the items first' if enough is None else f'use a penalty of at least {enough:.0e}'}"


def _named(places: Array) -> str:
    return f"item{'s' * (len(places) > 1)} {some([str(one) for one in places.tolist()])}"


def _equal_rows(matrix: Float[Array, "N N"]) -> list[tuple[int, int]]:
    """Items with the first one of the same features, if there is one: K_ii + K_jj − 2 K_ij is 0, up to rounding."""
    own = np.diagonal(matrix).astype(np.float64)
    tolerance = 4 * float(np.finfo(matrix.dtype).eps) if np.issubdtype(matrix.dtype, np.floating) else EPSILON
    found: list[tuple[int, int]] = []
    for rows in _slices(len(matrix)):
        sums = own[rows, None] / 2 + own / 2
        near = np.abs(sums - matrix[rows].astype(np.float64)) <= tolerance * sums
        near &= (own > 0) & (np.arange(len(own)) < np.arange(rows.start, rows.stop)[:, None])
        second = np.flatnonzero(near.any(axis=1))
        found += zip(near[second].argmax(axis=1).tolist(), (second + rows.start).tolist(), strict=True)
    return found


def _smallest_penalty(matrix: Float[Array, "N N"]) -> float | None:
    """The smallest power of ten with which the matrix can be factorised, found by halving the range of exponents.

    None if the values are so large or small that there is none in float64.
    """
    with np.errstate(over="ignore"):
        size = float(np.abs(np.diagonal(matrix)).astype(np.float64).sum()) or 1.0
    if not TINIEST < size < LARGEST:
        return None
    low = int(np.floor(np.log10(size * EPSILON))) - 1
    high = int(np.ceil(np.log10(size))) + 1
    while _cholesky(matrix, 10.0**high) is None:  # a matrix with large negative eigenvalues, of no kernel
        high += 2
        if 10.0**high > LARGEST:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _cholesky(matrix, 10.0**middle) is not None else (middle, high)
    return 10.0**high


def _slices(count: int) -> Iterator[slice]:
    for start in range(0, count, ROWS):
        yield slice(start, min(start + ROWS, count))
