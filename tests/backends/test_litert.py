import numpy as np
import pytest

from dissensus.backends.litert import dequantised, known_outputs, quantised


def detail(dtype, scale, zero):
    return {"dtype": dtype, "quantization": (scale, zero)}


def test_integers_stand_for_reals():
    signed = detail(np.int8, 0.5, -3)
    reals = np.array([-70.0, -1.0, 0.0, 1.5, 100.0], dtype=np.float32)
    integers = quantised(reals, signed)
    assert integers.dtype == np.int8
    assert integers.tolist() == [-128, -5, -3, 0, 127]
    assert dequantised(integers, signed).tolist() == [-62.5, -1.0, 0.0, 1.5, 65.0]


def test_pixels_and_reals_pass_unchanged():
    raw = np.array([0, 128, 255], dtype=np.uint8)
    assert quantised(raw, detail(np.uint8, 1 / 128, 128)) is raw
    reals = np.array([0.25], dtype=np.float32)
    assert quantised(reals, detail(np.float32, 0.0, 0)) is reals
    assert dequantised(reals, detail(np.float32, 0.0, 0)) is reals


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (detail(np.uint8, 1 / 256, 0), "probabilities"),
        (detail(np.int8, 1 / 256, -128), "probabilities"),
        (detail(np.uint8, 0.1, 60), "logits"),
        (detail(np.float32, 0.0, 0), "auto"),
    ],
)
def test_range_of_the_integers_tells_probabilities(output, expected):
    assert known_outputs(output) == expected
