"""Pairs of images a second on the CPU: our kernels, and neural-tangents beside them in the same run.

    python benchmarks/neural_tangents_env.py FOLDER --jax 0.10.2
    python benchmarks/kernels_side_by_side.py FOLDER/bin/python                 # about three minutes

Images of 32 × 32 × 3 in float32, all cores for each. Contenders take turns, and the fastest single call of each counts;
for neural-tangents, of the best of three batch sizes, after compiling. Both must compute the same value. The exit code
is 1 if we are less than 20 times as fast.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.kernels_cpu import rate
from dissensus.kernels import engine, kernel_named, text_of
from dissensus.kernels.layers import Conv, Relu

THEIRS = Path(__file__).with_name("neural_tangents_kernels.py")
BAR = 20.0
SEED = 19
TOLERANCE = 1e-5


def theirs(interpreter: Path, kernel: str, seconds: float) -> dict[str, Any]:
    """What neural_tangents_kernels.py prints: pairs a second, and the value of one pair."""
    text = text_of(kernel_named(kernel))
    command = [str(interpreter), str(THEIRS), "rate", "--kernel", text, "--seconds", str(seconds)]
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


def compared(kernel: str, interpreter: Path, rounds: int, seconds: float) -> bool:
    """Print both rates and their ratio; whether the bar is met."""
    mine, other, value = 0.0, 0.0, 0.0
    for _ in range(rounds):
        found = theirs(interpreter, kernel, seconds)
        other, value = max(other, found["pairs_per_second"]), found["value"]
        mine = max(mine, rate(kernel, "float32")[0])
    apart, ratio = difference(kernel, value), mine / other
    print(f"{kernel}: {mine:,.0f} pairs/s, neural-tangents {other:.2f}: ratio {ratio:.0f} (bar {BAR:g})", flush=True)
    print(f"  values differ by {apart:.1e}", flush=True)
    return ratio >= BAR and apart < TOLERANCE


def main() -> int:
    """Compare the kernels one by one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("interpreter", type=Path, help="of an environment that has neural-tangents")
    parser.add_argument("--kernels", nargs="*", default=["myrtle10-gaussian", "myrtle10"])
    parser.add_argument("--seconds", type=float, default=10, help="for each batch size of neural-tangents")
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    if not options.interpreter.is_file():
        raise SystemExit(f"{options.interpreter} does not exist: benchmarks/neural_tangents_env.py makes it")
    is_met = [compared(kernel, options.interpreter, options.rounds, options.seconds) for kernel in options.kernels]
    return int(not all(is_met))


if __name__ == "__main__":
    sys.exit(main())
