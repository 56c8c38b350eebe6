"""PyTorch: TorchScript, exported programs, or a function that builds a module. Any of these can run arbitrary code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.arrays import Array
from dissensus.backends.frameworks import framework
from dissensus.backends.modules import named_function
from dissensus.backends.network import Network
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import input_of
from dissensus.errors import BackendError
from dissensus.records import Classes


def open_torch(target: str, preprocess: Preprocess, classes: Classes) -> Network:
    """Open the network in a TorchScript file, in a .pt2 file, or returned by `module:factory`."""
    torch = framework("torch", "torch", "PyTorch")
    if Path(target).suffix == ".pt2":
        program = torch.export.load(target)
        shape = _declared_shape(program)
        return Network(
            runner(torch, program.module()), input_of(shape, np.float32, preprocess), preprocess, len(classes)
        )
    module = torch.jit.load(target, map_location="cpu") if is_file(target) else named_function(target)()
    if not isinstance(module, torch.nn.Module):
        raise BackendError(f"{target} returns a {type(module).__name__}: it must return a torch.nn.Module")
    network = on_device(torch, module)
    return Network(runner(torch, network), input_of((), np.float32, preprocess), preprocess, len(classes))


def is_file(target: str) -> bool:
    """True for the path of a model, False for `module:factory`."""
    return ":" not in target or Path(target).exists()


def on_device(torch: Any, module: Any) -> Any:
    """The module in evaluation mode, on the accelerator if there is one."""
    return module.eval().to("cuda" if torch.cuda.is_available() else "cpu")


def runner(torch: Any, module: Any) -> Callable[[Array], Array]:
    """A function from a batch to the module's outputs; of several outputs, it takes 'out' or else the first."""
    parameter = next(iter(module.parameters()), None)
    device = "cpu" if parameter is None else parameter.device

    def run(array: Array) -> Array:
        with torch.inference_mode():
            outputs = module(torch.from_numpy(array).to(device))
        if isinstance(outputs, Mapping):  # torchvision's segmentation models: 'out', and 'aux' for training
            outputs = [outputs["out"]] if "out" in outputs else list(outputs.values())
        first = outputs[0] if isinstance(outputs, tuple | list) else outputs
        return first.float().cpu().numpy()

    return run


def _declared_shape(program: Any) -> tuple[object, ...]:
    """Shape of an exported program's input; dynamic lengths are not integers."""
    names = program.graph_signature.user_inputs
    if len(names) != 1:
        raise BackendError(f"the exported program has {len(names)} inputs: it must have exactly one")
    node = next(node for node in program.graph.nodes if node.op == "placeholder" and node.name == names[0])
    return tuple(node.meta["val"].shape)
