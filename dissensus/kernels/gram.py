"""The matrix of a kernel for images: which device computes it, and in which blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, quoted, sides
from dissensus.kernels.layers import Kernel, Layer, kernel_named, levels
from dissensus.kernels.memory import refuse_too_large
from dissensus.kernels.norms import checked_images

DEVICES = ("auto", "cpu", "cuda")
PRECISIONS = ("float32", "float64")

AnyKernel = str | Kernel | Iterable[Layer | Kernel]


class Engine(Protocol):
    """Computes blocks of a matrix on one device."""

    name: str
    """For people, such as 'CPU, 2 threads'."""
    device: str
    precision: str
    side: int
    """Images along the side of a tile that is computed at once: a few seconds of work."""
    memory_bytes: int
    """Main memory that it needs, beside the blocks it returns."""

    def block(self, rows: slice, columns: slice) -> Float[Array, "r c"]:
        """The kernel of images rows × columns."""


class Tile(NamedTuple):
    """A block of a matrix that is computed at once."""

    rows: slice
    columns: slice


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
    pairs, done = pairs_of(n, m), 0
    for tile in tiles(n, m, chosen.side):
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
        raise KernelError(f"{quoted(device)} is not a device: use auto, cpu or cuda")
    if precision not in PRECISIONS:
        raise KernelError(f"{quoted(precision)} is not a precision: use {' or '.join(PRECISIONS)}")
    first, second = checked_images(x), None if z is None else checked_images(z, "z")
    if second is not None and first.shape[1:] != second.shape[1:]:
        sizes = f"images of x are {sides(first.shape[1:])}, those of z {sides(second.shape[1:])}"
        raise KernelError(f"{sizes}: scale or crop them to one size")
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
    from dissensus.kernels.cuda.engine import CudaEngine

    try:
        return CudaEngine(x, z, kernel, precision)
    except KernelError as error:
        if is_required:
            raise KernelError(f"the GPU cannot be used: {error}; or use the device cpu") from None
        return None


def tiles(n: int, m: int | None, side: int) -> tuple[Tile, ...]:
    """Blocks of up to side × side that cover an n × m matrix; m = None: those on and above the diagonal of n × n."""
    if side < 1:
        raise KernelError(f"tiles have sides of 1 or more, not {side}")
    rows = [slice(start, min(start + side, n)) for start in range(0, n, side)]
    columns = rows if m is None else [slice(start, min(start + side, m)) for start in range(0, m, side)]
    return tuple(Tile(r, c) for r in rows for c in columns if m is not None or c.start >= r.start)


def pairs_of(n: int, m: int | None) -> int:
    """How many pairs of images an n × m matrix compares; m = None: n × n, by half."""
    return n * (n + 1) // 2 if m is None else n * m


def _empty(rows: int, columns: int, precision: str) -> Float[Array, "N M"]:
    size, what = rows * columns * np.dtype(precision).itemsize, f"a matrix of {rows:,} × {columns:,}"
    refuse_too_large(size, what, "use fewer images, or keep it on disk with dissensus kernel gram")
    try:
        return np.empty((rows, columns), precision)
    except MemoryError:
        raise KernelError(f"{what} takes {size / 1e9:,.0f} GB of memory: use fewer images") from None
