"""Structural similarity (SSIM) of grey images, many pairs at once.

The values are those of scikit-image's `structural_similarity` with its defaults: uniform windows of 7 × 7 pixels that
lie within the image, sample covariance, values from 0 to 255, and the mean over all windows.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np

from dissensus.arrays import Array, Float, Int, UInt8
from dissensus.errors import DuplicatesError

WINDOW = 7
FIRST_CONSTANT = (0.01 * 255) ** 2
SECOND_CONSTANT = (0.03 * 255) ** 2


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
    cores = os.cpu_count() or 1
    with ThreadPoolExecutor(cores) as threads:
        for done in [
            threads.submit(_similarities, images, pairs[start::cores], out[start::cores]) for start in range(cores)
        ]:
            done.result()
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _similarities(images, pairs, out):  # type: ignore[no-untyped-def]  # pragma: no cover (compiled)
    """Sums over windows slide down the rows as column sums, and along a row as window sums; all are exact integers."""
    height, width = images.shape[1:]
    columns = np.empty((5, width), np.int32)
    size = WINDOW * WINDOW
    for number in range(len(pairs)):
        first, second = images[pairs[number, 0]], images[pairs[number, 1]]
        columns[:] = 0
        total = 0.0
        for row in range(height):
            for column in range(width):
                x, y = np.int32(first[row, column]), np.int32(second[row, column])
                columns[0, column] += x
                columns[1, column] += y
                columns[2, column] += x * x
                columns[3, column] += y * y
                columns[4, column] += x * y
                if row >= WINDOW:
                    x, y = np.int32(first[row - WINDOW, column]), np.int32(second[row - WINDOW, column])
                    columns[0, column] -= x
                    columns[1, column] -= y
                    columns[2, column] -= x * x
                    columns[3, column] -= y * y
                    columns[4, column] -= x * y
            if row < WINDOW - 1:
                continue
            for column in range(width - WINDOW + 1):
                sx = sy = sxx = syy = sxy = np.int64(0)
                for offset in range(WINDOW):
                    sx += columns[0, column + offset]
                    sy += columns[1, column + offset]
                    sxx += columns[2, column + offset]
                    syy += columns[3, column + offset]
                    sxy += columns[4, column + offset]
                ux, uy = sx / size, sy / size
                norm = size * (size - 1.0)
                vx, vy, vxy = (
                    (size * sxx - sx * sx) / norm,
                    (size * syy - sy * sy) / norm,
                    (size * sxy - sx * sy) / norm,
                )
                total += ((2 * ux * uy + FIRST_CONSTANT) * (2 * vxy + SECOND_CONSTANT)) / (
                    (ux * ux + uy * uy + FIRST_CONSTANT) * (vx + vy + SECOND_CONSTANT)
                )
        out[number] = total / ((height - WINDOW + 1) * (width - WINDOW + 1))
