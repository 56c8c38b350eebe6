"""Commands of kernel matrices and kernel machines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from dissensus import printing
from dissensus.cli.app import app
from dissensus.cli.options import Json

kernel = typer.Typer(no_args_is_help=True, help="Kernel machines: strong classifiers without any weights to download.")
app.add_typer(kernel, name="kernel")

Images = Annotated[
    Path,
    typer.Argument(
        metavar="IMAGES",
        help="An .npy file (N×H×W×C), an .npz with the array images, or a folder of images.",
        show_default=False,
    ),
]
KernelName = Annotated[
    str, typer.Option("--kernel", help='A name (dissensus kernel list), or layers: "conv3 relu pool2 mean".')
]
Device = Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to compute; auto takes a GPU if it can.")]
Precision = Annotated[Literal["float32", "float64"], typer.Option(help="Of the arithmetic and of the matrix.")]
Size = Annotated[int | None, typer.Option(help="Side in pixels that images in a folder get.", show_default="32")]
Gray = Annotated[bool, typer.Option("--gray", help="Convert images in a folder to gray.")]


@kernel.command("gram")
def kernel_gram(
    images: Images,
    to: Annotated[Path, typer.Option(metavar="FOLDER", help="Folder for the matrix.", show_default=False)],
    other: Annotated[
        Path | None,
        typer.Option("--with", metavar="OTHER", help="Columns: other images, as IMAGES.", show_default="IMAGES"),
    ] = None,
    name: KernelName = "myrtle5",
    size: Size = None,
    gray: Gray = False,
    device: Device = "auto",
    precision: Precision = "float32",
    tile: Annotated[
        int | None, typer.Option(help="Rows and columns per tile.", show_default="some seconds' worth")
    ] = None,
    only: Annotated[bool, typer.Option("--estimate", help="Print what it will cost, and stop.")] = False,
    json: Json = False,
) -> None:
    """Compute the kernel matrix of IMAGES and write it to FOLDER/matrix.npy, which numpy reads without loading it.

    Time, memory and disk are estimated first. Finished tiles are on disk at once: an interrupted command resumes when
    you run it again.

    Example: `dissensus kernel gram train.npy --with test.npy --kernel myrtle10-gaussian --to matrix`
    """
    from dissensus.study.kernels import plan_matrix, write_matrix

    plan = plan_matrix(images, other, name, to, side=tile, size=size, gray=gray, device=device, precision=precision)
    printing.show_estimate(plan.estimate, json, only)
    if not only:
        with printing.progress(quiet=json) as progress:
            result = write_matrix(plan, progress)
        printing.show_gram(plan.estimate, result, json)


@kernel.command("fit")
def kernel_fit(
    images: Images,
    to: Annotated[Path, typer.Option(metavar="FILE", help=".npz file for the machine.", show_default=False)],
    labels: Annotated[
        Path | None,
        typer.Argument(
            metavar="LABELS",
            help="Table with the columns item and label, or .npy of labels; not needed if IMAGES has a subfolder per"
            " class, or is an .npz with the array labels.",
            show_default=False,
        ),
    ] = None,
    name: KernelName = "myrtle5",
    size: Size = None,
    gray: Gray = False,
    penalty: Annotated[
        list[float] | None,
        typer.Option(
            metavar="NUMBER",
            help="λ of the ridge regression; repeat it to choose by leave-one-out accuracy.",
            show_default="0",
        ),
    ] = None,
    whiten: Annotated[bool, typer.Option("--whiten", help="Whiten the images first (ZCA).")] = False,
    flips: Annotated[bool, typer.Option("--flips", help="Also train on mirror images.")] = False,
    tilt: Annotated[float, typer.Option(help="Tilt the targets by leave-one-out predictions, such as 0.3.")] = 0.0,
    device: Device = "auto",
    precision: Precision = "float32",
    json: Json = False,
) -> None:
    """Train a kernel machine on IMAGES, which can then take part in studies: `dissensus predict … mine=kernel:FILE`.

    Prints how often it is right on images that are left out of the training, one at a time.

    Example: `dissensus kernel fit photos/ --kernel myrtle5 --size 32 --whiten --flips --to machine.npz`
    """
    from dissensus.study.kernels import fit_planned, plan_fit

    penalties: float | list[float] = 0.0 if not penalty else penalty[0] if len(penalty) == 1 else penalty
    plan = plan_fit(
        images, labels, name, size=size, gray=gray, penalty=penalties, whiten=whiten, flips=flips, tilt=tilt,
        device=device, precision=precision, path=to,
    )  # fmt: skip
    if not json:
        printing.show_estimate(plan.estimate(), json, False)
    with printing.progress(quiet=json) as progress:
        result = fit_planned(plan, progress).result
    printing.show_kernel_fit(result, json)


@kernel.command("list")
def kernel_list(json: Json = False) -> None:
    """List the named kernels with their layers, and whether a GPU can compute them here.

    Example: `dissensus kernel list`
    """
    from dissensus.study.kernels import named_kernels

    printing.show_kernels(named_kernels(), json)
