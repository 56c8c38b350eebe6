"""What all networks share: from images to batches, outputs and predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import Input, batch
from dissensus.predictions.protocol import Top5
from dissensus.predictions.top5 import OutputKind, top5


@dataclass(frozen=True)
class Network:
    """A function from a batch to outputs, with what its framework declares about its input and outputs."""

    run: Callable[[Array], Array]
    input: Input
    preprocess: Preprocess
    classes: int
    known_outputs: OutputKind = "auto"
    """What the framework knows about the outputs; used if the settings leave it open."""

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class, its probability and the classes that come next, for each image."""
        kind = self.known_outputs if self.preprocess.outputs == "auto" else self.preprocess.outputs
        return top5(self.outputs(images), kind, self.preprocess.class_offset, self.classes)

    def outputs(self, images: Sequence[Image]) -> Array:
        """The network's outputs, one row per image."""
        array = batch(images, self.preprocess, self.input)
        outputs = np.concatenate([self.run(part)[:filled] for part, filled in parts(array, self.input.batch)])
        # Networks that end in pooling leave axes of length one after the classes.
        return outputs.reshape(len(images), -1)


def parts(array: Array, fixed: int | None) -> Iterator[tuple[Array, int]]:
    """Pieces of exactly `fixed` rows and how many of them count; the last piece is padded with its last row."""
    if fixed is None:
        yield array, len(array)
        return
    for start in range(0, len(array), fixed):
        part = array[start : start + fixed]
        filling = np.repeat(part[-1:], fixed - len(part), axis=0)
        yield np.concatenate([part, filling]), len(part)
