"""The CPU path: pairs of images are shared among all cores, and computed by compiled loops (`compiled.py`)."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError
from dissensus.kernels.compiled import GAUSSIAN, PLAIN, RELU, Plan, buffer_sizes, norms_of, pairs_of
from dissensus.kernels.layers import Conv, Gaussian, Kernel, Level, levels
from dissensus.kernels.memory import memory_here
from dissensus.kernels.norms import not_too_large, scales
from dissensus.processors import cores

LANES = 8
CHUNK = 16  # pairs that a thread computes at a time
LEAST_NORM = 1e-18  # of a position, as a share of the image's largest value; below, it counts as zero


def plan_of(kernel: Kernel, height: int, width: int) -> Plan:
    """A kernel for images of this size, as the compiled loops want it."""
    sizes: list[tuple[int, ...]] = []
    steps: list[tuple[int, int, int, int]] = []
    first, gammas, norms = [0], [], 0
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
            found.append((min(layer.width // 2, max(level.height, level.width) - 1), PLAIN, 0.0))
            is_open = True
        else:
            near = found.pop()[0] if is_open else 0
            found.append((near, GAUSSIAN, layer.gamma) if isinstance(layer, Gaussian) else (near, RELU, 0.0))
            is_open = False
    return found


def image_norms(images: Float[Array, "n h w c"], kernel: Kernel) -> list[Float[Array, "n h w"]]:
    """Norms of every position at every embedding; images have been divided by their scales."""
    plan = plan_of(kernel, *images.shape[1:3])
    with ThreadPoolExecutor(cores()) as pool:
        flat = _flat_norms(_flat(images, plan, np.dtype(np.float64)), plan, pool)
    found = []
    for v, (height, width, lanes, *_) in enumerate(plan.sizes):
        for _, embedding, offset, _ in plan.steps[plan.first[v] : plan.first[v + 1]]:
            if embedding != PLAIN:
                part = flat[:, offset : offset + height * lanes]
                found.append(part.reshape(len(flat), height, lanes)[:, :, :width].copy())
    return found


class CpuEngine:
    """Blocks of a kernel's matrix, computed on all cores; norms are computed when a block first needs them."""

    device = "cpu"
    side = 128

    def __init__(
        self, x: Float[Array, "n h w c"], z: Float[Array, "m h w c"] | None, kernel: Kernel, precision: str
    ) -> None:
        self.precision = precision
        self.name = f"CPU, {cores()} thread{'s' * (cores() > 1)}"
        self.plan = plan_of(kernel, *x.shape[1:3])
        self.pool = ThreadPoolExecutor(cores())
        self.rows = _Side(x, self.plan, np.dtype(precision), self.pool)
        self.columns = self.rows if z is None else _Side(z, self.plan, np.dtype(precision), self.pool)
        buffers = int(buffer_sizes(self.plan.sizes).sum()) * np.dtype(precision).itemsize
        sides = {id(side): side.bytes for side in (self.rows, self.columns)}
        self.memory_bytes = sum(sides.values()) + cores() * buffers
        if self.memory_bytes > memory_here():
            size = f"{x.shape[1]} × {x.shape[2]} pixels take {buffers / 1e9:,.1f} GB for each of {cores()} threads"
            raise KernelError(f"{len(x):,} images of {size}, more than this machine has: use smaller images, or fewer")

    def block(self, rows: slice, columns: slice) -> Float[Array, "r c"]:
        """The kernel of images rows × columns; a block on the diagonal of a symmetric matrix is computed by half.

        Raises:
            KernelError: a value is too large for the precision.
        """
        row = np.arange(*rows.indices(self.rows.count))
        column = np.arange(*columns.indices(self.columns.count))
        is_symmetric = self.rows is self.columns and np.array_equal(row, column)
        every = np.triu_indices(len(row)) if is_symmetric else np.indices((len(row), len(column))).reshape(2, -1)
        first, second = np.asarray(every[0]), np.asarray(every[1])
        out = np.zeros((len(row), len(column)), self.precision)
        out[first, second] = self._pairs(row[first], column[second])
        if is_symmetric:
            out[second, first] = out[first, second]
        return out

    def _pairs(self, rows: Int[Array, " p"], columns: Int[Array, " p"]) -> Float[Array, " p"]:
        self.rows.ensure(rows)
        self.columns.ensure(columns)
        x, z = self.rows, self.columns
        out = np.empty(len(rows), self.precision)
        given: tuple[Any, ...] = (x.flat, z.flat, x.norms, z.norms, x.inverse, z.inverse, self.plan)
        gammas = self.plan.gammas.astype(self.precision)
        size = max(1, min(CHUNK, len(rows) // (2 * cores())))
        parts = [slice(start, start + size) for start in range(0, len(rows), size)]
        _run(self.pool, lambda part: pairs_of(*given, gammas, rows[part], columns[part], out[part]), parts)
        with np.errstate(over="ignore"):
            values = (out * x.scales[rows] * z.scales[columns]).astype(self.precision)
        return not_too_large(values)


class _Side:
    """Images of one side of the matrix, divided by their scales, and their norms as far as they are known."""

    def __init__(self, images: Float[Array, "n h w c"], plan: Plan, dtype: np.dtype, pool: ThreadPoolExecutor) -> None:
        self.plan, self.pool, self.count, self.scales = plan, pool, len(images), scales(images)
        self.flat = _flat(images / self.scales[:, None, None, None], plan, dtype)
        self.norms = np.zeros((len(images), plan.norms), dtype)
        self.inverse = np.zeros_like(self.norms)
        self.is_known = np.zeros(len(images), bool)
        self.bytes = self.flat.nbytes + 2 * self.norms.nbytes

    def ensure(self, numbers: Int[Array, " p"]) -> None:
        """Compute the norms of these images, unless they are known."""
        missing = np.unique(numbers[~self.is_known[numbers]])
        found = _flat_norms(self.flat[missing].astype(np.float64), self.plan, self.pool)
        is_zero = found < LEAST_NORM
        with np.errstate(over="ignore"):  # of very many layers; the values are checked
            self.norms[missing] = np.where(is_zero, 0, found)
        self.inverse[missing] = np.where(is_zero, 0, 1 / np.where(is_zero, 1, found))
        self.is_known[missing] = True


def _flat(images: Float[Array, "n h w c"], plan: Plan, dtype: np.dtype) -> Float[Array, "n chl"]:
    """Images as channels × height × lanes, with zeros beyond their width."""
    count, height, width, channels = images.shape
    flat = np.zeros((count, channels, height, int(plan.sizes[0, 2])), dtype)
    flat[..., :width] = np.moveaxis(images, 3, 1)
    return flat.reshape(count, flat[:1].size if count else 0)


def _flat_norms(flat: Float[Array, "n chl"], plan: Plan, pool: ThreadPoolExecutor) -> Float[Array, "n norms"]:
    out = np.zeros((len(flat), plan.norms))
    if plan.norms:
        parts = [slice(n, n + 1) for n in range(len(flat))]
        _run(pool, lambda part: norms_of(flat[part], plan, plan.gammas, out[part]), parts)
    return out


def _run(pool: ThreadPoolExecutor, function: Callable[[slice], None], parts: list[slice]) -> None:
    """Call a function for all parts; if one fails, or the user interrupts, those not yet begun are dropped."""
    waiting = [pool.submit(function, part) for part in parts]
    try:
        for done in waiting:
            done.result()
    finally:
        for done in waiting:
            done.cancel()
