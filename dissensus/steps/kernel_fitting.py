"""kernel fit: a kernel machine trained on images, and how often it is right on images that it has not seen."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.backends.kernel import Trained, is_machine, save_machine
from dissensus.backends.preprocess import Preprocess, normalised
from dissensus.errors import KernelError
from dissensus.kernels.gram import Engine, engine
from dissensus.kernels.memory import refuse_too_large
from dissensus.progress import Progress, silent
from dissensus.proportions import LEVEL, clopper_pearson
from dissensus.records.kernels import ClassCount, GramEstimate, KernelFit, size_words
from dissensus.steps.kernel_images import Pictures, labels_for, numbered, read_pictures
from dissensus.steps.kernel_matrices import estimated, gram_inputs, known_name
from dissensus.store.durable import remove_left_over
from dissensus.store.files import write_whole
from dissensus.store.grams import GramFolder, free_bytes, nearest

if TYPE_CHECKING:
    from dissensus.kernels.machines import KernelRidgeClassifier

CHANNELS = {1: "gray", 3: "rgb"}


@dataclass(frozen=True)
class FitPlan:
    """A machine that can be fitted: images and labels are read and checked, nothing is computed yet."""

    images: Float[Array, "N h w c"]
    codes: Int[Array, " N"]
    classes: tuple[str, ...]
    preprocess: Preprocess
    machine: KernelRidgeClassifier
    engine: Engine
    path: Path | None
    repeated: int = 0
    """Images that are copies of an earlier one."""

    @property
    def items(self) -> int:
        """Images and their copies, which the matrix compares."""
        return len(self.images) * (2 if self.machine.flips else 1)

    @property
    def memory(self) -> int:
        """Bytes for solving: the matrix as a factor and its inverse, in float64."""
        return 2 * 8 * self.items**2

    @property
    def least_memory(self) -> int:
        """Bytes without which it certainly fails: the matrix, and its factor in float64."""
        return (np.dtype(self.engine.precision).itemsize + 8) * self.items**2

    def estimate(self) -> GramEstimate:
        """What the machine will cost, from the time that a few pairs of images take."""
        cost = estimated(self.engine, self.machine.kernel, self.items, None)
        return cost.model_copy(update={"memory_bytes": cost.memory_bytes + self.memory})


def planned_fit(
    images: Any,
    labels: Any,
    kernel: Any,
    *,
    size: int | None = None,
    gray: bool = False,
    penalty: float | Sequence[float] = 0.0,
    whiten: bool = False,
    flips: bool = False,
    tilt: float = 0.0,
    device: str = "auto",
    precision: str = "float32",
    path: Path | None = None,
) -> FitPlan:
    """Read and check images and labels; nothing is computed yet.

    Raises:
        KernelError: images, labels or settings do not allow a machine, or the file is something else.
    """
    from dissensus.kernels.augmenting import flipped
    from dissensus.kernels.machines import KernelRidgeClassifier
    from dissensus.kernels.ridge import checked_penalty

    if path is not None:
        refuse_target(path)
    penalties = [checked_penalty(one) for one in np.atleast_1d(np.asarray(penalty, object))]
    if not 0 <= tilt <= 1:
        raise KernelError(f"a tilt of {tilt:g}: give a share from 0 to 1, such as 0.3")
    machine = KernelRidgeClassifier(known_name(kernel), penalty, tilt, whiten, flips, device, precision)
    pictures = read_pictures(images, size, gray, labelled=labels is None)
    classes, codes = numbered(labels_for(pictures, labels))
    preprocess = scaling_of(pictures.pixels)
    copies = _copies(pictures)
    if min(penalties) == 0:
        _refuse_copies(pictures, copies, flips)
    prepared = normalised(as_pixels(pictures.pixels), preprocess)
    if path is not None:
        items = len(prepared) * (2 if flips else 1)
        _refuse_full_disk(path, items * prepared[0].nbytes + np.dtype(precision).itemsize * items**2)
    runs = engine(flipped(prepared) if flips else prepared, None, kernel, device, precision)
    return FitPlan(prepared, codes, classes, preprocess, machine, runs, path, len(copies))


def fit_plan(plan: FitPlan, progress: Progress = silent) -> tuple[Trained, KernelFit]:
    """Fit the machine, and write it to its file if there is one.

    Raises:
        KernelError: the matrix is singular with this penalty, or too large for the memory.
    """
    what = f"a machine of {plan.items:,} images" + " and mirror images" * bool(plan.machine.flips)
    refuse_too_large(plan.least_memory, what, "use fewer images" + ", or no --flips" * bool(plan.machine.flips))
    begun, machine = time.monotonic(), plan.machine
    machine.progress = lambda done, total: progress("comparing images", done, total)
    if plan.path is not None:
        machine.matrix_of = lambda items: _on_disk(items, plan, progress)
    try:
        machine.fit(plan.images, plan.codes)
    except MemoryError:
        needed = size_words(plan.memory)
        raise KernelError(f"there is not enough memory, about {needed}: use fewer images, or no --flips") from None
    finally:
        del machine.progress
        machine.matrix_of = None
    machine.device = "auto"  # a machine fitted on a GPU predicts without one, too
    trained = Trained(machine, plan.classes, plan.preprocess)
    if plan.path is not None:
        remove_left_over(plan.path.parent, f"{plan.path.name}.")
        write_whole(plan.path, lambda unfinished: save_machine(trained, unfinished))
        unfinished_matrix(plan.path).clear()
    return trained, _result(plan, time.monotonic() - begun)


def unfinished_matrix(path: Path) -> GramFolder:
    """The folder beside a machine's file in which its matrix is computed; it is removed once the machine is written."""
    return GramFolder(path.with_name(f"{path.stem}.unfinished"))


def _on_disk(items: Array, plan: FitPlan, progress: Progress) -> Float[Array, "N N"]:
    """The matrix of the training items, computed in a folder, so that a fit resumes after a kill or an error.

    A matrix of other items that was left there is replaced.
    """
    assert plan.path is not None
    machine, folder = plan.machine, unfinished_matrix(plan.path)
    runs = engine(items, None, machine.kernel, machine.device, machine.precision)
    inputs = gram_inputs(items, None, machine.kernel, runs)
    folder.make_room(inputs)
    folder.fill(inputs, runs.side, runs.block, lambda done, total: progress("comparing images", done, total))
    return np.array(folder.matrix(verify=False))


def _result(plan: FitPlan, seconds: float) -> KernelFit:
    machine, codes = plan.machine, plan.codes
    is_right = machine.leave_one_out_.argmax(axis=1) == codes
    right, count = int(is_right.sum()), len(codes)
    low, high = (float(end) for end in clopper_pearson(right, count))
    counts = [
        ClassCount(name=name, images=int((codes == number).sum()), right=int(is_right[codes == number].sum()))
        for number, name in enumerate(plan.classes)
    ]
    return KernelFit(
        path=plan.path,
        kernel=machine.kernel,
        images=count,
        size=plan.images.shape[1:3],
        channels=plan.images.shape[3],
        penalty=float(machine.penalty_),
        penalties=np.size(machine.penalty),
        tilt=float(machine.tilt),
        is_whitened=bool(machine.whiten),
        is_flipped=bool(machine.flips),
        repeated=plan.repeated,
        classes=tuple(counts),
        right=right,
        accuracy=right / count,
        low=low,
        high=high,
        level=LEVEL,
        engine=plan.engine.name,
        seconds=seconds,
    )


def _copies(pictures: Pictures) -> list[tuple[int, int]]:
    """Images that come again, each with the first one like it."""
    seen: dict[bytes, int] = {}
    found = [(seen.setdefault(_digest(image), number), number) for number, image in enumerate(pictures.pixels)]
    return [(first, number) for first, number in found if first != number]


def _refuse_copies(pictures: Pictures, copies: list[tuple[int, int]], flips: bool) -> None:
    """Raise an error if an image comes twice: without a penalty, its equations are singular, and that is found last."""
    otherwise = "so that a penalty of 0 has no solution: remove one of them, or give a --penalty above 0, such as 1e-4"
    if copies:
        first, second = copies[0]
        raise KernelError(f"{pictures.name(first)} and {pictures.name(second)} are the same, {otherwise}")
    if not flips:
        return
    seen = {_digest(image): number for number, image in enumerate(pictures.pixels)}
    for number, image in enumerate(pictures.pixels):
        twin = seen.get(_digest(image[:, ::-1]))
        if twin == number:
            raise KernelError(
                f"{pictures.name(number)} is its own mirror image, so that --flips and a penalty of 0 have no solution:"
                " remove it, leave out --flips, or give a --penalty above 0, such as 1e-4"
            )
        if twin is not None:
            both = f"{pictures.name(number)} and {pictures.name(twin)}"
            raise KernelError(f"{both} are mirror images of each other, which --flips adds anyway, {otherwise}")


def _digest(image: Array) -> bytes:
    return hashlib.sha256(np.ascontiguousarray(image).data).digest()


def refuse_target(path: Path) -> None:
    """Raise an error if a machine cannot be written to a file: it is a folder, or holds something else."""
    if path.is_dir():
        raise KernelError(f"{path} is a folder: give the name of an .npz file")
    if path.suffix.lower() != ".npz":
        raise KernelError(f"{path}: a machine is stored as .npz: give it this ending")
    if path.exists() and not is_machine(path):
        raise KernelError(f"{path} exists and is not a kernel machine: choose another name")
    place = nearest(path.parent)
    if not place.is_dir():
        raise KernelError(f"{place} is not a folder: a machine cannot be written to {path}; choose another place")
    if not os.access(place, os.W_OK):
        raise KernelError(f"{place} cannot be written to: choose another folder for the machine")


def _refuse_full_disk(path: Path, size: int) -> None:
    """Raise an error if a machine, which is at least as large as its images, and its matrix do not fit on the disk."""
    free = free_bytes(path.parent)
    if size > free:
        raise KernelError(
            f"the machine and its matrix take at least {size_words(size)}, but the disk of {path} has"
            f" {size_words(free)} left: free some space, or choose a folder on another disk"
        )


def as_pixels(images: Array) -> Array:
    """Images as pixels 0..255: 8-bit ones as they are, floats from 0 to 1 times 255.

    Raises:
        KernelError: there are other values.
    """
    if images.dtype == np.uint8:
        return images
    if images.dtype.kind != "f":
        raise KernelError(f"images of {images.dtype}: give uint8 from 0 to 255, or floats from 0 to 1")
    if not np.isfinite(images).all():
        raise KernelError("some pixels are NaN or infinite: replace them")
    low, high = float(images.min()), float(images.max())
    if low < 0 or high > 1:
        raise KernelError(
            f"pixels from {low:.3g} to {high:.3g}: give floats from 0 (black) to 1 (white), or uint8; the machine"
            " centres them itself"
        )
    return images * images.dtype.type(255)


def scaling_of(images: Array) -> Preprocess:
    """How images become what a machine takes: per channel, the training pixels get mean 0 and standard deviation 1.

    Raises:
        KernelError: the images are not square, gray or RGB, or all pixels of a channel are the same.
    """
    _, height, width, channels = images.shape
    if height != width:
        raise KernelError(f"images are {height}×{width}: a machine takes squares; crop or resize them")
    if channels not in CHANNELS:
        raise KernelError(f"images have {channels} channels: give gray (1) or RGB (3)")
    values = as_pixels(images).astype(np.float32) / np.float32(255)
    mean, std = (np.asarray(one, np.float64) for one in (values.mean((0, 1, 2), np.float64), values.std((0, 1, 2))))
    if not (std > 1e-6).all():
        raise KernelError("all pixels of the images have the same value: there is nothing to learn from")
    return Preprocess.read(
        {
            "size": height,
            "crop": 1.0,
            "channels": CHANNELS[channels],
            "scale": 1 / 255,
            "mean": tuple(mean.tolist()),
            "std": tuple(std.tolist()),
        }
    )
