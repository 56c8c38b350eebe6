"""LiteRT (TensorFlow Lite) files, floating-point or quantised."""

from __future__ import annotations

from typing import Any

import numpy as np

from dissensus.arrays import Array
from dissensus.backends.frameworks import framework, threads
from dissensus.backends.network import Network
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import input_of
from dissensus.errors import BackendError
from dissensus.predictions.top5 import ROUNDING, OutputKind
from dissensus.records import Classes


def open_litert(target: str, preprocess: Preprocess, classes: Classes) -> Network:
    """Open the network in a .tflite file with one image input, run at its declared batch size (usually one)."""
    litert = framework("ai_edge_litert.interpreter", "litert", "LiteRT")
    interpreter = litert.Interpreter(model_path=target, num_threads=threads())
    interpreter.allocate_tensors()
    inputs, outputs = interpreter.get_input_details(), interpreter.get_output_details()
    if len(inputs) != 1:
        raise BackendError(f"{target} is not an image model: it has {len(inputs)} inputs, but must have one")
    taken, given = inputs[0], outputs[0]
    # Signed 8-bit inputs are quantised floats: the settings give the floats, `quantised` the integers.
    dtype = np.uint8 if taken["dtype"] is np.uint8 else np.float32
    shape = [int(length) for length in taken["shape"]]

    def run(array: Array) -> Array:
        interpreter.set_tensor(taken["index"], quantised(array, taken))
        interpreter.invoke()
        return dequantised(interpreter.get_tensor(given["index"]), given)

    return Network(run, input_of(shape, dtype, preprocess), preprocess, len(classes), known_outputs(given))


def quantised(array: Array, detail: dict[str, Any]) -> Array:
    """The array in the tensor's own type: float = scale · (integer − zero point); 8-bit pixels pass unchanged."""
    scale, zero = detail["quantization"]
    if array.dtype == detail["dtype"] or scale == 0:
        return array.astype(detail["dtype"], copy=False)
    limits = np.iinfo(detail["dtype"])
    return np.clip(np.round(array / scale) + zero, limits.min, limits.max).astype(detail["dtype"])


def dequantised(array: Array, detail: dict[str, Any]) -> Array:
    """The floats that a quantised tensor represents."""
    scale, zero = detail["quantization"]
    return array if scale == 0 else (array.astype(np.float32) - zero) * np.float32(scale)


def known_outputs(detail: dict[str, Any]) -> OutputKind:
    """Probabilities if the tensor's integers span 0..1, even if rows sum to far less than 1; auto if not quantised."""
    scale, zero = detail["quantization"]
    if scale == 0:
        return "auto"
    limits = np.iinfo(detail["dtype"])
    low, high = (limits.min - zero) * scale, (limits.max - zero) * scale
    return "probabilities" if low >= -ROUNDING and 0.5 <= high <= 1 + ROUNDING else "logits"
