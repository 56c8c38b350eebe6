"""How well-known networks want their input: recipes to try when a network's predictions look wrong.

A network file does not say how its images were normalised. Its name often does; which of the usual ways it was is found
out by trying them.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath
from types import MappingProxyType
from typing import Any

NORMALISING = ("channels", "scale", "mean", "std")
"""The settings that a recipe decides; all others stay as they are."""
NETWORKS = ("onnx", "litert", "torch", "timm")
"""Backends whose images are prepared by our settings."""


@dataclass(frozen=True)
class Recipe:
    """One usual way to normalise images, as settings; those left out have their defaults."""

    words: str
    settings: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


RECIPES: dict[str, Recipe] = {
    "imagenet": Recipe("RGB with ImageNet’s mean and standard deviation, as for torchvision and timm"),
    "tensorflow": Recipe("RGB from −1 to 1, as for TensorFlow and Keras", {"mean": 0.5, "std": 0.5}),
    "unit": Recipe("RGB from 0 to 1", {"mean": 0, "std": 1}),
    "caffe": Recipe(
        "BGR from 0 to 255 minus the mean, as for Caffe",
        {"channels": "bgr", "scale": 1, "mean": [104, 117, 123], "std": 1},
    ),
    "bytes": Recipe("RGB from 0 to 255", {"scale": 1, "mean": 0, "std": 1}),
    "bgr": Recipe("BGR with ImageNet’s mean and standard deviation", {"channels": "bgr"}),
    "clip": Recipe(
        "RGB with CLIP’s mean and standard deviation",
        {"mean": [0.4815, 0.4578, 0.4082], "std": [0.2686, 0.2613, 0.2758]},
    ),
}
"""Every recipe by name. Each adds up to a full set of normalising settings."""

KNOWN: tuple[tuple[str, tuple[str, ...]], ...] = (
    (r"caffe|bvlc|googlenet|alexnet|deepcompression|zfnet", ("caffe", "imagenet")),
    (r"clip", ("clip", "imagenet")),
    (r"efficientnet.?(lite|b\d)|nasnet|inception|xception|mobilenet|mnasnet", ("tensorflow", "imagenet")),
    (r"deeplab", ("tensorflow", "imagenet")),
    (r"squeezenet|vgg|resnet|densenet|rcnn", ("imagenet", "caffe")),
    (r"vit|deit|beit|mixer|bit_", ("tensorflow", "imagenet")),
    (r"shufflenet|regnet|convnext|swin|fcn|unet|lraspp|segformer", ("imagenet", "unit")),
)
"""Names of networks, as patterns, with the recipes that their files usually need, the likeliest first."""


def usual_recipes(target: str) -> tuple[str, ...]:
    """The recipes that a network of this name usually needs, the likeliest first; empty if the name says nothing."""
    name = PurePath(target.partition("@")[0]).name.lower()
    for pattern, recipes in KNOWN:
        if re.search(pattern, name):
            return recipes
    return ()


def recipes_to_try(target: str, settings: Mapping[str, Any]) -> list[str]:
    """All recipes other than the present settings, the likeliest for a network of this name first."""
    order = dict.fromkeys((*usual_recipes(target), *RECIPES))
    return [name for name in order if not is_recipe(settings, name)]


def is_recipe(settings: Mapping[str, Any], name: str) -> bool:
    """Whether a model's settings normalise images as the recipe does."""
    return _normalised(settings) == _normalised(RECIPES[name].settings)


def _normalised(settings: Mapping[str, Any]) -> dict[str, Any]:
    found = {key: settings[key] for key in NORMALISING if key in settings}
    return {key: [float(one) for one in _listed(value)] if key != "channels" else value for key, value in found.items()}


def _listed(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list | tuple) else [value]


def with_recipe(own: Mapping[str, Any], shared: Mapping[str, Any], name: str) -> dict[str, Any]:
    """A model's own settings with the recipe in place of how it normalised images.

    Settings that all models of the study share are overruled by name, as a model's own are added to them.
    """
    defaults = {"channels": "rgb", "scale": 1 / 255, "mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
    kept = {key: value for key, value in own.items() if key not in NORMALISING}
    overruled = {key: defaults[key] for key in NORMALISING if key in shared}
    return kept | overruled | dict(RECIPES[name].settings)


def as_options(settings: Mapping[str, Any]) -> str:
    """Settings as options of a command: -p channels=bgr -p 'mean=[104,117,123]'."""
    return " ".join(f"-p {shlex.quote(f'{key}={_text(value)}')}" for key, value in settings.items())


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
