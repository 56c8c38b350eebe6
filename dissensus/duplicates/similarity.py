"""Structural similarity (SSIM) of grey images, many pairs at once.

The values are those of scikit-image's `structural_similarity` with its defaults: uniform windows of 7 × 7 pixels that
lie within the image, sample covariance, values from 0 to 255, and the mean over all windows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from dissensus.arrays import Array, Float, Int, UInt8
from dissensus.errors import DuplicatesError
from dissensus.processors import cores

WINDOW = 7
SIZE = WINDOW * WINDOW
FIRST_CONSTANT = (0.01 * 255) ** 2 * SIZE**2
SECOND_CONSTANT = (0.03 * 255) ** 2 * SIZE * (SIZE - 1)
"""C₁ and C₂ of the paper, for sums instead of means, and for sample covariances times SIZE · (SIZE − 1)."""


def ssim(first: UInt8[Array, "h w"], second: UInt8[Array, "h w"]) -> float:
    """Structural similarity of two grey images: 1 if they are equal, about 0 if they have nothing in common.

    Raises:
        DuplicatesError: the images differ in size, or are smaller than the window.
    """
    if first.shape != second.shape:
        raise DuplicatesError(f"images of {first.shape} and {second.shape} pixels cannot be compared: scale them first")
    return float(ssim_pairs(np.stack([first, second]), np.array([[0, 1]]))[0])


def ssim_pairs(images: UInt8[Array, "n h w"], pairs: Int[Array, "p 2"]) -> Float[Array, " p"]:
    """Structural similarity of pairs of images, each given by two positions; all cores work on it.

    Raises:
        DuplicatesError: the images are not grey, or are smaller than the window.
    """
    if images.ndim != 3 or images.dtype != np.uint8:
        raise DuplicatesError("SSIM compares grey images of one size, with values from 0 to 255")
    if min(images.shape[1:]) < WINDOW:
        raise DuplicatesError(f"SSIM needs images of at least {WINDOW} × {WINDOW} pixels, not {images.shape[1:]}")
    images, pairs = np.ascontiguousarray(images), np.asarray(pairs, np.int64).reshape(-1, 2)
    if len(pairs) and not (pairs.min() >= 0 and pairs.max() < len(images)):
        raise DuplicatesError(f"a pair names an image beyond the {len(images):,} that there are")
    out = np.empty(len(pairs))
    parts = cores()
    with ThreadPoolExecutor(parts) as threads:
        for done in [
            threads.submit(_similarities, images, pairs[start::parts], out[start::parts]) for start in range(parts)
        ]:
            done.result()
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy", boundscheck=False)
def _similarities(images, pairs, out):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Sums of x, y, x² + y² and xy over seven rows slide down the image; integers below 2²⁴ are exact in float32."""
    height, width = images.shape[1:]
    sums = np.empty((4, width), np.float32)
    for number in range(len(pairs)):
        first, second = images[pairs[number, 0]], images[pairs[number, 1]]
        sums[:] = 0
        total = 0.0
        for row in range(height):
            _add(sums, first[row], second[row], np.float32(1))
            if row >= WINDOW:
                _add(sums, first[row - WINDOW], second[row - WINDOW], np.float32(-1))
            if row >= WINDOW - 1:
                total += _row_total(sums[0], sums[1], sums[2], sums[3])
        out[number] = total / ((height - WINDOW + 1) * (width - WINDOW + 1))


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _add(sums, first, second, sign):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    for column in range(len(first)):
        x, y = np.float32(first[column]), np.float32(second[column])
        sums[0, column] += sign * x
        sums[1, column] += sign * y
        sums[2, column] += sign * (x * x + y * y)
        sums[3, column] += sign * (x * y)


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def _row_total(x, y, squares, products):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Sum of the similarities of all windows of a row, whose constants are multiplied by the size of a window."""
    total = 0.0
    for column in range(len(x) - WINDOW + 1):
        sx, sy = np.float64(_seven(x, column)), np.float64(_seven(y, column))
        ss, sp = np.float64(_seven(squares, column)), np.float64(_seven(products, column))
        means, lengths = sx * sy, sx * sx + sy * sy
        total += ((2 * means + FIRST_CONSTANT) * (2 * (SIZE * sp - means) + SECOND_CONSTANT)) / (
            (lengths + FIRST_CONSTANT) * (SIZE * ss - lengths + SECOND_CONSTANT)
        )
    return total


@numba.njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc"})
def _seven(sums, start):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Written out, because compilers vectorise no loop within a loop."""
    first, last = sums[start] + sums[start + 1] + sums[start + 2], sums[start + 4] + sums[start + 5] + sums[start + 6]
    return first + sums[start + 3] + last
