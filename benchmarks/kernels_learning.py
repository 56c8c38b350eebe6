"""What the benchmarks of kernels on CIFAR-10 and MNIST share: growing matrices, baselines, a file of results, a figure.

Needs NumPy and SciPy (and CuPy on a machine with a GPU); matplotlib only for the figure.
"""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array, Float, Int
from dissensus.errors import KernelError
from dissensus.kernels import engine
from dissensus.kernels.ridge import leave_one_out, solve

Row = dict[str, Any]
Points = Sequence[tuple[float, ...]]
FOLDS = 4
SECONDS_BETWEEN_LINES = 60


@dataclass(frozen=True)
class Split:
    """Images to learn from, in the order in which subsets grow, and images to test on; with classes 0 to 9."""

    x: Float[Array, "n h w c"]
    labels: Int[Array, " n"]
    z: Float[Array, "m h w c"]
    tested: Int[Array, " m"]

    @property
    def targets(self) -> Float[Array, "n 10"]:
        """One-hot labels."""
        return np.eye(10)[self.labels]


@dataclass(frozen=True)
class Scored:
    """Accuracy on the test images and by leaving each training image out (None: not computed)."""

    accuracy: float
    left_out: float | None = None


def growing(
    split: Split, kernel: str, sizes: Sequence[int], device: str, line: str = ""
) -> Iterator[tuple[int, Float[Array, "n n"], Float[Array, "n m"], str]]:
    """For each size, the matrix of the first images, theirs with the test images, and how fast; each pair once."""
    most, tested = max(sizes), len(split.tested)
    images = np.concatenate([split.x[:most], split.z]).astype(np.float32)
    chosen = engine(images, None, kernel, device)
    own, cross = np.zeros((most, most), np.float32), np.zeros((most, tested), np.float32)
    done, pairs, start = 0, 0, time.perf_counter()
    shown = start
    for size in sorted(sizes):
        blocks = [(done, size, done, size, own), (done, size, 0, done, own), (done, size, 0, tested, cross)]
        for rows, columns, into in _parts(blocks, chosen.side):
            shift = most if into is cross else 0
            into[rows, columns] = chosen.block(rows, slice(columns.start + shift, columns.stop + shift))
            height, is_half = rows.stop - rows.start, into is own and rows == columns
            pairs += height * (height + 1) // 2 if is_half else height * (columns.stop - columns.start)
            if time.perf_counter() - shown > SECONDS_BETWEEN_LINES:
                shown = time.perf_counter()
                print(f"  {line}: {pairs:,} pairs in {shown - start:.0f} s", flush=True)
        own[:done, done:size] = own[done:size, :done].T
        done = size
        rate = pairs / max(time.perf_counter() - start, 1e-9)
        yield size, own[:size, :size], cross[:size], f"{rate:,.0f} pairs/s, {chosen.name}"


def _parts(blocks: Iterable[tuple[int, int, int, int, Array]], side: int) -> Iterator[tuple[slice, slice, Array]]:
    """Blocks cut into squares of a side, small enough for a line of progress now and then."""
    for top, bottom, left, right, into in blocks:
        for row in range(top, bottom, side):
            for column in range(left, right, side):
                yield slice(row, min(row + side, bottom)), slice(column, min(column + side, right)), into


def ridge(own: Float[Array, "n n"], cross: Float[Array, "n m"], split: Split, penalty: float) -> Scored:
    """Kernel ridge regression on one-hot labels; the penalty is a multiple of the mean of the diagonal."""
    targets, weight = split.targets[: len(own)], penalty * float(np.diagonal(own).mean())
    predicted = cross.T @ solve(own, targets, weight)
    left_out = leave_one_out(own, targets, weight)
    return Scored(_share(predicted, split.tested), _share(left_out, split.labels[: len(own)]))


def gaussian(split: Split, sizes: Sequence[int]) -> Iterator[tuple[int, Scored, str]]:
    """The Gaussian kernel, no penalty; its width by four-fold cross-validation on each training subset."""
    for size in sizes:
        for _, own, cross, how in gaussian_growing(split, [size]):
            yield size, ridge(own, cross, split, penalty=0.0), how


def gaussian_growing(
    split: Split, sizes: Sequence[int]
) -> Iterator[tuple[int, Float[Array, "n n"], Float[Array, "n m"], str]]:
    """As `growing`, of the Gaussian kernel; its width by four-fold cross-validation on the smallest subset."""
    x, z = _flat(split.x[: max(sizes)]), _flat(split.z)
    own, cross, least = _distances(x, x), _distances(x, z), min(sizes)
    near = own[:least, :least]
    gammas = 2.0 ** np.arange(-4, 4) / np.median(near[~np.eye(least, dtype=bool)])
    scores = [_validated(np.exp(-gamma * near), split.targets[:least], [0.0])[0] for gamma in gammas]
    gamma = gammas[_best(scores)]
    for size in sizes:
        yield size, np.exp(-gamma * own[:size, :size]), np.exp(-gamma * cross[:size]), f"γ {gamma:.2g}"


def linear(split: Split, sizes: Sequence[int]) -> Iterator[tuple[int, Scored, str]]:
    """A linear model; its ridge penalty by four-fold cross-validation on each training subset."""
    x, z = _flat(split.x[: max(sizes)]), _flat(split.z)
    own, cross = x @ x.T, x @ z.T
    for size in sizes:
        near, targets = own[:size, :size], split.targets[:size]
        penalties = [10.0**power * float(np.diagonal(near).mean()) for power in range(-4, 5)]
        penalty = penalties[_best(_validated(near, targets, penalties))]
        predicted = cross[:size].T @ solve(near, targets, penalty)
        yield size, Scored(_share(predicted, split.tested)), f"λ {penalty:.2g}"


BASELINES = {"gaussian": gaussian, "linear": linear}


def _validated(own: Float[Array, "n n"], targets: Float[Array, "n 10"], penalties: Sequence[float]) -> list[float]:
    """Share of training images right in four-fold cross-validation, for each penalty; −1 where it is too small."""
    labels, folds = targets.argmax(axis=1), np.arange(len(own)) * FOLDS // len(own)
    right = np.zeros(len(penalties))
    for fold in range(FOLDS):
        kept, left = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        try:
            found = solve(own[np.ix_(kept, kept)], targets[kept], penalties)
        except KernelError:
            return [-1.0] * len(penalties)
        cross = own[np.ix_(left, kept)]
        right += [((cross @ one).argmax(axis=1) == labels[left]).sum() for one in found]
    return list(right / len(own))


def _best(scores: Sequence[float]) -> int:
    """The number of the highest score; of equal ones, that nearest to the middle."""
    middle = (len(scores) - 1) / 2
    return max(range(len(scores)), key=lambda number: (scores[number], -abs(number - middle)))


def _share(predicted: Float[Array, "m 10"], labels: Int[Array, " m"]) -> float:
    return float((predicted.argmax(axis=1) == labels).mean())


def _flat(images: Array) -> Float[Array, "n d"]:
    return images.reshape(len(images), -1).astype(np.float64)


def _distances(x: Float[Array, "n d"], z: Float[Array, "m d"]) -> Float[Array, "n m"]:
    squares = (x**2).sum(axis=1)[:, None] + (z**2).sum(axis=1) - 2 * x @ z.T
    if x is z:
        np.fill_diagonal(squares, 0)
    return np.maximum(squares, 0)


class Results:
    """Rows of a benchmark in a JSON file, written after each of them, so that a run goes on where it stopped."""

    def __init__(self, path: Path | None, settings: Row) -> None:
        self.path, self.settings = path, settings
        self.rows: list[Row] = []
        if path is not None and path.is_file():
            found = json.loads(path.read_text(encoding="utf-8"))
            if found["settings"] != settings:
                raise SystemExit(f"{path} is of a run with other settings, {found['settings']}: give another --json")
            self.rows = found["rows"]

    def has(self, sizes: Iterable[int], **key: Any) -> bool:
        """Whether there is a row for every size."""
        there = {row["size"] for row in self.of(**key)}
        return there >= set(sizes)

    def of(self, **key: Any) -> list[Row]:
        """The rows with these values."""
        return [row for row in self.rows if all(row[name] == value for name, value in key.items())]

    def add(self, row: Row) -> None:
        """Keep a row, in place of one of the same kernel, trial and size."""
        same = ("kernel", "trial", "size")
        self.rows = [old for old in self.rows if any(old[name] != row[name] for name in same)] + [row]
        if self.path is not None:
            document = json.dumps({"settings": self.settings, "rows": self.rows}, indent=0)
            temporary = self.path.with_name(f"{self.path.name}.{os.getpid()}")
            temporary.write_text(document, encoding="utf-8")
            temporary.replace(self.path)


def mean_and_spread(rows: Sequence[Row], name: str = "accuracy") -> tuple[float, float]:
    """Mean and standard deviation over trials, in per cent."""
    values = np.array([row[name] for row in rows], float) * 100
    return float(values.mean()), float(values.std(ddof=1)) if len(values) > 1 else 0.0


def draw(path: Path, curves: Mapping[str, Points], dashed: Mapping[str, Points]) -> None:
    """Accuracy in per cent over the number of training images: (size, mean, sd), and others' dashed."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from dissensus.plots.style import BLUE, MUTED, ORANGE, SETTINGS

    colours = itertools.cycle((BLUE, ORANGE, "#2e8b57", MUTED, "#7a4fa3", "#b8860b", "#a33b3b", "#3b8ea3"))
    with mpl.rc_context(SETTINGS):
        figure = Figure(figsize=(6, 4), layout="constrained")
        axes = figure.subplots()
        for (name, points), colour in zip(curves.items(), colours, strict=False):
            size, mean, spread = zip(*points, strict=True)
            axes.errorbar(size, mean, spread, fmt="o-", color=colour, ms=3, lw=1.5, capsize=2, label=name)
            if name in dashed:
                axes.plot(*list(zip(*dashed[name], strict=True))[:2], "--", color=colour, lw=1, label=f"{name}, thesis")
        axes.set(xlabel="training images", ylabel="accuracy, %", xscale="log")
        axes.set_xticks(sorted({int(point[0]) for points in curves.values() for point in points}))
        axes.get_xaxis().set_major_formatter("{x:,.0f}")
        axes.get_xaxis().set_minor_formatter("")
        axes.legend(fontsize=7)
        figure.savefig(path, dpi=150)
