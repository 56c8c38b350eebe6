"""Models of PyTorch Image Models (timm), with published weights or with a checkpoint file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dissensus.backends.frameworks import framework
from dissensus.backends.network import Network
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import input_of
from dissensus.backends.torch import on_device, runner
from dissensus.errors import BackendError
from dissensus.records import Classes

RESAMPLES = ("bilinear", "bicubic", "nearest")


def open_timm(target: str, preprocess: Preprocess, classes: Classes) -> Network:
    """Open the model NAME with its published weights, or NAME@FILE with the weights in a checkpoint."""
    timm = framework("timm", "timm", "timm")
    torch = framework("torch", "timm", "PyTorch")
    name, checkpoint = split_target(target)
    if not timm.is_model(name):
        raise BackendError(f"timm has no model {name}: see timm.list_models()")
    if checkpoint and not Path(checkpoint).is_file():
        raise BackendError(f"no such checkpoint: {checkpoint}; give the path of the weights after '@'")
    weights = {"checkpoint_path": checkpoint, "num_classes": len(classes) + preprocess.class_offset}
    module = timm.create_model(name, **weights) if checkpoint else timm.create_model(name, pretrained=True)
    settings = completed(preprocess, timm.data.resolve_model_data_config(module))
    network = on_device(torch, module)
    return Network(runner(torch, network), input_of((), np.float32, settings), settings, len(classes), "logits")


def split_target(target: str) -> tuple[str, str]:
    """Name of the architecture, and path of its weights or ''."""
    name, _, checkpoint = target.partition("@")
    return name, checkpoint


def completed(preprocess: Preprocess, config: Mapping[str, Any]) -> Preprocess:
    """The settings, with defaults from timm's data configuration."""
    own: dict[str, Any] = {
        "size": config["input_size"][-1],
        "crop": config["crop_pct"],
        "mean": tuple(config["mean"]),
        "std": tuple(config["std"]),
    }
    if config["interpolation"] in RESAMPLES:
        own["resample"] = config["interpolation"]
    return Preprocess.read(own | preprocess.model_dump(exclude_unset=True, exclude_none=True))
