"""Kernel matrices and kernel machines, in memory or on disk; they need no study."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dissensus.arrays import Array, Float

if TYPE_CHECKING:
    from dissensus.backends.kernel import Trained
    from dissensus.progress import Progress
    from dissensus.records.kernels import GramResult, KernelFit, KernelList
    from dissensus.steps.kernel_fitting import FitPlan
    from dissensus.steps.kernel_matrices import MatrixPlan


def kernel_matrix(
    images: Any,
    other: Any = None,
    kernel: Any = "myrtle5",
    folder: str | Path | None = None,
    *,
    size: int | None = None,
    gray: bool = False,
    device: str = "auto",
    precision: str = "float32",
    progress: Callable[[int, int], None] | None = None,
) -> Float[Array, "N M"]:
    """The kernel between all images and all others, or of the images with themselves.

    Args:
        images: An array (N×H×W×C, or N×H×W if gray), an .npy or .npz file, or a folder of images.
        other: The images of the columns; the same images by default.
        kernel: A name such as myrtle10-gaussian, text such as "conv3 relu mean", or layers (`dissensus.kernels`).
        folder: Where to keep the matrix; it is then read from disk as needed, and an interrupted call resumes.
        size: Side in pixels that images in a folder get; 32 by default.
        gray: Convert images in a folder to gray.
        device: auto, cpu or cuda.
        precision: float32 or float64.
        progress: Called with what is done and what there is to do: pairs of images, or tiles if there is a folder.

    Raises:
        KernelError: images or kernel do not fit, or the disk is too small or full.
        StudyError: the folder has tiles of a matrix with other inputs.

    Example:
        >>> import numpy as np
        >>> kernel_matrix(np.ones((3, 4, 4, 1)), kernel="conv3 relu mean").shape
        (3, 3)
    """
    if folder is None:
        from dissensus.kernels.gram import gram
        from dissensus.steps.kernel_images import read_pictures

        x = read_pictures(images, size, gray).pixels
        z = None if other is None else read_pictures(other, size, gray).pixels
        return gram(x, z, kernel, device=device, precision=precision, progress=progress)
    plan = plan_matrix(images, other, kernel, folder, size=size, gray=gray, device=device, precision=precision)
    write_matrix(plan, lambda _, done, total: None if progress is None else progress(done, total))
    return plan.folder.matrix(verify=False)  # what was there has been verified, and the rest is new


def plan_matrix(
    images: Any,
    other: Any = None,
    kernel: Any = "myrtle5",
    folder: str | Path = "matrix",
    *,
    side: int | None = None,
    size: int | None = None,
    gray: bool = False,
    device: str = "auto",
    precision: str = "float32",
) -> MatrixPlan:
    """A matrix that can be computed and stored, with an estimate of what it will cost; see `kernel_matrix`.

    `side` is that of its tiles; by default, a tile takes some seconds.
    """
    from dissensus.steps.kernel_matrices import planned_matrix

    return planned_matrix(
        images, other, kernel, Path(folder), side=side, size=size, gray=gray, device=device, precision=precision
    )


def write_matrix(plan: MatrixPlan, progress: Progress | None = None) -> GramResult:
    """Compute the tiles of a planned matrix that are missing."""
    from dissensus.progress import silent
    from dissensus.steps.kernel_matrices import compute_matrix

    return compute_matrix(plan, progress or silent)


@dataclass(frozen=True, repr=False)
class FittedKernel:
    """A kernel machine, and how good it is; displays itself in a notebook."""

    trained: Trained
    result: KernelFit

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes, in the order of the scores."""
        return self.trained.classes

    def scores(self, images: Any) -> Float[Array, "n K"]:
        """One score per class for each image, given like those the machine was fitted to; no probabilities."""
        from dissensus.backends.preprocess import normalised
        from dissensus.steps.kernel_fitting import as_pixels
        from dissensus.steps.kernel_images import read_pictures

        settings = self.trained.preprocess
        is_path = isinstance(images, str | Path)
        size = settings.size if is_path and Path(images).is_dir() else None
        found = read_pictures(images, size, is_path and settings.channels == "gray").pixels
        return self.trained.scores(normalised(as_pixels(found), settings))

    def predict(self, images: Any) -> list[str]:
        """The name of the class with the highest score for each image."""
        return [self.classes[number] for number in self.scores(images).argmax(axis=1).tolist()]

    def save(self, path: str | Path) -> Path:
        """Write the machine to an .npz file, for `dissensus predict STUDY NAME=kernel:FILE`."""
        from dissensus.backends.kernel import save_machine
        from dissensus.steps.kernel_fitting import refuse_target
        from dissensus.store.files import write_whole

        refuse_target(Path(path))
        write_whole(Path(path), lambda unfinished: save_machine(self.trained, unfinished))
        return Path(path)

    def __repr__(self) -> str:
        return repr(self.result)

    def _repr_html_(self) -> str:
        return self.result._repr_html_()


def fit_kernel(
    images: Any,
    labels: Any = None,
    kernel: Any = "myrtle5",
    *,
    size: int | None = None,
    gray: bool = False,
    penalty: float | Sequence[float] = 0.0,
    whiten: bool = False,
    flips: bool = False,
    tilt: float = 0.0,
    device: str = "auto",
    precision: str = "float32",
    path: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> FittedKernel:
    """Fit a kernel machine to images and their labels.

    Args:
        images: An array (N×H×W×C, uint8 or floats from 0 to 1), an .npy or .npz file, or a folder of images.
        labels: One label per image: a list, an array, an .npy file, or, for images in a folder, a table with the
            columns item and label. Not needed for a folder with a subfolder per class, or an .npz with labels.
        kernel: A name such as myrtle10-gaussian, text such as "conv3 relu mean", or layers (`dissensus.kernels`).
        size: Side in pixels that images in a folder get; 32 by default.
        gray: Convert images in a folder to gray.
        penalty: λ of the ridge regression; of several, that with the best leave-one-out accuracy.
        whiten: Whiten the images first (ZCA).
        flips: Also train on mirror images.
        tilt: Share of the leave-one-out predictions in the targets, such as 0.3.
        device: auto, cpu or cuda.
        precision: float32 or float64.
        path: An .npz file to write the machine to.
        progress: Called with the pairs of images that are done, and how many there are.

    Raises:
        KernelError: images, labels or settings do not allow a machine.

    Example:
        >>> import numpy as np
        >>> images = np.random.default_rng(0).random((8, 4, 4, 1))
        >>> fit_kernel(images, ["cat", "dog"] * 4, "conv3 relu mean").classes
        ('cat', 'dog')
    """
    plan = plan_fit(
        images, labels, kernel, size=size, gray=gray, penalty=penalty, whiten=whiten, flips=flips, tilt=tilt,
        device=device, precision=precision, path=path,
    )  # fmt: skip
    return fit_planned(plan, lambda _, done, total: None if progress is None else progress(done, total))


def plan_fit(images: Any, labels: Any, kernel: Any, *, path: str | Path | None = None, **settings: Any) -> FitPlan:
    """A machine that can be fitted, and can estimate what it will cost; see `fit_kernel`."""
    from dissensus.steps.kernel_fitting import planned_fit

    return planned_fit(images, labels, kernel, path=None if path is None else Path(path), **settings)


def fit_planned(plan: FitPlan, progress: Progress | None = None) -> FittedKernel:
    """Fit a planned machine, and write it to its file if there is one."""
    from dissensus.progress import silent
    from dissensus.steps.kernel_fitting import fit_plan

    return FittedKernel(*fit_plan(plan, progress or silent))


def named_kernels() -> KernelList:
    """The named kernels with their layers, and what can compute them on this machine."""
    from dissensus.steps.kernel_matrices import known_kernels

    return known_kernels()
