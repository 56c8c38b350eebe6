"""How fast kernels of images are on the CPU, and how exact float32 is.

Example: python benchmarks/kernels_cpu.py

CPU time of a pair of 32×32×3 images, by kernel and precision, relative to Myrtle10-Gaussian in float32: blocks of 8 × 8
pairs whose norms are known, the best of some rounds. The bar is in pairs a second by the clock, on all cores. Errors of
float32 are relative to float64, the largest over all pairs, for three kinds of images: white noise, smooth images, and
constant images with a little noise, whose patches are almost parallel.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dissensus.arrays import Array, Float
from dissensus.kernels import KERNELS, engine, gram
from dissensus.kernels.compiled import buffer_sizes
from dissensus.kernels.cpu import CpuEngine

SIDE = 8
ROUNDS = 5
PAIRS_A_SECOND = 20
EXACT = 1e-4
SEED = 19
MORE = {"large γ": "conv3 gaussian(20) pool2 conv3 gaussian(20) mean gaussian(20)"}
"""Chains that have no name, for their errors."""


def noise(count: int, rng: np.random.Generator) -> Float[Array, "n 32 32 3"]:
    """Images of independent values, as after whitening."""
    return rng.normal(size=(count, 32, 32, 3))


def smooth(count: int, rng: np.random.Generator) -> Float[Array, "n 32 32 3"]:
    """Images of a few waves, between 0 and 1, as photographs are before whitening."""
    at = np.arange(32) / 32
    waves = np.stack([np.cos(np.pi * frequency * (at + 1 / 64)) for frequency in range(5)])
    images = np.einsum("nabc,ai,bj->nijc", rng.normal(size=(count, 5, 5, 3)), waves, waves)
    low, high = images.min(axis=(1, 2, 3), keepdims=True), images.max(axis=(1, 2, 3), keepdims=True)
    return (images - low) / (high - low)


def constant(count: int, rng: np.random.Generator) -> Float[Array, "n 32 32 3"]:
    """Images of one colour with a thousandth of noise."""
    return rng.uniform(0.1, 1, (count, 1, 1, 3)) + 1e-3 * rng.normal(size=(count, 32, 32, 3))


IMAGES = {"noise": noise, "smooth": smooth, "constant": constant}


def rate(kernel: str, precision: str, rounds: int = ROUNDS) -> tuple[float, float]:
    """Pairs a second by the clock, and a second of CPU time of one core; the best of some rounds."""
    rng = np.random.default_rng(SEED)
    chosen = engine(noise(SIDE, rng), noise(SIDE, rng), kernel, "cpu", precision)
    everything = slice(0, SIDE), slice(0, SIDE)
    chosen.block(*everything)  # compiles, and computes norms
    by_clock, by_cpu = 0.0, 0.0
    for _ in range(rounds):
        clock, cpu = time.perf_counter(), time.process_time()
        chosen.block(*everything)
        by_clock = max(by_clock, SIDE**2 / (time.perf_counter() - clock))
        by_cpu = max(by_cpu, SIDE**2 / (time.process_time() - cpu))
    return by_clock, by_cpu


def error(kernel: str, images: Float[Array, "n 32 32 3"]) -> float:
    """The largest relative error of float32 over all pairs."""
    exact, rough = (gram(images, kernel=kernel, device="cpu", precision=p) for p in ("float64", "float32"))
    return float(np.abs(rough / exact - 1).max())


def main() -> None:
    """Print both tables; exit with code 1 if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", nargs="*", default=list(KERNELS), help="names of kernels (default: all)")
    parser.add_argument("--images", type=int, default=8, help="images of each kind for the errors (default: 8)")
    given = parser.parse_args()
    is_missed = False
    chosen = CpuEngine(np.zeros((1, 32, 32, 3)), None, KERNELS["myrtle10"], "float32")
    buffers = 4e-6 * buffer_sizes(chosen.plan.sizes).sum()
    print(f"{chosen.name}, 32 × 32 × 3; a thread's buffers, in float32: {buffers:.2f} MB\n")
    print("| kernel | time in float32 | in float64 |\n| --- | --- | --- |")
    _, unit = rate("myrtle10-gaussian", "float32")
    for kernel in given.kernels:
        rates = [rate(kernel, precision) for precision in ("float32", "float64")]
        is_missed |= min(by_clock for by_clock, _ in rates) < PAIRS_A_SECOND
        print(f"| {kernel} | {' | '.join(f'{unit / by_cpu:.1f}' for _, by_cpu in rates)} |", flush=True)
    print(f"\n| kernel | {' | '.join(IMAGES)} |\n| --- |{' --- |' * len(IMAGES)}")
    for label, kernel in {**{kernel: kernel for kernel in given.kernels}, **MORE}.items():
        found = [error(kernel, make(given.images, np.random.default_rng(SEED))) for make in IMAGES.values()]
        is_missed |= max(found) > EXACT
        print(f"| {label} | {' | '.join(f'{value:.1e}' for value in found)} |", flush=True)
    if is_missed:
        sys.exit(f"missed: {PAIRS_A_SECOND} pairs a second, float32 within {EXACT:g} of float64")


if __name__ == "__main__":
    main()
