"""Our kernels as neural-tangents computes them; runs in the environment of neural_tangents_env.py, without our package.

    FOLDER/bin/python benchmarks/neural_tangents_kernels.py numbers tests/kernels/neural_tangents.json
    FOLDER/bin/python benchmarks/neural_tangents_kernels.py rate --kernel "conv3 relu pool2 conv3 relu mean relu"

`numbers` writes the values that tests/kernels/test_neural_tangents.py compares ours with, in float64; `rate` prints
pairs of images a second, in float32. A kernel is given as our text form of it.

Scales differ by constants: neural-tangents divides the inner product of two pixels by the number of channels and a 3×3
convolution by 9, and its ReLU halves the squared norm. It requires a linear layer between an average and an embedding,
here `Dense`, which changes nothing with a weight variance of 1.
"""

from __future__ import annotations

import argparse
import base64
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import numpy as np
from neural_tangents import stax

MYRTLE = {"myrtle5": (2, 1, 1), "myrtle7": (2, 2, 2), "myrtle10": (3, 3, 3)}
PARTS = (
    "conv3 mean",
    "conv3 relu mean",
    "conv3 gaussian mean",
    "conv3 gaussian(0.5) mean",
    "conv3 relu pool2 mean",
    "conv3 conv3 relu pool2 conv3 gaussian mean relu",
    "pool2 conv3 relu mean gaussian(2)",
)
DEPTHS = (1, 2, 3)
SEED = 19


def text_of(name: str) -> str:
    """Layers of a Myrtle kernel by its name, such as myrtle5 or myrtle10-gaussian."""
    base, _, embedding = name.partition("-")
    block = f"conv3 {embedding or 'relu'}"
    blocks = [" ".join([block] * number) for number in MYRTLE[base]]
    return f"{' pool2 '.join(blocks)} mean {embedding or 'relu'}"


def layers_of(text: str) -> list[Any]:
    """The layers of neural-tangents that a text names, all with unit weight variance and zero padding."""
    layers, is_gaussian = [], True
    for word in text.split():
        name, _, argument = word.rstrip(")").partition("(")
        if name == "conv3":
            layers.append(stax.Conv(1, (3, 3), padding="SAME", W_std=1.0, b_std=None))
        elif name == "pool2":
            layers.append(stax.AvgPool((2, 2), strides=(2, 2), padding="VALID"))
        elif name == "mean":
            layers.append(stax.GlobalAvgPool())
        elif name in ("relu", "gaussian"):
            if not is_gaussian:
                layers.append(stax.Dense(1, W_std=1.0, b_std=None))
            layers.append(stax.Relu() if name == "relu" else stax.ExpNormalized(float(argument or 1), -1.0))
        else:
            raise SystemExit(f"{word!r} is not a layer: conv3, relu, gaussian, pool2 or mean")
        is_gaussian = name == "conv3"
    return layers


def nngp_of(text: str) -> Callable[[np.ndarray, np.ndarray], Any]:
    """The kernel function of two sets of images."""
    kernel = stax.serial(*layers_of(text))[2]
    return lambda x, z: kernel(x, z, "nngp")


def dense_of(depth: int) -> Any:
    """Kernels of a fully connected ReLU network with hidden layers: weight variance 2 before each of them, then 1."""
    hidden = [stax.Dense(1, W_std=math.sqrt(2), b_std=None), stax.Relu()] * depth
    return stax.serial(*hidden, stax.Dense(1, W_std=1.0, b_std=None))[2]


def pictures(number: int, side: int, channels: int, rng: np.random.Generator) -> np.ndarray:
    """Smooth random images as bytes, the last of them zero (128) in a corner larger than a patch."""
    noise = rng.standard_normal((number, side, side, channels))
    for axis in (1, 2):
        noise = noise + np.roll(noise, 1, axis) + np.roll(noise, 2, axis)
    images = np.clip(128 + 40 * noise / 3, 0, 255).astype(np.uint8)
    images[-1, : side // 2, : side // 2] = 128
    return images


def numbers() -> dict[str, Any]:
    """Images, tables, and the values of every kernel on all their pairs."""
    jax.config.update("jax_enable_x64", True)
    rng = np.random.default_rng(SEED)
    named = {name + tail: text_of(name + tail) for name in MYRTLE for tail in ("", "-gaussian")}
    cases = []
    for images, kernels in (
        (pictures(4, 8, 3, rng), {text: text for text in PARTS} | named),
        (pictures(3, 16, 1, rng), named),
        (pictures(2, 32, 3, rng), {name: named[name] for name in ("myrtle10", "myrtle10-gaussian")}),
    ):
        x = (images.astype(float) - 128) / 128
        values = {name: nngp_of(text)(x, x).tolist() for name, text in kernels.items()}
        cases.append({"shape": images.shape, "bytes": base64.b64encode(images).decode(), "kernels": values})
    table = np.round(rng.standard_normal((5, 6)), 3)
    dense = {depth: dense_of(depth)(table, None, ("nngp", "ntk")) for depth in DEPTHS}
    return {
        "made by": "benchmarks/neural_tangents_kernels.py numbers, with neural-tangents 0.6.5 in float64",
        "images": cases,
        "table": table.tolist(),
        "arc-cosine": {depth: kernel.nngp.tolist() for depth, kernel in dense.items()},
        "ntk": {depth: kernel.ntk.tolist() for depth, kernel in dense.items()},
    }


def rate(text: str, seconds: float) -> dict[str, Any]:
    """Pairs a second with the best of some batch sizes, each compiled first and then repeated; the value of one pair."""
    kernel, values = jax.jit(nngp_of(text)), []
    rates: dict[int, float] = {}
    x = np.random.default_rng(SEED).standard_normal((8, 32, 32, 3)).astype(np.float32)
    for batch in (1, 2, 4):
        found = kernel(x[:batch], x[batch : 2 * batch]).block_until_ready()
        values.append(float(found[0, 0]))
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            kernel(x[:batch], x[batch : 2 * batch]).block_until_ready()
            done += batch * batch
        rates[batch] = done / (time.perf_counter() - start)
    return {"pairs_per_second": max(rates.values()), "by_batch": rates, "value": values[0]}


def main() -> None:
    """Write the numbers, or print the rate as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("numbers", "rate"))
    parser.add_argument("output", type=Path, nargs="?", help="for numbers: the file to write")
    parser.add_argument("--kernel", default=text_of("myrtle10-gaussian"), help="text form or a name such as myrtle10")
    parser.add_argument("--seconds", type=float, default=10, help="for each batch size")
    options = parser.parse_args()
    if options.what == "numbers":
        options.output.write_text(json.dumps(numbers(), separators=(",", ":")).replace('},{"sh', '},\n{"sh') + "\n")
    else:
        text = options.kernel if " " in options.kernel else text_of(options.kernel)
        print(json.dumps(rate(text, options.seconds)))


if __name__ == "__main__":
    main()
