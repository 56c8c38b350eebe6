"""kernel gram: a kernel matrix in a folder, with an estimate of its cost first."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array
from dissensus.errors import KernelError
from dissensus.kernels.gram import Engine, engine, pairs_of
from dissensus.kernels.layers import KERNELS, kernel_named, text_of
from dissensus.progress import Progress, silent
from dissensus.records.kernels import GramEstimate, GramResult, KernelList, NamedKernel
from dissensus.steps.kernel_images import read_pictures
from dissensus.store.grams import (
    GramFolder,
    GramInputs,
    array_fingerprint,
    free_bytes,
    refuse_many_tiles,
    tile_side,
)

TRIED_SECONDS = 0.5


@dataclass(frozen=True)
class MatrixPlan:
    """A matrix that can be computed: nothing is written yet."""

    engine: Engine
    folder: GramFolder
    inputs: GramInputs
    side: int
    """Of its tiles, if none is finished."""
    estimate: GramEstimate


def planned_matrix(
    images: Any,
    other: Any,
    kernel: Any,
    folder: Path,
    *,
    side: int | None,
    size: int | None,
    gray: bool,
    device: str,
    precision: str,
) -> MatrixPlan:
    """Read the images, check that the matrix can be computed and stored, and estimate what it will cost.

    Raises:
        KernelError: the images or the kernel are wrong, the folder is not for this matrix, or the disk is too small.
        StudyError: the folder has tiles of a matrix with other inputs.
    """
    if side is not None and side < 1:
        raise KernelError(f"--tile {side}: give a number of rows, at least 1")
    x = read_pictures(images, size, gray).pixels
    z = None if other is None else read_pictures(other, size, gray).pixels
    runs = engine(x, z, kernel, device, precision)
    inputs = gram_inputs(x, z, kernel, runs)
    if side is not None:
        refuse_many_tiles(inputs.rows, inputs.columns, side)
    found = GramFolder(folder)
    found.refuse(inputs)
    cost = estimated(runs, kernel, len(x), None if z is None else len(z))
    side = side or tile_side(inputs.rows, inputs.columns, cost.pairs_per_second)
    tile = min(side, inputs.rows) * min(side, inputs.columns) * inputs.dtype.itemsize
    memory = cost.memory_bytes - cost.matrix_bytes + sum(one.nbytes for one in (x, z) if one is not None) + 2 * tile
    return MatrixPlan(runs, found, inputs, side, _on_disk(cost, found, memory))


def gram_inputs(x: Array, z: Array | None, kernel: Any, runs: Engine) -> GramInputs:
    """What the matrix of images x and z (None: x with itself) is computed from."""
    return GramInputs(
        images=array_fingerprint(x),
        other=None if z is None else array_fingerprint(z),
        kernel=known_name(kernel),
        precision=runs.precision,
        device=runs.device,
        rows=len(x),
        columns=len(x if z is None else z),
    )


def estimated(runs: Engine, kernel: Any, rows: int, columns: int | None) -> GramEstimate:
    """What a matrix in memory will cost; `columns` is None if it is symmetric."""
    pairs, rate = pairs_of(rows, columns), _rate(runs, rows, columns)
    size = rows * (rows if columns is None else columns) * np.dtype(runs.precision).itemsize
    return GramEstimate(
        kernel=known_name(kernel),
        rows=rows,
        columns=rows if columns is None else columns,
        pairs=pairs,
        pairs_per_second=rate,
        seconds=pairs / rate if rate else 0.0,
        matrix_bytes=size,
        memory_bytes=size + runs.memory_bytes,
        engine=runs.name,
        precision=runs.precision,
    )


def _rate(runs: Engine, rows: int, columns: int | None) -> float:
    """Pairs a second in a corner of a matrix, which grows until it takes half a second; 0 for an empty one.

    Its first computation is not counted: it includes compiling, or loading what was compiled.
    """
    rate, side = 0.0, 4
    while pairs_of(rows, columns):
        height, width = min(rows, side), min(rows if columns is None else columns, side)
        if side == 4:
            runs.block(slice(0, height), slice(0, width))
        begun = time.perf_counter()
        runs.block(slice(0, height), slice(0, width))
        seconds = max(time.perf_counter() - begun, 1e-9)
        rate = pairs_of(height, None if columns is None else width) / seconds
        if seconds > TRIED_SECONDS or side >= max(rows, columns or 0):
            break
        side *= 2
    return rate


def _on_disk(cost: GramEstimate, folder: GramFolder, memory: int) -> GramEstimate:
    """The same for a matrix in a folder, which may be finished in part; only images and one tile are in memory."""
    known = folder.finished()
    share = len(known) / len(folder.tiles) if known else 0.0
    left = {"seconds": cost.seconds * (1 - share), "finished": share}
    return cost.model_copy(update=left | {"free_bytes": free_bytes(folder.root), "memory_bytes": memory})


def compute_matrix(plan: MatrixPlan, progress: Progress = silent) -> GramResult:
    """Compute the tiles that are missing, each of which is on disk at once.

    Raises:
        KernelError: the disk is full; finished tiles stay.
    """
    begun = time.monotonic()
    report = lambda done, total: progress("computing tiles", done, total)  # noqa: E731
    computed = plan.folder.fill(plan.inputs, plan.side, plan.engine.block, report)
    return GramResult(
        path=plan.folder.path,
        kernel=plan.estimate.kernel,
        rows=plan.inputs.rows,
        columns=plan.inputs.columns,
        precision=plan.inputs.precision,
        engine=plan.engine.name,
        tiles=len(plan.folder.tiles),
        computed=computed,
        seconds=time.monotonic() - begun,
    )


def known_name(kernel: Any) -> str:
    """The name of a kernel, also if it was given as the layers of a named one; its layers if it has no name."""
    found = kernel_named(kernel)
    return next((name for name, one in KERNELS.items() if one == found), text_of(found))


def known_kernels() -> KernelList:
    """The named kernels, and whether a GPU can compute them."""
    from dissensus.kernels.cuda.engine import available
    from dissensus.processors import cores

    listed = [NamedKernel(name=name, layers=text_of(found)) for name, found in KERNELS.items()]
    return KernelList(kernels=tuple(listed), threads=cores(), no_cuda=available())
