"""Models that predict a class map for each image, from any framework."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array, UInt8
from dissensus.backends.class_maps import Axis, class_map
from dissensus.backends.frameworks import unopened
from dissensus.backends.label_sets import label_numbers, relabelled
from dissensus.backends.litert import open_litert
from dissensus.backends.map_preprocess import MapPreprocess
from dissensus.backends.modules import named_function, staying
from dissensus.backends.network import Network, parts
from dissensus.backends.onnx import REALS, WHOLE_NUMBERS, open_onnx
from dissensus.backends.preprocess import Preprocess, sides
from dissensus.backends.tensor import batch
from dissensus.backends.torch import open_torch
from dissensus.errors import BackendError, DissensusError, PredictionError, counted, one_line
from dissensus.predictions.maps import resized
from dissensus.records import Classes

Segmenter = Callable[[Sequence[Image]], list[UInt8[Array, "h w"]]]
"""Images → a class map each, at the model's own size: `predictions.maps.resized` resizes it to the image's."""

NETWORKS: dict[str, Callable[[str, Preprocess, Classes], Any]] = {
    "onnx": partial(open_onnx, output_types=REALS | WHOLE_NUMBERS),
    "litert": open_litert,
    "torch": open_torch,
}
MOST_AT_ONCE = 8
"""How many images a network without a fixed batch size gets at once: the scores of one can take tens of megabytes."""


def open_segmenter(backend: str, target: str, preprocess: MapPreprocess, classes: Classes) -> Segmenter:
    """Open a model, ready to predict maps of the study's classes; its maps are checked.

    Raises:
        BackendError: the framework or file is missing, it has no such model, or its labels are not the study's.
    """
    name = f"{backend}:{target}"
    try:
        numbers = label_numbers(preprocess.labels, classes)
        segment = _opened(backend, target, preprocess, len(numbers))
    except DissensusError as error:
        raise BackendError(str(error) if target in str(error) else f"{name}: {error}") from error
    except Exception as error:
        raise unopened(backend, target, error) from error

    def maps(images: Sequence[Image]) -> list[UInt8[Array, "h w"]]:
        if not images:
            return []
        try:
            return [relabelled(one, numbers) for one in segment(images)]
        except DissensusError as error:
            raise type(error)(f"{name}: {error}") from error
        except MemoryError as error:
            raise BackendError(
                f"{name}: out of memory on {counted(len(images), 'image')}: use smaller batches"
            ) from error
        except Exception as error:
            raise BackendError(f"{name} failed on {counted(len(images), 'image')}: {one_line(error)}") from error

    return maps


def _opened(
    backend: str, target: str, preprocess: MapPreprocess, classes: int
) -> Callable[[Sequence[Image]], Iterator[UInt8[Array, "h w"]]]:
    """A function from images to maps of output indices."""
    if backend == "python":
        return partial(_function_maps, partial(staying, named_function(target)), preprocess, classes)
    if backend not in NETWORKS:
        raise BackendError(f"the backend '{backend}' does not give masks: use {', '.join(NETWORKS)}, python or file")
    network = NETWORKS[backend](target, preprocess, Classes(tuple(map(str, range(classes)))))
    if network.input.axes == "flat":
        raise BackendError(
            "the model takes flat pixels, so it cannot predict a mask: wrap it as python:MODULE:FUNCTION"
        )
    return partial(_network_maps, network, preprocess, classes)


def _function_maps(
    function: Callable[[list[Image]], Any], preprocess: MapPreprocess, classes: int, images: Sequence[Image]
) -> Iterator[UInt8[Array, "h w"]]:
    outputs = function(list(images))
    _check_number(len(outputs), len(images))
    for output in outputs:
        yield class_map(np.asarray(output), classes, preprocess.classes_axis, "first")


def _network_maps(
    network: Network, preprocess: MapPreprocess, classes: int, images: Sequence[Image]
) -> Iterator[UInt8[Array, "h w"]]:
    likely: Axis = "last" if network.input.axes == "nhwc" else "first"
    size = network.input.size
    height, width = sides(size)
    for image, output in zip(images, _outputs(network, images), strict=True):
        labels = class_map(output, classes, preprocess.classes_axis, likely, seen=size)
        columns, rows = preprocess.inner_size(image, size)
        # Padding is cut off at the resolution that the network saw, so a coarse map is enlarged first.
        yield labels if (rows, columns) == (height, width) else resized(labels, height, width)[:rows, :columns]


def _outputs(network: Network, images: Sequence[Image]) -> Iterator[Array]:
    """The network's output for each image; only a few are held in memory at a time."""
    fixed = network.input.batch
    step = fixed or MOST_AT_ONCE
    for start in range(0, len(images), step):
        array = batch(images[start : start + step], network.preprocess, network.input)
        for part, filled in parts(array, fixed):
            outputs = network.run(part)
            _check_number(len(outputs) if np.ndim(outputs) else 1, len(part))
            yield from outputs[:filled]


def _check_number(maps: int, images: int) -> None:
    if maps != images:
        raise PredictionError(f"got {maps} maps for {images} images: return one each")
