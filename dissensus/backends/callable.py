"""Python functions that take images and return predictions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array
from dissensus.backends.modules import named_function, staying
from dissensus.backends.preprocess import Preprocess
from dissensus.errors import PredictionError
from dissensus.predictions.protocol import Top5, only_labels
from dissensus.predictions.top5 import top5
from dissensus.records import Classes


@dataclass(frozen=True)
class Function:
    """A function from a list of RGB images to predictions.

    It returns an (n, C) array of probabilities or logits, an (n,) array of integer labels, or a tuple (labels,
    confidences).
    """

    function: Callable[[list[Image]], Any]
    preprocess: Preprocess
    classes: int

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class and its probability for each image, and the next classes if it returns outputs."""
        returned = self.function(list(images))
        if isinstance(returned, tuple) and len(returned) == 2:
            return only_labels(_labels(returned[0]), np.asarray(returned[1], dtype=np.float32))
        outputs = np.asarray(returned)
        if outputs.ndim == 1:
            return only_labels(_labels(outputs))
        return top5(outputs, self.preprocess.outputs, self.preprocess.class_offset, self.classes)


def _labels(values: object) -> Array:
    labels = np.asarray(values)
    if labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer):
        raise PredictionError(
            f"got an array of {labels.dtype} and shape {labels.shape}: return outputs (n, C), integer labels (n,)"
            " or a pair (labels, confidences)"
        )
    return labels


def open_callable(target: str, preprocess: Preprocess, classes: Classes) -> Function:
    """The function `module:function` as a model."""
    return Function(partial(staying, named_function(target)), preprocess, len(classes))
