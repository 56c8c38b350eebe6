"""Masks as they are answered, which is by run lengths, and as arrays of labels."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from dissensus.arrays import Array, UInt8
from dissensus.errors import JudgementError
from dissensus.labeling.kinds.mask import UNFIT

__all__ = ["KIND", "UNFIT", "answer_of", "labels_of", "refuse_enormous"]

KIND = "mask"


def answer_of(labels: UInt8[Array, "H W"]) -> dict[str, Any]:
    """The answer to a question of the kind mask: label and length of every run, row by row, on past the row's end."""
    flat = labels.reshape(-1)
    starts = np.concatenate([[0], np.flatnonzero(flat[1:] != flat[:-1]) + 1])
    lengths = np.diff(starts, append=len(flat))
    runs = np.stack([flat[starts].astype(np.int64), lengths], axis=1)
    return {"height": labels.shape[0], "width": labels.shape[1], "runs": runs.reshape(-1).tolist()}


def labels_of(answer: dict[str, Any]) -> UInt8[Array, "H W"]:
    """The labels of such an answer, pixel by pixel."""
    runs = np.array(answer["runs"], np.int64).reshape(-1, 2)
    return np.repeat(runs[:, 0].astype(np.uint8), runs[:, 1]).reshape(answer["height"], answer["width"])


def refuse_enormous(width: int, height: int) -> None:
    """Refuse sizes that models and people are not shown either.

    Raises:
        JudgementError: there are more pixels than Pillow takes.
    """
    limit = Image.MAX_IMAGE_PIXELS
    if limit is not None and width * height > limit:
        raise JudgementError(f"{width}×{height} pixels are more than Pillow's limit of {limit}")
