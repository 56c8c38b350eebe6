"""Accuracy of the Myrtle5 kernel learnt from 1,000 to 10,000 digits of MNIST, and of the Gaussian kernel beside it.

    python benchmarks/kernels_data.py --only mnist
    python benchmarks/kernels_mnist.py --json mnist.json --figure mnist.png     # with a GPU
    python benchmarks/kernels_mnist.py --sizes 100,200,500 --test 200           # some minutes on two cores

Digits are 28 × 28 pixels from 0 to 1, as they are: nothing is whitened or padded, and the kernel's pooling leaves 7 × 7
positions at the mean. Training digits are drawn at random, each subset contained in the next larger one. The penalty of
ridge regression is 1e-4, as in the thesis, but as a multiple of the mean of the matrix's diagonal, so that it does not
depend on the scale of pixels (`--penalty`). The thesis has 99.5 % from all 60,000 digits. The Gaussian kernel's width
is chosen by four-fold cross-validation on the smallest training subset.

Rows go to the file of `--json` as they are computed. A kernel of which all rows are there is not computed again.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.kernels_data import DEFAULT, images_of
from benchmarks.kernels_learning import Results, Scored, Split, draw, gaussian_growing, growing, mean_and_spread, ridge
from dissensus.errors import KernelError

SIZES = (1_000, 2_000, 5_000, 10_000)
THESIS = {"myrtle5": 99.5, "gaussian": 98.8}
SEED = 54


def split_of(folder: Path, most: int, tested: int) -> Split:
    """Random digits to learn from, and a fixed random part of the test digits."""
    data, rng = images_of("mnist", folder), np.random.default_rng(SEED)
    (images, labels), (others, truth) = data.training, data.testing
    part = np.sort(rng.permutation(len(truth))[:tested])
    chosen = rng.permutation(len(labels))[:most]
    return Split(images[chosen] / 255, labels[chosen], others[part] / 255, truth[part])


def scored(
    split: Split, kernel: str, sizes: Sequence[int], options: argparse.Namespace
) -> Iterator[tuple[int, Scored, str]]:
    """Accuracies of a kernel for growing subsets, as soon as they are known."""
    found = (
        gaussian_growing(split, sizes)
        if kernel == "gaussian"
        else growing(split, kernel, sizes, options.device, f"MNIST, {kernel}")
    )
    for size, own, cross, how in found:
        yield size, ridge(own, cross, split, options.penalty), how


def run(options: argparse.Namespace, results: Results, sizes: Sequence[int]) -> None:
    """Compute and print all rows that are not there yet."""
    for kernel in options.kernels:
        if results.has(sizes, kernel=kernel):
            continue
        split, start = split_of(options.data, max(sizes), options.test), time.perf_counter()
        for size, score, how in scored(split, kernel, sizes, options):
            seconds = round(time.perf_counter() - start, 2)
            results.add({"kernel": kernel, "trial": 0, "size": size, **vars(score), "seconds": seconds, "how": how})
            print(f"{kernel}, {size:,} digits: {100 * score.accuracy:.2f} % ({seconds:.0f} s, {how})", flush=True)


def table(results: Results) -> None:
    """Print accuracy and error of every size; the interval is that of the test digits alone."""
    print("\nkernel     digits   accuracy, %     left out, %    thesis, 60,000 digits")
    for row in sorted(results.rows, key=lambda row: (row["kernel"] != "myrtle5", row["size"])):
        share = row["accuracy"]
        error = 196 * (share * (1 - share) / results.settings["test"]) ** 0.5
        theirs = THESIS.get(row["kernel"], "")
        line = f"{row['kernel']:8} {row['size']:8,}   {100 * share:5.2f} ± {error:4.2f}"
        print(f"{line}   {100 * row['left_out']:10.2f}   {theirs:>14}")


def main() -> None:
    """Compute, print and draw the curves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT, metavar="FOLDER")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="numbers, with commas between them")
    parser.add_argument("--test", type=int, default=10_000, help="how many of the 10,000 test digits")
    parser.add_argument("--kernels", default="myrtle5,gaussian", help="names, with commas between them")
    parser.add_argument("--penalty", type=float, default=1e-4, help="λ, as a multiple of the mean of the diagonal")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    options.kernels = options.kernels.split(",")
    sizes = sorted(map(int, options.sizes.split(",")))
    results = Results(options.json, {"test": options.test, "penalty": options.penalty, "seed": SEED, "most": sizes[-1]})
    try:
        run(options, results, sizes)
    except KernelError as error:
        raise SystemExit(str(error)) from None
    table(results)
    if options.figure:
        kernels = sorted({row["kernel"] for row in results.rows}, key=lambda kernel: kernel != "myrtle5")
        curves = {
            kernel: [(row["size"], *mean_and_spread([row])) for row in results.of(kernel=kernel)] for kernel in kernels
        }
        theirs = {kernel: [(size, THESIS[kernel]) for size in sizes] for kernel in kernels if kernel in THESIS}
        draw(options.figure, curves, theirs)


if __name__ == "__main__":
    main()
