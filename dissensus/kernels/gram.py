"""The matrix of a kernel for images: which device computes it, in which blocks, and how long it will take."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted
from dissensus.kernels.layers import Kernel, Layer, kernel_named, levels
from dissensus.kernels.memory import refuse_too_large
from dissensus.kernels.norms import checked_images

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "float64")
SIDE = 128
TRIED_SECONDS = 0.5

AnyKernel = str | Kernel | Iterable[Layer | Kernel]


class Engine(Protocol):
    """Computes blocks of a matrix on one device."""

    name: str
    precision: str

    def block(self, rows: slice, columns: slice) -> Float[Array, "r c"]:
        """The kernel of images rows × columns."""


class Tile(NamedTuple):
    """A block of a matrix that is computed at once."""

    rows: slice
    columns: slice


@dataclass(frozen=True)
class Estimate:
    """What a matrix will take: pairs of images, speed, time, and bytes of the result and of everything together."""

    pairs: int
    pairs_per_second: float
    seconds: float
    matrix_bytes: int
    memory_bytes: int


def gram(
    x: Any,
    z: Any = None,
    kernel: AnyKernel = "myrtle5",
    *,
    device: str = "auto",
    precision: str = "float32",
    progress: Callable[[int, int], None] | None = None,
) -> Float[Array, "N M"]:
    """Matrix of a kernel between images x and z, or of x with itself, of which half is computed.

    Images are arrays of n × height × width × channels. `progress(done, pairs)` is called as pairs are finished.

    Raises:
        KernelError: images, a kernel, a device or a precision that do not fit, or a result too large for the precision.
    """
    chosen = engine(x, z, kernel, device, precision)
    n, m = len(x), None if z is None else len(z)
    out = _empty(n, n if m is None else m, precision)
    pairs, done = _pairs(n, m), 0
    for tile in tiles(n, m, SIDE):
        block = chosen.block(*tile)
        out[tile.rows, tile.columns] = block
        is_mirrored = m is None and tile.rows != tile.columns
        if is_mirrored:
            out[tile.columns, tile.rows] = block.T
        done += len(block) * (len(block) + 1) // 2 if m is None and not is_mirrored else block.size
        if progress:
            progress(done, pairs)
    return out


def engine(x: Any, z: Any, kernel: AnyKernel, device: str = "auto", precision: str = "float32") -> Engine:
    """What computes blocks of this matrix; `device="auto"` takes a GPU if there is one that can run the kernel.

    Raises:
        KernelError: images, a kernel, a device or a precision that do not fit.
    """
    if device not in DEVICES:
        raise KernelError(f"{quoted(device)} is not a device: use {', '.join(DEVICES)}")
    if precision not in PRECISIONS:
        raise KernelError(f"{quoted(precision)} is not a precision: use {' or '.join(PRECISIONS)}")
    first, second = checked_images(x), None if z is None else checked_images(z, "z")
    if second is not None and first.shape[1:] != second.shape[1:]:
        sizes = [" × ".join(map(str, images.shape[1:])) for images in (first, second)]
        raise KernelError(f"images of x are {sizes[0]}, those of z {sizes[1]}: scale or crop them to one size")
    chosen = kernel_named(kernel)
    levels(chosen, *first.shape[1:3])
    if device != "cpu":
        found = _cuda(first, second, chosen, precision, is_required=device == "cuda")
        if found is not None:
            return found
    from dissensus.kernels.cpu import CpuEngine

    return CpuEngine(first, second, chosen, precision)


def _cuda(x: Array, z: Array | None, kernel: Kernel, precision: str, is_required: bool) -> Engine | None:
    """The CUDA engine; if it cannot be used, None, or an error if it is required."""
    cuda = importlib.import_module("dissensus.kernels.cuda.engine")
    reason = cuda.available()
    if reason is None:
        try:
            return cuda.CudaEngine(x, z, kernel, precision)
        except KernelError as error:
            reason = str(error)
    if is_required:
        raise KernelError(f"the GPU cannot be used: {reason}; use device='cpu' instead")
    return None


def tiles(n: int, m: int | None, side: int = SIDE) -> tuple[Tile, ...]:
    """Blocks of up to side × side that cover an n × m matrix; m = None: those on and above the diagonal of n × n."""
    if side < 1:
        raise KernelError(f"tiles have sides of 1 or more, not {side}")
    rows = [slice(start, min(start + side, n)) for start in range(0, n, side)]
    columns = rows if m is None else [slice(start, min(start + side, m)) for start in range(0, m, side)]
    return tuple(Tile(r, c) for r in rows for c in columns if m is not None or c.start >= r.start)


def estimate(engine: Engine, n: int, m: int | None) -> Estimate:
    """Time and memory of a whole n × m matrix (m = None: n × n, by half), after timing a corner of it.

    The corner grows until it takes half a second. Its first computation is not counted: it includes compiling, or
    loading what was compiled.
    """
    pairs, rate, side = _pairs(n, m), 0.0, 4
    while pairs:
        height, width = min(n, side), min(n if m is None else m, side)
        if side == 4:
            engine.block(slice(0, height), slice(0, width))
        began = time.perf_counter()
        engine.block(slice(0, height), slice(0, width))
        seconds = max(time.perf_counter() - began, 1e-9)
        rate = _pairs(height, None if m is None else width) / seconds
        if seconds > TRIED_SECONDS or side >= max(n, m or 0):
            break
        side *= 2
    size = n * (n if m is None else m) * np.dtype(engine.precision).itemsize
    return Estimate(pairs, rate, pairs / rate if rate else 0.0, size, size + getattr(engine, "memory_bytes", 0))


def _pairs(n: int, m: int | None) -> int:
    return n * (n + 1) // 2 if m is None else n * m


def _empty(rows: int, columns: int, precision: str) -> Float[Array, "N M"]:
    size, what = rows * columns * np.dtype(precision).itemsize, f"a matrix of {rows:,} × {columns:,}"
    refuse_too_large(size, what, "use fewer images, or keep it on disk with dissensus kernel gram")
    try:
        return np.empty((rows, columns), precision)
    except MemoryError:
        raise KernelError(f"{what} takes {size / 1e9:,.0f} GB of memory: use fewer images") from None
