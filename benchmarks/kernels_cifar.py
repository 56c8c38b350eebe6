"""Accuracy of kernels learnt from 10 to 1,280 images of CIFAR-10, beside Table 5.5 of the thesis.

    python benchmarks/kernels_data.py
    python benchmarks/kernels_cifar.py --json cifar.json                        # with a GPU
    python benchmarks/kernels_cifar.py --trials 3 --max-size 80 --test 300      # a quarter of an hour on two cores
    python benchmarks/kernels_cifar.py --kernels gaussian,linear                # needs no GPU

In each trial, subsets are drawn at random from the 50,000 training images, with equally many of every class (`--draw
uniform`: without regard to class), each contained in the next larger one, so that one matrix serves all sizes. All
images are whitened by ZCA, learnt from the 50,000 training images without their labels. Kernel ridge regression on
one-hot labels without a penalty, from the kernel as it is and from the kernel divided by the norms of its images
(`-unit`), as the code published with the thesis does with its training matrix. Accuracy on the test images, or on a
random part of them (`--test`), another one in each trial. On the same subsets, the baselines are the Gaussian kernel
and a linear model, of whitened images and of plain pixels; the width of one and the penalty of the other are chosen by
four-fold cross-validation on the training subset. No choice is made by test images. The published code whitens
CIFAR-10 with 1e-5 added to eigenvalues whose mean is 1/3,072, which is `--epsilon 0.03072`; the default of its
function is 1e-4, or `--epsilon 0.3072`.

Rows go to the file of `--json` as they are computed; a run that was interrupted goes on with the same command. Where
all rows are there, it prints the table and draws the figure (`--figure`), and needs no data.
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
from benchmarks.kernels_learning import BASELINES, Results, Scored, Split, draw, growing, mean_and_spread, ridge
from dissensus.arrays import Array, Int
from dissensus.errors import KernelError
from dissensus.kernels.whitening import EPSILON, Whitening

SIZES = (10, 20, 40, 80, 160, 320, 640, 1280)
MYRTLE = ("myrtle5", "myrtle10-gaussian")
PLAIN = "-pixels"
"""Ending of the baselines whose images are not whitened."""
UNIT = "-unit"
"""Ending of kernels whose matrix is divided by the norms of its images, as the code published with the thesis does."""
KERNELS = (*MYRTLE, *(name + ending for ending in ("", PLAIN) for name in BASELINES))
NAMED = (*MYRTLE, *(kernel + UNIT for kernel in MYRTLE), *KERNELS[len(MYRTLE) :])
"""What may have rows, in the order of the table."""
BAR = 3.0
THESIS = {
    "myrtle5": (17.22, 22.16, 26.74, 32.56, 38.61, 46.03, 53.45, 60.46),
    "myrtle10-gaussian": (19.15, 21.65, 27.20, 34.22, 41.89, 50.06, 57.60, 64.40),
    "linear": (12.94, 13.54, 14.66, 15.54, 17.15, 19.18, 22.30, 25.64),
}
SPREAD = {
    "myrtle5": (2.95, 1.69, 1.56, 1.12, 1.06, 0.82, 0.80, 0.58),
    "myrtle10-gaussian": (1.94, 2.97, 1.90, 1.08, 1.34, 1.06, 0.48, 0.48),
    "linear": (0.74, 0.69, 0.60, 0.61, 0.64, 0.71, 0.57, 0.61),
}
SEED = 55


class Whitened:
    """CIFAR-10 after whitening, which is learnt from the training images."""

    def __init__(self, folder: Path, epsilon: float, tested: int) -> None:
        data = images_of("cifar", folder)
        self._images, self.labels = data.training
        start = time.perf_counter()
        self._whitening = Whitening.fit(self._images, epsilon)
        print(f"whitening learnt from {len(self.labels):,} images: {time.perf_counter() - start:.0f} s", flush=True)
        self._others, self._truth = data.testing
        self._tested = tested

    def split(self, trial: int, most: int, is_balanced: bool, is_white: bool) -> Split:
        """The subsets of one trial, whitened or as pixels from −1 to 1."""
        chosen = order_of(self.labels, most, np.random.default_rng([SEED, trial]), is_balanced)
        part = np.random.default_rng([SEED, trial, 1]).permutation(len(self._truth))[: self._tested]
        x, z = self._images[chosen], self._others[part]
        pixels = (self._whitening.apply(x), self._whitening.apply(z)) if is_white else (x / 127.5 - 1, z / 127.5 - 1)
        return Split(pixels[0], self.labels[chosen], pixels[1], self._truth[part])


def order_of(labels: Int[Array, " n"], most: int, rng: np.random.Generator, is_balanced: bool) -> Int[Array, " m"]:
    """Random images of which every first 10, 20, … are equally many of each class, or any random ones."""
    if not is_balanced:
        return rng.permutation(len(labels))[:most]
    each = [rng.permutation(np.flatnonzero(labels == one))[: most // 10] for one in range(10)]
    return np.concatenate([rng.permutation(ten) for ten in np.stack(each, axis=1)])


def scored(
    split: Split, kernel: str, sizes: Sequence[int], device: str, line: str
) -> Iterator[tuple[str, int, Scored, str]]:
    """Accuracies of one kernel in one trial, as soon as they are known, plain and with images of norm one."""
    baseline = BASELINES.get(kernel.removesuffix(PLAIN))
    if baseline is not None:
        yield from ((kernel, *row) for row in baseline(split, sizes))
        return
    for size, own, cross, speed in growing(split, kernel, sizes, device, line):
        yield kernel, size, ridge(own, cross, split, penalty=0.0), speed
        norms = np.sqrt(np.diagonal(own))[:, None]
        yield kernel + UNIT, size, ridge(own / (norms * norms.T), cross / norms, split, penalty=0.0), speed


def run(options: argparse.Namespace, results: Results, sizes: Sequence[int]) -> None:
    """Compute all rows that are not there yet, trial by trial."""
    data: Whitened | None = None
    for trial in range(options.trials):
        for kernel in options.kernels:
            names = (kernel, kernel + UNIT) if kernel in MYRTLE else (kernel,)
            if all(results.has(sizes, kernel=name, trial=trial) for name in names):
                continue
            data = data or Whitened(options.data, options.epsilon, options.test)
            split = data.split(trial, SIZES[-1], options.draw == "balanced", not kernel.endswith(PLAIN))
            _trial(split, kernel, trial, sizes, options, results)


def _trial(
    split: Split, kernel: str, trial: int, sizes: Sequence[int], options: argparse.Namespace, results: Results
) -> None:
    start, line = time.perf_counter(), f"trial {trial + 1} of {options.trials}, {kernel}"
    found: dict[str, list[str]] = {}
    for name, size, score, how in scored(split, kernel, sizes, options.device, line):
        seconds = round(time.perf_counter() - start, 2)
        results.add({"kernel": name, "trial": trial, "size": size, **vars(score), "seconds": seconds, "how": how})
        found.setdefault(name, []).append(f"{size}: {100 * score.accuracy:.1f}")
    told = "; ".join(f"{name} {'  '.join(scores)}" for name, scores in found.items())
    print(f"{line}: {told}  ({seconds:.0f} s, {how})", flush=True)


def table(results: Results, sizes: Sequence[int]) -> dict[str, float]:
    """Print all means beside those of the thesis; return the largest difference of each Myrtle kernel."""
    worst: dict[str, float] = {}
    kernels = [kernel for kernel in NAMED if results.of(kernel=kernel)]
    for kernel in kernels:
        print(f"\n{kernel}\n  images    accuracy, %   trials   left out, %   thesis, %      difference")
        for number, size in enumerate(sizes):
            rows = results.of(kernel=kernel, size=size)
            if not rows:
                continue
            mean, spread = mean_and_spread(rows)
            left = [row for row in rows if row["left_out"] is not None]
            text = f"{mean_and_spread(left, 'left_out')[0]:11.1f}" if left else " " * 11
            line = f"{size:8,}   {mean:6.2f} ± {spread:4.2f}  {len(rows):6}   {text}"
            if (known := kernel.removesuffix(UNIT)) in THESIS:
                theirs = THESIS[known][number]
                line += f"   {theirs:6.2f} ± {SPREAD[known][number]:4.2f}   {mean - theirs:+6.2f}"
                if known in MYRTLE:
                    worst[kernel] = max(worst.get(kernel, 0.0), abs(mean - theirs))
            print(line)
    return worst


def below(results: Results, sizes: Sequence[int]) -> None:
    """Print at which sizes a baseline is not below both kernels."""
    for baseline in (kernel for kernel in KERNELS if kernel not in MYRTLE):
        for kernel in MYRTLE:
            both = [s for s in sizes if results.of(kernel=kernel, size=s) and results.of(kernel=baseline, size=s)]
            lower = [
                s
                for s in both
                if mean_and_spread(results.of(kernel=baseline, size=s))[0]
                < mean_and_spread(results.of(kernel=kernel, size=s))[0]
            ]
            if both:
                print(f"{baseline} below {kernel} at {len(lower)} of {len(both)} sizes")


def curve(results: Results, kernel: str, sizes: Sequence[int]) -> list[tuple[float, ...]]:
    """Size, mean and standard deviation of a kernel's accuracy."""
    rows = {size: results.of(kernel=kernel, size=size) for size in sizes}
    return [(size, *mean_and_spread(found)) for size, found in rows.items() if found]


def main() -> int:
    """Compute, print, draw; 1 if a Myrtle kernel misses the thesis' numbers with all sizes and 20 trials."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DEFAULT, metavar="FOLDER")
    parser.add_argument("--device", default="auto", choices=("auto", "cpu", "cuda"))
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--test", type=int, default=10_000, help="how many of the 10,000 test images")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="names, with commas between them")
    parser.add_argument("--max-size", type=int, default=SIZES[-1])
    parser.add_argument("--draw", default="balanced", choices=("balanced", "uniform"))
    parser.add_argument("--epsilon", type=float, default=EPSILON, help="of the whitening, in mean eigenvalues")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    options.kernels = options.kernels.split(",")
    sizes = [size for size in SIZES if size <= options.max_size]
    settings = {"draw": options.draw, "test": options.test, "epsilon": options.epsilon, "seed": SEED}
    results = Results(options.json, settings)
    try:
        run(options, results, sizes)
    except KernelError as error:
        raise SystemExit(str(error)) from None
    worst = table(results, sizes)
    print(f"\nlargest difference from the thesis, in points (bar {BAR:g}):")
    for kernel, points in worst.items():
        print(f"  {kernel}: {points:.2f}")
    below(results, sizes)
    if options.figure:
        curves = {kernel: curve(results, kernel, sizes) for kernel in NAMED if results.of(kernel=kernel)}
        theirs = {kernel: [*zip(map(float, sizes), THESIS[kernel], strict=False)] for kernel in THESIS}
        draw(options.figure, curves, theirs)
    is_whole = options.trials >= 20 and len(sizes) == len(SIZES)
    return int(is_whole and any(points > BAR for points in worst.values()))


if __name__ == "__main__":
    sys.exit(main())
