"""Our kernels against neural-tangents, an independent library (its values: benchmarks/neural_tangents_kernels.py).

Its scales differ from ours by constants. Where it has ⟨x, z⟩/channels for the input kernel, a ninth of our sum for a
3 × 3 convolution, and A·A′·(…)/(2π) for ReLU, every kernel of ours is channels · 9^convolutions · 2^ReLUs times as
large: all layers are homogeneous, so constants pass through them. Pooling and its Gaussian (`ExpNormalized`) are like
ours, except that it never lets A·A′ fall below 1e-15: a patch of zeros gets a norm of about 3e-8 instead of 0, which we
see as a relative difference of up to 5e-9. Everything else agrees to 4e-14.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dissensus.kernels.gram import gram
from dissensus.kernels.layers import Conv, Relu, kernel_named
from dissensus.kernels.tables import arc_cosine, ntk

FIXTURE = json.loads((Path(__file__).parent / "neural_tangents.json").read_text())
CASES = [
    pytest.param(case, name, id=f"{case['shape'][1]}×{case['shape'][2]}×{case['shape'][3]} {name}")
    for case in FIXTURE["images"]
    for name in case["kernels"]
]


def images_of(case: dict[str, Any]) -> np.ndarray:
    values = np.frombuffer(base64.b64decode(case["bytes"]), np.uint8).reshape(case["shape"])
    return (values.astype(float) - 128) / 128


def ratio(name: str, channels: int) -> float:
    layers = kernel_named(name).layers
    convolutions, rectifiers = (sum(isinstance(layer, kind) for layer in layers) for kind in (Conv, Relu))
    return channels * 9.0**convolutions * 2.0**rectifiers


@pytest.mark.parametrize(("case", "name"), CASES)
def test_images(case: dict[str, Any], name: str) -> None:
    x = images_of(case)
    expected = np.array(case["kernels"][name]) * ratio(name, x.shape[3])
    assert gram(x, kernel=name, device="cpu", precision="float64") == pytest.approx(expected, rel=1e-8)
    assert gram(x, x[1:], name, device="cpu", precision="float32") == pytest.approx(expected[:, 1:], rel=1e-5)


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_tables(depth: int) -> None:
    x = np.array(FIXTURE["table"])
    for kernel, name in ((arc_cosine, "arc-cosine"), (ntk, "ntk")):
        expected = np.array(FIXTURE[name][str(depth)]) * x.shape[1]
        assert kernel(x, depth=depth) == pytest.approx(expected, rel=1e-9)


def test_zero_patches_are_compared() -> None:
    for case in FIXTURE["images"]:
        side = case["shape"][1] // 2
        assert not images_of(case)[-1, :side, :side].any()
