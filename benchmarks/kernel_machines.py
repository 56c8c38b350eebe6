"""Kernel machines: what tilting does to digits, one factorisation for several penalties, and memory.

    python benchmarks/kernel_machines.py tilting      # both readings of the thesis' formula on scikit-learn's digits
    python benchmarks/kernel_machines.py photos       # the same on CIFAR-10, shrunk; kernels_data.py fetches it
    python benchmarks/kernel_machines.py penalties    # one eigendecomposition against a Cholesky for every penalty
    python benchmarks/kernel_machines.py memory       # 10,000 items: coefficients and leave-one-out, in a fresh process
    python benchmarks/kernel_machines.py suite        # SVMs with the Gaussian kernel and the NTK, tuned over four folds
    python benchmarks/kernel_machines.py all

Times are of one run on one machine: only their ratios mean something.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.measuring import in_fresh_process, measured, show
from benchmarks.tables import Row, main
from dissensus.arrays import Array
from dissensus.kernels.gram import gram
from dissensus.kernels.ridge import Cholesky, Spectrum, leave_one_out, left_out, solve
from dissensus.kernels.tables import arc_cosine, gaussian, ntk

RUNS = 30
SOME = 800
"""Digits, which are divided at random into training and test digits."""
TILTS = (0.1, 0.3, 0.5)
IMAGE_KERNEL = "conv3 gaussian pool2 conv3 gaussian mean gaussian"
PHOTOS, PHOTOS_WHITENED = 1_200, 20_000
"""Images of CIFAR-10 that are divided at random, and from which whitening is learnt."""
ITEMS = 10_000
MEGABYTES = 3_000


def tilting(_kit: Path, runs: int = RUNS) -> Iterator[Row]:
    """Change of the accuracy in points: mean over random divisions, with its standard error."""
    from sklearn.datasets import load_digits

    rows, labels = load_digits(return_X_y=True)
    rows, labels = rows[:SOME] / 16, labels[:SOME]
    matrices: dict[str, Callable[[], Array]] = {
        "Gaussian, γ = 0.1": lambda: gaussian(rows, gamma=0.1),
        "arc-cosine": lambda: arc_cosine(rows),
        "NTK": lambda: ntk(rows),
        IMAGE_KERNEL: lambda: gram(rows.reshape(-1, 8, 8, 1), kernel=IMAGE_KERNEL, precision="float64"),
    }
    for name, matrix in matrices.items():
        values = matrix()
        for count in (100, 400):
            for penalty in (0.0, 1e-2):
                yield {"kernel": name, "digits": count, "λ": penalty} | tilted_row(values, labels, count, penalty, runs)


def photos(_kit: Path, runs: int = RUNS) -> Iterator[Row]:
    """Myrtle5 on whitened images of CIFAR-10, each shrunk to 16 × 16, which makes the kernel 16 times faster."""
    from benchmarks.kernels_data import DEFAULT, images_of
    from dissensus.kernels.whitening import Whitening

    images, labels = images_of("cifar", Path(os.environ.get("DISSENSUS_KERNEL_DATA") or DEFAULT)).training
    small = images[:PHOTOS_WHITENED].reshape(-1, 16, 2, 16, 2, 3).mean(axis=(2, 4))
    white = Whitening.fit(small).apply(small[:PHOTOS])
    values = gram(white, kernel="myrtle5").astype(np.float64)
    scale = float(np.diagonal(values).mean())
    for count in (150, 300, 600):
        for share in (0.0, 1e-3, 1e-2):
            row = tilted_row(values, labels[:PHOTOS], count, share * scale, runs)
            yield {"photos": count, "λ / mean of the diagonal": share} | row


def tilted_row(matrix: Array, labels: Array, count: int, penalty: float, runs: int) -> Row:
    """The accuracy without tilting, and the changes by both formulas."""
    plain: list[float] = []
    changes: dict[tuple[str, float], list[float]] = {(way, t): [] for way in ("average", "printed") for t in TILTS}
    targets = np.eye(10)[labels]
    for seed in range(runs):
        order = np.random.default_rng(seed).permutation(len(labels))
        train, test = order[:count], order[count:]
        factor = Cholesky(matrix[np.ix_(train, train)], penalty)
        coefficients, loo = left_out(factor, targets[train])
        new = matrix[np.ix_(test, train)]
        plain.append(accuracy(new @ coefficients, labels[test]))
        for (way, t), found in changes.items():
            own = targets[train]
            mixed = (1 - t) * own + t * loo if way == "average" else own - t * loo
            found.append(accuracy(new @ factor.solve(mixed), labels[test]) - plain[-1])
    cells = {f"{way}, t = {t}": spread(found) for (way, t), found in changes.items()}
    return {"accuracy, %": f"{np.mean(plain):.2f}"} | cells


def accuracy(scores: Array, labels: Array) -> float:
    return 100 * float(np.mean(scores.argmax(axis=1) == labels))


def spread(values: list[float]) -> str:
    return f"{np.mean(values):+.2f} ± {np.std(values, ddof=1) / np.sqrt(len(values)):.2f}"


def penalties(_kit: Path, runs: int = 3) -> Iterator[Row]:
    """CPU times relative to a Cholesky factorisation's, the least of a few runs, without and with leave-one-out."""
    for count in (1_000, 2_000, 4_000):
        matrix, targets = planted(count)
        one = least(partial(solve, matrix, targets, 0.1), runs)
        two = least(partial(leave_one_out, matrix, targets, 0.1), runs)
        start = time.process_time()
        spectrum = Spectrum(matrix)
        whole = time.process_time() - start
        each = least(partial(left_out, spectrum.at(0.1), targets), runs)
        yield {
            "items": count, "Cholesky": "1", "with leave-one-out": f"{two / one:.1f}",
            "eigendecomposition": f"{whole / one:.1f}", "then each penalty": f"{each / one:.2f}",
            "worth it from": f"{int(np.ceil(whole / max(two - each, 1e-9)))} penalties",
        }  # fmt: skip


def planted(count: int) -> tuple[Array, Array]:
    random = np.random.default_rng(0)
    rows = random.normal(size=(count, 400))
    return gaussian(rows, gamma=0.002), np.eye(10)[random.integers(0, 10, count)]


def least(work: Callable[[], object], runs: int) -> float:
    found = []
    for _ in range(runs):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def memory(_kit: Path, runs: int = 1) -> Iterator[Row]:
    """Peak memory with the matrix that is given; leave-one-out predictions, or two penalties from one factorisation."""
    for what, kind in (("one penalty", "float32"), ("one penalty", "float64"), ("two penalties", "float64"))[
        : 3 * runs
    ]:
        found = in_fresh_process(__file__, ["--measure", what, kind])
        given = ITEMS**2 * np.dtype(kind).itemsize / 1e6
        total = given + found.growth
        yield {
            "what": what, "matrix": kind, "items": ITEMS, "seconds": f"{found.seconds:.0f}",
            "matrix, MB": f"{given:,.0f}", "all, MB": f"{total:,.0f}", "bar": f"< {MEGABYTES:,}",
            "met": total < MEGABYTES,
        }  # fmt: skip


def measure(what: str, kind: str) -> None:
    random = np.random.default_rng(0)
    matrix = np.zeros((ITEMS, ITEMS), kind)
    for _ in range(20):  # of rank 20; a penalty makes it regular
        row = random.normal(size=ITEMS).astype(kind)
        matrix += row[:, None] * row
    targets = np.eye(10)[random.integers(0, 10, ITEMS)]

    def work() -> list[tuple[int, int, int, int, bool]]:
        found = leave_one_out(matrix, targets, 1.0) if what == "one penalty" else solve(matrix, targets, [1.0, 10.0])
        return [(int(np.isfinite(found).all()), 0, 0, 0, True)]

    show(measured(work))


def suite(_kit: Path, runs: int = 4) -> Iterator[Row]:
    """The data sets that come with scikit-learn; accuracies over the folds that tuned, as in the thesis."""
    from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from dissensus import compare_classifiers
    from dissensus.kernels.machines import KernelSVC
    from dissensus.suites.tuning import tuned_suite

    loads = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}
    data = {name: load(return_X_y=True) for name, load in loads.items()}
    data["digits"] = tuple(part[:600] for part in data["digits"])
    grids: dict[str, dict[str, Any]] = {
        "linear": {},
        "gaussian": {"gamma": [0.003, 0.01, 0.03, 0.1]},
        "ntk": {"depth": [1, 2, 3]},
    }
    classifiers = {
        f"SVM {kernel}": (
            make_pipeline(StandardScaler(), KernelSVC(kernel)),
            {"kernelsvc__C": [0.1, 1.0, 10.0, 100.0]} | {f"kernelsvc__{key}": values for key, values in grid.items()},
        )
        for kernel, grid in grids.items()
    }
    result = compare_classifiers(tuned_suite(classifiers, data, folds=runs))
    for cells in result.rows():
        yield dict(zip(("classifier", "Friedman rank", "accuracy", "P90", "P95", "PMA"), cells, strict=True))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    else:
        main(__doc__, {"tilting": tilting, "penalties": penalties, "memory": memory, "suite": suite, "photos": photos})
