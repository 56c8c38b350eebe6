"""ONNX files, run by ONNX Runtime."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

from dissensus.arrays import Array
from dissensus.backends.frameworks import framework, threads
from dissensus.backends.network import Network
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import input_of
from dissensus.errors import BackendError
from dissensus.records import Classes

DTYPES = {
    "tensor(float)": np.float32,
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
}
REALS = frozenset(DTYPES) - {"tensor(uint8)"}
WHOLE_NUMBERS = frozenset(f"tensor({sign}int{bits})" for sign in ("", "u") for bits in (8, 16, 32, 64))
PROVIDERS = ("CUDAExecutionProvider", "CPUExecutionProvider")
ERRORS_ONLY = 3


def open_onnx(target: str, preprocess: Preprocess, classes: Classes, output_types: Collection[str] = REALS) -> Network:
    """Open the network in an ONNX file with one image input; uses its first output of one of these types."""
    runtime = framework("onnxruntime", "onnx", "ONNX Runtime")
    options = runtime.SessionOptions()
    options.log_severity_level = ERRORS_ONLY
    options.intra_op_num_threads = threads()
    available = runtime.get_available_providers()
    session = runtime.InferenceSession(target, options, providers=[name for name in PROVIDERS if name in available])
    inputs = session.get_inputs()
    outputs = [output.name for output in session.get_outputs() if output.type in output_types]
    if len(inputs) != 1 or inputs[0].type not in DTYPES or not outputs:
        raise BackendError(
            f"{target} is not an image model: it must have one numeric input and at least one numeric output"
        )

    def run(array: Array) -> Array:
        return session.run(outputs[:1], {inputs[0].name: array})[0]

    return Network(run, input_of(inputs[0].shape, DTYPES[inputs[0].type], preprocess), preprocess, len(classes))
