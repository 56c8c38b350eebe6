"""Image quality models: ours against packages that have them, on one photo in one run.

    python benchmarks/quality.py                 # about half a minute
    python benchmarks/quality.py --repeat 20     # steadier

Needs the `benchmark` extra; pypiqe, which brings OpenCV, is a contender where it is installed.
"""

from __future__ import annotations

import argparse
import importlib
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import numpy as np
import skimage
from PIL import Image

from dissensus.backends.quality import QUALITY
from dissensus.pool.distortions import distorted, random_stream

Pixels = np.ndarray


class Contender(NamedTuple):
    model: str
    package: str
    score: Callable[[Image.Image, Image.Image], float]
    equal: float | None
    """How close the numbers must be; None where the package does not compute the same, for the reason given."""
    slower: float
    """How many times slower than ours it must be."""
    note: str = ""


def gray(image: Image.Image) -> Pixels:
    return np.asarray(image.convert("L"))


def contenders() -> list[Contender]:
    found: list[Contender] = []
    for package, make in (("sewar", _sewar), ("skimage.metrics", _skimage), ("pypiqe", _pypiqe)):
        try:
            found += make(importlib.import_module(package))
        except ImportError:
            print(f"{package} is not installed")
    return found


def _sewar(sewar: Any) -> list[Contender]:
    window = {"fltr": importlib.import_module("sewar.utils").Filter.GAUSSIAN, "sigma": 1.5, "ws": 11}
    return [
        Contender("psnr", "sewar", lambda x, y: float(sewar.psnr(gray(y), gray(x))), 1e-9, 0.5),
        Contender("ssim", "sewar", lambda x, y: float(sewar.ssim(gray(y), gray(x), fltr_specs=window)[0]), 1e-9, 3),
        Contender("vif", "sewar", lambda x, y: float(sewar.vifp(gray(y), gray(x))), 1e-9, 3),
        Contender(
            "ms-ssim", "sewar", lambda x, y: float(sewar.msssim(gray(y), gray(x))), None, 3,
            "halves the image one pixel off the authors' grid",
        ),
    ]  # fmt: skip


def _skimage(metrics: Any) -> list[Contender]:
    whole = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False, "data_range": 255}
    ssim = metrics.structural_similarity
    return [Contender("ssim", "scikit-image", lambda x, y: float(ssim(gray(y), gray(x), **whole)), 1e-9, 0.5)]


def _pypiqe(module: Any) -> list[Contender]:
    note = "stretches to the lightest pixel and mirrors at the border, the authors do neither"
    return [Contender("piqe", "pypiqe", lambda x, _: float(module.piqe(gray(x))[0]), None, 3, note)]


def seconds(work: Callable[[], object], repeat: int) -> float:
    work()
    taken = []
    for _ in range(repeat):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return median(taken)


def compare(image: Image.Image, reference: Image.Image, repeat: int) -> bool:
    """Print the table; True where all bars hold."""
    holds = True
    ours = {name: seconds(partial(model.score, image, reference), repeat) for name, model in QUALITY.items()}
    print(f"{'model':9} {'ours ms':>8}  {'package':13} {'ms':>8} {'ratio':>7}  {'difference':>10}")
    others = contenders()
    for name, taken in ours.items():
        rivals = [other for other in others if other.model == name]
        if not rivals:
            print(f"{name:9} {1000 * taken:8.1f}  –")
        for other in rivals:
            again = seconds(partial(QUALITY[name].score, image, reference), repeat)  # just before the other
            theirs = seconds(partial(other.score, image, reference), repeat)
            apart = abs(other.score(image, reference) - QUALITY[name].score(image, reference))
            is_good = theirs / again >= other.slower and (other.equal is None or apart <= other.equal)
            holds &= is_good
            times = f"{1000 * again:8.1f}  {other.package:13} {1000 * theirs:8.1f} {theirs / again:7.2f}"
            remarks = ("" if is_good else "  FAILS") + (f"  ({other.note})" if other.note else "")
            print(f"{name:9} {times}  {apart:10.1e}{remarks}")
    return holds


def throughput(image: Image.Image, reference: Image.Image, repeat: int) -> None:
    """Images a second by all models together, in one thread and in two."""
    work = [(model, image.copy(), reference.copy()) for _ in range(repeat) for model in QUALITY.values()]
    for threads in (1, 2):
        with ThreadPoolExecutor(threads) as pool:
            start = time.perf_counter()
            list(pool.map(lambda job: job[0].score(job[1], job[2]), work))
            taken = time.perf_counter() - start
        print(f"all {len(QUALITY)} models in {threads} thread(s): {repeat / taken:.1f} images a second")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    repeat = parser.parse_args().repeat
    path = Path(skimage.__file__).parent / "data" / "coffee.png"
    reference = Image.open(path).convert("RGB")
    image = distorted(reference, "jpeg", 2, random_stream(0, "coffee", "jpeg", 2))
    print(f"coffee.png of scikit-image, {reference.width}×{reference.height}, JPEG at level 2; medians of {repeat}")
    holds = compare(image, reference, repeat)
    throughput(image, reference, repeat)
    if not holds:
        raise SystemExit("a bar does not hold")


if __name__ == "__main__":
    main()
