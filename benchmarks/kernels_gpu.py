"""Kernels of images on an NVIDIA GPU: are they right, and how fast?

    python benchmarks/kernels_gpu.py                      all named kernels on 32 × 32 × 3
    python benchmarks/kernels_gpu.py --kernel myrtle10-gaussian --variants
                                                          also other ways of dividing the work

Needs numpy, scipy and CuPy, and nothing else. Values are compared with the definition in float64; the same block is
computed twice and must not differ in a single bit. Exit code 1 if a kernel is wrong, or slower than the bar
for an H200.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.kernels_definition import by_definition
from dissensus.kernels import KERNELS, kernel_named
from dissensus.kernels.cuda.engine import CudaEngine, Variant, available

CARD = "NVIDIA H200"
BARS = {"myrtle10-gaussian": 280_000, "myrtle10": 100_000}
"""Pairs a second on this card, 32 × 32 × 3."""
TOLERANCE = 1e-4
VARIANTS = [Variant(), Variant(2, 8), Variant(2, 16)]


def images(kind: str, count: int, side: int, channels: int, seed: int) -> np.ndarray:
    """Noise, smooth images, images that are half zero, or constant ones."""
    rng = np.random.default_rng(seed)
    pixels = rng.normal(size=(count, side, side, channels))
    if kind == "smooth":
        waves = np.fft.rfft2(pixels, axes=(1, 2))
        rows, columns = np.fft.fftfreq(side)[:, None], np.fft.rfftfreq(side)[None]
        waves /= (0.03 + np.hypot(rows, columns))[None, :, :, None]
        pixels = np.fft.irfft2(waves, s=(side, side), axes=(1, 2))
    if kind == "half zero":
        pixels[::2, : side // 2] = 0
        pixels[1::2, :, side // 3 :] = 0
    if kind == "constant":
        pixels[:] = pixels[:, :1, :1]
    return pixels


def error(name: str, side: int, channels: int, variant: Variant) -> float:
    """Largest relative error over pairs of images of all kinds, each with one of its own and one of the next kind."""
    import cupy

    kinds = ["noise", "smooth", "half zero", "constant"]
    pictures = np.concatenate([images(kind, 2, side, channels, 1 + n) for n, kind in enumerate(kinds)])
    kernel = kernel_named(name)
    engine = CudaEngine(pictures, None, kernel, variant=variant)
    everything = slice(0, len(pictures))
    found, again = engine.block(everything, everything), engine.block(everything, everything)
    apart = CudaEngine(pictures, pictures.copy(), kernel, variant=variant).block(everything, everything)
    if not (found == again).all() or not (np.triu(found) == np.triu(apart)).all():
        raise SystemExit(f"{name}: two runs differ")
    worst = 0.0
    for i in range(len(pictures)):
        for j in (i, (i + 1) % len(pictures), (i + 3) % len(pictures)):
            right = by_definition(pictures[i], pictures[j], kernel, cupy)
            worst = max(worst, abs(float(found[i, j]) - right) / abs(right))
    return worst


def speed(name: str, side: int, channels: int, variant: Variant, count: int) -> tuple[float, float]:
    """Pairs a second of the launched kernel, by the GPU's clock (median of three), and of whole blocks, by ours."""
    import cupy

    engine = CudaEngine(
        images("smooth", count, side, channels, 5),
        images("smooth", count, side, channels, 6),
        kernel_named(name),
        variant=variant,
    )
    part = slice(0, count)
    engine.block(part, part)
    rates, walls = [], []
    for _ in range(3):
        start, stop = cupy.cuda.Event(), cupy.cuda.Event()
        began = time.perf_counter()
        start.record()
        engine.launched(part, part)
        stop.record()
        stop.synchronize()
        rates.append(count**2 / cupy.cuda.get_elapsed_time(start, stop) * 1e3)
        began = time.perf_counter()
        engine.block(part, part)
        walls.append(count**2 / (time.perf_counter() - began))
    return float(np.median(rates)), float(np.median(walls))


def main() -> int:
    """Print a table, and with --json a file; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernel", action="append", help="name or layers; all named kernels without it")
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--channels", type=int, default=3)
    parser.add_argument("--count", type=int, default=768, help="images on either side of the timed block")
    parser.add_argument("--variants", action="store_true", help="also other ways of dividing the work")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    options = parser.parse_args()
    if reason := available():
        print(reason, file=sys.stderr)
        return 2
    import cupy

    card = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    rows: list[dict[str, Any]] = []
    is_bad = False
    for name in options.kernel or list(KERNELS):
        for variant in VARIANTS if options.variants else [Variant()]:
            try:
                wrong = error(name, options.side, options.channels, variant)
                launched, whole = speed(name, options.side, options.channels, variant, options.count)
            except Exception as problem:
                if variant == Variant():
                    raise
                print(f"{name} {variant}: {str(problem).splitlines()[0]}", flush=True)
                continue
            bar = BARS.get(name) if (card, options.side, options.channels) == (CARD, 32, 3) else None
            is_bad |= variant == Variant() and (wrong > TOLERANCE or (bar is not None and launched < bar))
            row = {
                "kernel": name,
                "variant": vars(variant),
                "error": wrong,
                "pairs_per_second": launched,
                "with_copies": whole,
                "bar": bar,
            }
            rows.append(row)
            print(
                f"{name:20} tile {variant.tile}, {variant.warps:2} warps"
                f"   error {wrong:.1e}   {launched:9,.0f} pairs/s ({whole:9,.0f} with copies)"
                + (f"   bar {bar:,}" if bar else ""),
                flush=True,
            )
    print(f"{card}, CuPy {cupy.__version__}, CUDA {cupy.cuda.runtime.runtimeGetVersion()}")
    if options.json:
        options.json.write_text(json.dumps({"card": card, "rows": rows}, indent=1))
    return int(is_bad)


if __name__ == "__main__":
    sys.exit(main())
