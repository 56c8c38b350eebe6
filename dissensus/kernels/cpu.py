"""The CPU path: pairs of images are shared among all cores, and computed by compiled loops (`compiled.py`)."""

from __future__ import annotations

import math
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.kernels.compiled import GAUSSIAN, PLAIN, RELU, Plan, norms_of, pairs_of
from dissensus.kernels.layers import Conv, Gaussian, Kernel, Level, levels
from dissensus.kernels.norms import scales

CHUNK = 16  # pairs that a thread computes at a time
LANES = 8
LEAST_NORM = 1e-18  # of a position, as a share of the image's largest value; below, it counts as zero


def threads() -> int:
    """How many threads compute: as many as this process has cores."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def plan_of(kernel: Kernel, height: int, width: int) -> Plan:
    """A kernel for images of this size, as the compiled loops want it."""
    sizes, first, steps, gammas, norms = [], [0], [], [], 0
    for level in levels(kernel, height, width):
        found = _steps(level)
        reach = max((step[0] for step in found), default=0)
        lanes = -(-level.width // LANES) * LANES
        stride = lanes if lanes - level.width >= reach else lanes + reach
        sizes.append((level.height, level.width, lanes, stride, reach, *level.window))
        for near, embedding, gamma in found:
            squarings = max(1, math.ceil(math.log2(2 * gamma))) if gamma else 0
            steps.append((near, embedding, norms, squarings))
            gammas.append(gamma / 2**squarings)
            norms += level.height * lanes if embedding != PLAIN else 0
        first.append(len(steps))
    as_steps = np.array(steps, np.int64).reshape(-1, 4)
    return Plan(np.array(sizes, np.int64), np.array(first, np.int64), as_steps, np.array(gammas), norms)


def _steps(level: Level) -> list[tuple[int, int, float]]:
    """Reach, embedding and γ of every step: a convolution and the embedding after it are one step.

    No convolution reaches further than the image, where there is nothing to add.
    """
    found: list[tuple[int, int, float]] = []
    is_open = False
    for layer in level.layers:
        if isinstance(layer, Conv):
            reach = min(layer.width // 2, max(level.height, level.width) - 1)
            found.append((reach, PLAIN, 0.0))
            is_open = True
        else:
            near = found.pop()[0] if is_open else 0
            found.append((near, GAUSSIAN, layer.gamma) if isinstance(layer, Gaussian) else (near, RELU, 0.0))
            is_open = False
    return found


def image_norms(images: Float[Array, "n h w c"], kernel: Kernel) -> list[Float[Array, "n h w"]]:
    """Norms of every position at every embedding; images have been divided by their scales."""
    plan = plan_of(kernel, *images.shape[1:3])
    flat = _all_norms(images, plan)
    found = []
    for v, (height, width, lanes, *_) in enumerate(plan.sizes):
        for step in plan.steps[plan.first[v] : plan.first[v + 1]]:
            if step[1] != PLAIN:
                part = flat[:, step[2] : step[2] + height * lanes]
                found.append(part.reshape(len(flat), height, lanes)[:, :, :width].copy())
    return found


def _all_norms(images: Float[Array, "n h w c"], plan: Plan) -> Float[Array, "n norms"]:
    out = np.zeros((len(images), plan.norms))
    if plan.norms == 0:
        return out
    flat = _flat(images, int(plan.sizes[0, 2]), np.dtype(np.float64))
    with ThreadPoolExecutor(threads()) as pool:
        for done in [
            pool.submit(norms_of, flat[start : start + 1], plan, plan.gammas, out[start : start + 1])
            for start in range(len(images))
        ]:
            done.result()
    return out


def _flat(images: Float[Array, "n h w c"], lanes: int, dtype: np.dtype) -> Float[Array, "n chl"]:
    """Images as channels × height × lanes, with zeros beyond their width."""
    count, height, width, channels = images.shape
    flat = np.zeros((count, channels, height, lanes), dtype)
    flat[..., :width] = np.moveaxis(images, 3, 1)
    return flat.reshape(count, channels * height * lanes)


class CpuEngine:
    """Blocks of a kernel's matrix, computed on all cores; norms are computed when a block first needs them."""

    def __init__(
        self, x: Float[Array, "n h w c"], z: Float[Array, "m h w c"] | None, kernel: Kernel, precision: str
    ) -> None:
        self.precision = precision
        self.name = f"CPU, {threads()} thread{'s' * (threads() > 1)}"
        self.plan = plan_of(kernel, *x.shape[1:3])
        self.rows = _Side(x, self.plan, np.dtype(precision))
        self.columns = self.rows if z is None else _Side(z, self.plan, np.dtype(precision))
        self.pool = ThreadPoolExecutor(threads())

    def block(self, rows: slice, columns: slice) -> Float[Array, "r c"]:
        """The kernel of images rows × columns; a block on the diagonal of a symmetric matrix is computed by half."""
        row = np.arange(*rows.indices(len(self.rows.images)))
        column = np.arange(*columns.indices(len(self.columns.images)))
        is_symmetric = self.rows is self.columns and np.array_equal(row, column)
        first, second = np.triu_indices(len(row)) if is_symmetric else _all_pairs(len(row), len(column))
        out = np.zeros((len(row), len(column)), self.precision)
        out[first, second] = self._pairs(row[first], column[second])
        if is_symmetric:
            out[second, first] = out[first, second]
        return out

    def _pairs(self, rows: Int[Array, " p"], columns: Int[Array, " p"]) -> Float[Array, " p"]:
        self.rows.ensure(rows)
        self.columns.ensure(columns)
        out = np.empty(len(rows), self.precision)
        x, z = self.rows, self.columns
        gammas = self.plan.gammas.astype(self.precision)
        given = (x.flat, z.flat, x.norms, z.norms, x.inverse, z.inverse, self.plan, gammas)
        parts = [slice(start, start + CHUNK) for start in range(0, len(rows), CHUNK)]
        for done in [self.pool.submit(pairs_of, *given, rows[part], columns[part], out[part]) for part in parts]:
            done.result()
        return out * x.scales[rows] * z.scales[columns]


class _Side:
    """Images of one side of the matrix, divided by their scales, and their norms as far as they are known."""

    def __init__(self, images: Float[Array, "n h w c"], plan: Plan, dtype: np.dtype) -> None:
        self.plan, self.scales = plan, scales(images)
        self.images = (images / self.scales[:, None, None, None]).astype(dtype)
        self.flat = _flat(self.images, int(plan.sizes[0, 2]), dtype)
        self.norms = np.zeros((len(images), plan.norms), dtype)
        self.inverse = np.zeros_like(self.norms)
        self.is_known = np.zeros(len(images), bool)

    def ensure(self, numbers: Int[Array, " p"]) -> None:
        """Compute the norms of these images, unless they are known."""
        missing = np.unique(numbers[~self.is_known[numbers]])
        found = _all_norms(self.images[missing], self.plan)
        is_zero = found < LEAST_NORM
        self.norms[missing] = np.where(is_zero, 0, found)
        self.inverse[missing] = np.where(is_zero, 0, 1 / np.where(is_zero, 1, found))
        self.is_known[missing] = True


def _all_pairs(rows: int, columns: int) -> tuple[Int[Array, " p"], Int[Array, " p"]]:
    first, second = np.divmod(np.arange(rows * columns), max(columns, 1))
    return first, second
