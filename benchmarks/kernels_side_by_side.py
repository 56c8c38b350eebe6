"""Pairs of images a second on the CPU: our kernels, and neural-tangents beside them in the same run.

    python benchmarks/neural_tangents_env.py FOLDER --jax 0.10.2
    python benchmarks/kernels_cpu.py --neural-tangents FOLDER/bin/python        # about five minutes
    python benchmarks/kernels_cpu.py                                            # ours alone

Images of 32 × 32 × 3, float32 unless said otherwise, all cores for each. Contenders take turns, `--rounds` times; the best
round of each counts, and for neural-tangents the best of three batch sizes, after compiling. Both must compute the same
value. The exit code is 1 if we are less than 20 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from dissensus.kernels import engine, kernel_named, text_of
from dissensus.kernels.layers import Conv, Relu

THEIRS = Path(__file__).with_name("neural_tangents_kernels.py")
BAR = 20.0
SEED = 19
TOLERANCE = 1e-5


def ours(kernel: str, precision: str, seconds: float) -> float:
    """Pairs a second, after compiling; norms of images are computed within the time."""
    x = np.random.default_rng(SEED).standard_normal((512, 32, 32, 3))
    engine(x[:4], None, kernel, "cpu", precision).block(slice(0, 2), slice(2, 4))
    done, rows, start = 0, 32, time.perf_counter()
    chosen = engine(x, None, kernel, "cpu", precision)
    while time.perf_counter() - start < seconds:
        column = rows + done // rows % (len(x) - 2 * rows)
        chosen.block(slice(0, rows), slice(column, column + 16))
        done += 16 * rows
    return done / (time.perf_counter() - start)


def theirs(interpreter: Path, kernel: str, seconds: float) -> dict[str, Any]:
    """What neural_tangents_kernels.py prints: pairs a second, and the value of one pair."""
    command = [interpreter, THEIRS, "rate", "--kernel", text_of(kernel_named(kernel)), "--seconds", str(seconds / 3)]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(f"{interpreter} failed: {(done.stderr.strip() or 'no reason given').splitlines()[-1]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def difference(kernel: str, value: float) -> float:
    """How far our value of the same pair is from theirs, after the constants between the two scales."""
    x = np.random.default_rng(SEED).standard_normal((2, 32, 32, 3)).astype(np.float32)
    mine = float(engine(x, None, kernel, "cpu", "float64").block(slice(0, 1), slice(1, 2))[0, 0])
    layers = kernel_named(kernel).layers
    convolutions, rectifiers = (sum(isinstance(layer, kind) for layer in layers) for kind in (Conv, Relu))
    return abs(value * 3 * 9.0**convolutions * 2.0**rectifiers / mine - 1)


def compared(kernel: str, options: argparse.Namespace) -> bool:
    """Print both rates and their ratio; whether the bar is met."""
    mine, other, value = {"float32": 0.0, "float64": 0.0}, 0.0, None
    for _ in range(options.rounds):
        if options.neural_tangents:
            found = theirs(options.neural_tangents, kernel, options.seconds)
            other, value = max(other, found["pairs_per_second"]), found["value"]
        for precision in mine:
            mine[precision] = max(mine[precision], ours(kernel, precision, options.seconds / 3))
    line = f"{kernel:20} ours {mine['float32']:8.1f} pairs/s, in float64 {mine['float64']:8.1f}"
    if value is None:
        print(line, flush=True)
        return True
    apart, ratio = difference(kernel, value), mine["float32"] / other
    print(
        f"{line}; neural-tangents {other:6.2f}; ratio {ratio:6.1f} (bar {BAR:g}); values differ by {apart:.1e}",
        flush=True,
    )
    return ratio >= BAR and apart < TOLERANCE


def main() -> int:
    """Compare the kernels one by one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--neural-tangents", type=Path, metavar="INTERPRETER")
    parser.add_argument("--kernels", default="myrtle10-gaussian,myrtle10", help="names, with commas between them")
    parser.add_argument("--seconds", type=float, default=30, help="for each contender in each round")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if options.neural_tangents is None:
        print("ours alone: benchmarks/neural_tangents_env.py installs neural-tangents")
    elif not options.neural_tangents.is_file():
        raise SystemExit(f"{options.neural_tangents} does not exist: benchmarks/neural_tangents_env.py makes it")
    return int(not all([compared(kernel, options) for kernel in options.kernels.split(",")]))


if __name__ == "__main__":
    sys.exit(main())
