"""Models that predict a score for each image, from any framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array, Float
from dissensus.backends.frameworks import unopened
from dissensus.backends.litert import open_litert
from dissensus.backends.modules import named_function, staying
from dissensus.backends.network import Network
from dissensus.backends.onnx import open_onnx
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import batch, input_of
from dissensus.backends.timm import open_timm
from dissensus.backends.torch import open_torch
from dissensus.errors import BackendError, DissensusError, PredictionError, counted, one_line
from dissensus.records import Classes

Scorer = Callable[[Any, Sequence[Image | None]], Any]
"""(images, their references) → one score each; items that are not images go to Python functions unchanged."""

NETWORKS: dict[str, Callable[[str, Preprocess, Classes], Any]] = {
    "onnx": open_onnx,
    "litert": open_litert,
    "torch": open_torch,
    "timm": open_timm,
}
ONE_OUTPUT = Classes(("score",))


def open_scorer(backend: str, target: str, preprocess: Preprocess) -> Scorer:
    """Open a model, ready to score; its scores are checked.

    Raises:
        BackendError: the framework or file is missing, or it has no model with one output.
    """
    name = f"{backend}:{target}"
    try:
        scorer = _opened(backend, target, preprocess)
    except DissensusError as error:
        raise BackendError(str(error) if target in str(error) else f"{name}: {error}") from error
    except Exception as error:
        raise unopened(backend, target, error) from error

    def score(items: Any, references: Sequence[Image | None]) -> Float[Array, " n"]:
        try:
            scores = np.asarray(scorer(items, references))
            _check(scores, len(items))
        except DissensusError as error:
            raise type(error)(f"{name}: {error}") from error
        except Exception as error:
            raise BackendError(f"{name} failed on {counted(len(items), 'item')}: {one_line(error)}") from error
        return scores if scores.dtype == np.float32 else scores.astype(np.float64)

    return score


def _opened(backend: str, target: str, preprocess: Preprocess) -> Scorer:
    if backend == "python":
        function = named_function(target)
        return lambda items, _: staying(function, items)
    if backend == "quality":
        from dissensus.backends.quality import open_quality  # takes half a second to import; only this backend needs it

        model = open_quality(target)
        return lambda images, references: [model.score(*pair) for pair in zip(images, references, strict=True)]
    if backend == "sklearn":
        return _regressor(target, preprocess)
    if backend not in NETWORKS:
        raise BackendError(
            f"the backend '{backend}' does not give scores: use {', '.join(NETWORKS)}, sklearn, python, quality or file"
        )
    network = NETWORKS[backend](target, preprocess, ONE_OUTPUT)
    if not isinstance(network, Network):
        raise BackendError("this model has no raw outputs: wrap it as python:MODULE:FUNCTION")
    return lambda images, _: _single(network.outputs(images))


def _regressor(target: str, preprocess: Preprocess) -> Scorer:
    import joblib

    estimator = joblib.load(target)
    flat = preprocess.model_copy(update={"layout": "flat"})
    shape = (None, getattr(estimator, "n_features_in_", None))
    known = input_of(shape, np.float32, flat)
    return lambda images, _: estimator.predict(batch(images, flat, known))


def _single(outputs: Array) -> Array:
    if outputs.shape[1] != 1:
        raise PredictionError(
            f"the model has {outputs.shape[1]} outputs per image, but a score is one number: "
            "wrap it as python:MODULE:FUNCTION"
        )
    return outputs[:, 0]


def _check(scores: Array, items: int) -> None:
    if scores.shape != (items,) or scores.dtype.kind not in "iuf":
        raise PredictionError(
            f"got an array of {scores.dtype} and shape {scores.shape} for {items} items: return one score each"
        )
    wrong = int((~np.isfinite(scores)).sum())
    if wrong:
        raise PredictionError(
            f"{wrong:,} of {items:,} scores are NaN or infinite: return a finite number for every item"
        )
