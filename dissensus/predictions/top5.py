"""From the outputs of a network to the most probable class, its probability, and the classes that come next."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, UInt16
from dissensus.errors import PredictionError
from dissensus.predictions.protocol import MOST_RANKED, Top5

OutputKind = Literal["auto", "logits", "probabilities"]

ROUNDING = 1e-3
"""How far half-precision probabilities may stray outside 0..1."""


def top5(outputs: Float[Array, "n K"], kind: OutputKind, class_offset: int, classes: int) -> Top5:
    """Class with the largest output in each row, its probability, and the next four; ties go to the lowest class.

    `auto` decides row by row, so that the result does not depend on how images were batched: a row within 0..1 that
    sums to 0.5..1.5 is probabilities (8-bit ones do not sum to 1), any other row is logits. A network whose logits
    often look like that (two classes, 0.3 and 0.7) needs `logits`; independent sigmoids need `probabilities`.
    `class_offset` outputs at the front (a background class) take part in the softmax and are then dropped.

    Raises:
        PredictionError: there are not `classes + class_offset` columns, a value is NaN or infinite, or a probability is
            outside 0..1.
    """
    _check_width(outputs.shape, class_offset, classes)
    values = np.ascontiguousarray(outputs, dtype=np.float64)
    broken = ~np.isfinite(values).all(axis=1)
    if broken.any():
        raise PredictionError(
            f"{broken.sum()} of {len(values)} rows of outputs contain NaN or infinity: check the model"
        )
    # The classes come from the outputs themselves: next to a large background, other softmax values underflow to ties.
    ranks = ranked(values[:, class_offset:])
    labels = ranks[:, 0]
    confidence = _probabilities(values, kind)[np.arange(len(values)), labels.astype(np.int64) + class_offset]
    return Top5(labels, confidence.clip(0, 1).astype(np.float32), ranks[:, 1:])


def ranked(values: Float[Array, "n K"]) -> UInt16[Array, "n 5"]:
    """Columns with the largest finite values of each row, largest first; ties go to the lowest; MISSING if K < 5."""
    left = np.array(values, dtype=np.float64)
    rows = np.arange(len(left))
    found = np.full((len(left), MOST_RANKED), MISSING, np.uint16)
    for rank in range(min(MOST_RANKED, left.shape[1])):
        best = left.argmax(axis=1)
        found[:, rank] = best
        left[rows, best] = -np.inf
    return found


def _check_width(shape: tuple[int, ...], class_offset: int, classes: int) -> None:
    expected = classes + class_offset
    if len(shape) == 2 and shape[1] == expected:
        return
    if len(shape) != 2:
        raise PredictionError(f"the outputs have shape {shape}: return one row per image with {expected} columns")
    fix = (
        "the study must have the model's classes (init --classes), or a Python function must turn its outputs into the "
        "study's (python:FILE.py:FUNCTION)"
    )
    if shape[1] == classes + 1:
        fix = (
            "set class_offset = 1 if the first output is background (-p class_offset=1, which applies to all models of "
            "one command)"
        )
    elif shape[1] == classes:
        fix = "set class_offset = 0"
    raise PredictionError(f"{shape[1]} outputs for {classes} classes with class_offset = {class_offset}: {fix}")


def _probabilities(values: Float[Array, "n K"], kind: OutputKind) -> Float[Array, "n K"]:
    if kind == "logits":
        return softmax(values)
    if kind == "auto":
        return np.where(_look_like_probabilities(values)[:, None], values, softmax(values))
    low, high = values.min(initial=0), values.max(initial=0)
    if low < -ROUNDING or high > 1 + ROUNDING:
        raise PredictionError(f"outputs from {low:.4g} to {high:.4g} are not probabilities: set outputs = 'logits'")
    return values


def _look_like_probabilities(values: Float[Array, "n K"]) -> Bool[Array, " n"]:
    within = (values >= -ROUNDING).all(axis=1) & (values <= 1 + ROUNDING).all(axis=1)
    return within & (np.abs(values.sum(axis=1) - 1) <= 0.5)


def softmax(logits: Float[Array, "n K"]) -> Float[Array, "n K"]:
    """Probabilities proportional to exp(logit), row by row; the maximum is subtracted so that nothing overflows."""
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return odds / odds.sum(axis=1, keepdims=True)
