"""Blocks of a matrix on an NVIDIA GPU, in float32: myrtle.cu, compiled for a kernel's layers, and what goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float
from dissensus.errors import KernelError, first_line
from dissensus.kernels.cuda.cards import cards, embedded
from dissensus.kernels.layers import Conv, Gaussian, Kernel, Relu, levels
from dissensus.kernels.norms import not_too_large
from dissensus.version import installing

SOURCE = Path(__file__).with_name("myrtle.cu")
SIDES = range(8, 33, 4)
ALL, TRIANGLE, DIAGONAL = range(3)
"""Which pairs of a block are computed, as in myrtle.cu."""
PREPARED = 256
"""Images whose norms are computed at once: 0.4 MB of GPU memory for each."""


@dataclass(frozen=True)
class Variant:
    """How the work of a multiprocessor is divided; by default as was fastest (benchmarks/kernels_gpu.py --variants)."""

    tile: int = 4
    warps: int = 8


@dataclass(frozen=True)
class Shape:
    """What myrtle.cu is compiled for."""

    side: int
    channels: int
    blocks: tuple[int, int, int]
    embedding: Relu | Gaussian
    last: tuple[Relu | Gaussian, ...]
    """Embeddings after the mean; the host applies them."""

    def options(self, variant: Variant) -> tuple[str, ...]:
        """Options of the compiler."""
        first, second, third = self.blocks
        values = {
            "SIDE": self.side,
            "CHANNELS": self.channels,
            "FIRST": first,
            "SECOND": second,
            "THIRD": third,
            "RELU": int(isinstance(self.embedding, Relu)),
            "TILE": variant.tile,
            "WARPS": variant.warps,
        }
        return tuple(f"-D{name}={value}" for name, value in values.items())

    def sizes(self, variant: Variant) -> tuple[int, int, int]:
        """Floats of one image's card, of shared memory, and of scratch for each block of threads: as in myrtle.cu."""
        first, second, third = self.blocks
        half, quarter, planes = self.side // 2, self.side // 4, self.channels + 2 * first
        later = 2 * second * half**2 + 2 * third * quarter**2
        tall = 2 * second * half * (half + 2 * second) + 2 * third * quarter * (quarter + 2 * third)
        slot, last = 2 * half**3, 2 * quarter**4
        rows = first + self.side + variant.tile
        shared = planes * self.side * (rows + self.side) + later + tall + (variant.tile // 2 + 1) * slot + last
        return planes * self.side**2 + later, shared, slot


def available() -> str | None:
    """Why CUDA cannot be used, in one line; None if it can."""
    try:
        import cupy
    except Exception as error:  # a broken CUDA installation fails in many ways
        missing = isinstance(error, ModuleNotFoundError) and error.name == "cupy"
        return f"CuPy is not installed: {installing('cuda')}" if missing else f"CuPy: {first_line(error)}"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except Exception as error:
        return f"no NVIDIA GPU can be used: {first_line(error)}"
    return None if count else "this machine has no NVIDIA GPU"


def shape_of(kernel: Kernel, height: int, width: int, channels: int) -> Shape:
    """A kernel as myrtle.cu computes it.

    Raises:
        KernelError: it has other layers, or images have another size.
    """
    if height != width or height not in SIDES:
        sides = ", ".join(map(str, SIDES))
        raise KernelError(f"CUDA kernels are for square images of {sides} pixels, not {height} × {width}: use the CPU")
    *inner, rest = levels(kernel, height, width)
    embedding = next((layer for layer in kernel.layers if isinstance(layer, Relu | Gaussian)), Relu())
    counts = [max(1, len(level.layers) // 2) for level in inner]
    is_myrtle = [level.layers for level in inner] == [(Conv(3), embedding) * count for count in counts]
    is_pooled = [level.window for level in inner] == [(2, 2), (2, 2), (height // 4, width // 4)]
    last = tuple(layer for layer in rest.layers if not isinstance(layer, Conv))
    if not (is_myrtle and is_pooled) or last != rest.layers:
        raise KernelError(
            "CUDA kernels are three blocks of conv3 and one kind of embedding, with pool2 between them and mean at the"
            f" end; '{kernel.name}' is not: use the CPU"
        )
    return Shape(height, channels, (counts[0], counts[1], counts[2]), embedding, last)


class CudaEngine:
    """Blocks of the matrix of images x and z (None: x with itself) on the current GPU."""

    device = "cuda"
    precision = "float32"
    side = 2048
    """Images along the side of a block that is worth computing at once: about ten seconds of work."""

    def __init__(
        self, x: Array, z: Array | None, kernel: Kernel, precision: str = "float32", variant: Variant | None = None
    ) -> None:
        """Compile the kernel and compute the norms of all images.

        Raises:
            KernelError: CUDA cannot be used, or cannot compute this kernel or precision.
        """
        if reason := available():
            raise KernelError(reason)
        if precision != "float32":
            raise KernelError("CUDA computes in float32: use the CPU for float64")
        import cupy

        self._xp: Any = cupy
        self._shape = shape_of(kernel, *x.shape[1:])
        self._variant = variant or Variant()
        self._device = cupy.cuda.Device()
        attributes = cupy.cuda.runtime.getDeviceProperties(self._device.id)
        self.name = attributes["name"].decode()
        self._blocks = attributes["multiProcessorCount"]
        _, shared, scratch = self._shape.sizes(self._variant)
        if 4 * shared > attributes["sharedMemPerBlockOptin"]:
            raise KernelError(
                f"'{kernel.name}' needs {4 * shared:,} bytes of shared memory for images of {x.shape[1]} × {x.shape[2]}"
                f" × {x.shape[3]}, and {self.name} has {attributes['sharedMemPerBlockOptin']:,}: use the CPU"
            )
        self._function = _compiled(self._shape, self._variant)
        self._shared = 4 * shared
        self._function.max_dynamic_shared_size_bytes = self._shared
        self._scratch = cupy.empty((self._blocks, scratch), cupy.float32)
        self._x = self._prepared(x)
        self._z = self._x if z is None else self._prepared(z)
        self._is_symmetric = z is None
        self.memory_bytes = x.nbytes + (0 if z is None else z.nbytes)

    def block(self, rows: slice, columns: slice) -> Float[Array, "r c"]:
        """The kernel of images rows × columns; on the diagonal of a symmetric matrix, half of it is computed.

        Raises:
            KernelError: a value is too large for float32.
        """
        xp = self._xp
        is_half = self._is_symmetric and rows == columns
        values = self._launched(self._x, rows, self._z, columns, TRIANGLE if is_half else ALL)
        values = values.reshape(rows.stop - rows.start, columns.stop - columns.start)
        if is_half:
            values = xp.triu(values) + xp.triu(values, 1).T
        norms = self._x.norms[rows, None] * self._z.norms[None, columns]
        result = values.astype(xp.float64) * (self._x.factors[rows, None] * self._z.factors[None, columns])
        for layer in self._shape.last:
            result = embedded(layer, result, norms, xp)
        return not_too_large(np.asarray(xp.asnumpy(result.astype(xp.float32))))

    def launched(self, rows: slice, columns: slice) -> Any:
        """Start the computation of a block and do not wait for it: for timing."""
        return self._launched(self._x, rows, self._z, columns, ALL)

    def _prepared(self, images: Array) -> _Prepared:
        """Cards of all images, and their norms after the mean."""
        xp = self._xp
        size, _, _ = self._shape.sizes(self._variant)
        rows, factors = xp.empty((len(images), size), xp.float32), xp.empty(len(images))
        for start in range(0, len(images), PREPARED):
            part = slice(start, start + PREPARED)
            rows[part], factors[part] = cards(xp.asarray(images[part]), self._shape.blocks, self._shape.embedding, xp)
        found = _Prepared(rows, factors, factors)
        squares = self._launched(found, slice(0, len(images)), found, slice(0, len(images)), DIAGONAL)
        return _Prepared(rows, factors, xp.sqrt(squares.astype(xp.float64)) * factors)

    def _launched(self, x: _Prepared, rows: slice, z: _Prepared, columns: slice, which: int) -> Any:
        """Means over the last maps of all pairs, of a triangle or of a diagonal."""
        xp = self._xp
        n, m = rows.stop - rows.start, columns.stop - columns.start
        result = xp.zeros(n if which == DIAGONAL else n * m, xp.float32)
        if result.size:
            sizes = (np.int32(n), np.int32(m), np.int32(which))
            arguments = (x.cards[rows], z.cards[columns], result, self._scratch, *sizes)
            blocks = min(self._blocks, result.size)
            self._function((blocks,), (32 * self._variant.warps,), arguments, shared_mem=self._shared)
        return result


@dataclass(frozen=True)
class _Prepared:
    cards: Any
    factors: Any
    """What undoes the scaling of each image."""
    norms: Any
    """After the mean, before the last embeddings."""


@cache
def _compiled(shape: Shape, variant: Variant) -> Any:
    import cupy

    options = ("-std=c++17", "--use_fast_math", *shape.options(variant))
    module = cupy.RawModule(code=SOURCE.read_text(encoding="utf-8"), options=options)
    return module.get_function("myrtle")
