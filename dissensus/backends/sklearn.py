"""scikit-learn classifiers stored with joblib. Opening such a file runs code from it: open only files you trust."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL.Image import Image

from dissensus.arrays import Array, Float, Int
from dissensus.backends.names import class_numbers, in_classes
from dissensus.backends.preprocess import Preprocess
from dissensus.backends.tensor import Input, batch, input_of
from dissensus.errors import BackendError
from dissensus.predictions.protocol import Top5, only_labels
from dissensus.predictions.top5 import OutputKind, top5
from dissensus.records import Classes


@dataclass(frozen=True)
class Estimator:
    """A classifier whose output j means class `numbers[j]`; it need not know all classes.

    The confidence comes from `predict_proba`. Margins (`decision_function`) are not probabilities: an estimator with
    nothing else has no confidence, unless outputs = 'logits' asks for their softmax.
    """

    estimator: Any
    numbers: Int[Array, " K"]
    input: Input
    preprocess: Preprocess

    def predict(self, images: Sequence[Image]) -> Top5:
        """Top-1 class, its probability and the classes that come next, for each image."""
        features = batch(images, self.preprocess, self.input)
        kind: OutputKind
        if self.preprocess.outputs == "logits" and hasattr(self.estimator, "decision_function"):
            outputs, kind = _per_class(self.estimator.decision_function(features)), "logits"
        elif hasattr(self.estimator, "predict_proba"):
            outputs, kind = self.estimator.predict_proba(features), "probabilities"
        else:
            places = np.searchsorted(self.estimator.classes_, self.estimator.predict(features))
            return only_labels(self.numbers[places].astype(np.uint16))
        order = self.numbers.argsort()
        return in_classes(top5(outputs[:, order], kind, 0, len(order)), self.numbers[order])


def _per_class(margins: Array) -> Float[Array, "n K"]:
    """Margins with one column per class: for two classes, scikit-learn returns only the second's."""
    return np.stack([np.zeros_like(margins), margins], axis=1) if margins.ndim == 1 else margins


def open_sklearn(target: str, preprocess: Preprocess, classes: Classes) -> Estimator:
    """Open the classifier in a joblib file; `classes_` are indices, names or ids of the study's classes."""
    import joblib

    estimator = joblib.load(target)
    known = getattr(estimator, "classes_", None)
    if known is None or np.ndim(known) != 1:
        raise BackendError(
            f"{target} contains a {type(estimator).__name__}: save a fitted classifier, which has classes_"
        )
    numbers = _numbers(np.asarray(known), classes)
    flat = preprocess.layout in ("auto", "flat")
    settings = preprocess.model_copy(update={"layout": "flat"}) if flat else preprocess
    shape = (None, getattr(estimator, "n_features_in_", None)) if flat else ()
    return Estimator(estimator, numbers, input_of(shape, np.float32, settings), settings)


def _numbers(known: Array, classes: Classes) -> Int[Array, " K"]:
    """Class numbers of `classes_`: whole numbers are indices, strings are names."""
    if not np.issubdtype(known.dtype, np.number):
        return np.asarray(class_numbers([str(label) for label in known], classes))
    numbers = known.astype(np.int64)
    if (numbers != known).any() or numbers.min() < 0 or numbers.max() >= len(classes):
        raise BackendError(
            f"classes_ from {known.min()} to {known.max()} are not indices of the study's {len(classes)} classes:"
            " fit the classifier on class indices or names"
        )
    return numbers
