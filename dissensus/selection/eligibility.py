"""Which model's prediction counts on which item; where it does not count, the label is MISSING."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numba
import numpy as np

from dissensus.arrays import MISSING, Array, Bool, Float, UInt16

Predicted = tuple[UInt16[Array, " N"], Float[Array, " N"] | None]
"""The labels and confidences of one model."""


def usable_labels(
    predicted: Iterable[Predicted],
    threshold: float,
    out: UInt16[Array, "M N"],
    eligible: Bool[Array, "M N"] | None = None,
    is_partial: Sequence[bool] = (),
) -> UInt16[Array, "M N"]:
    """Labels of all models, MISSING where a model is not confident or its label cannot be judged.

    An item that one model could not read is MISSING for all: no duel may benefit from a broken file. `is_partial` marks
    those who were never asked about all items, such as people: what they did not label is MISSING only for them. Models
    without confidences (None) always count. `out` is where to write the result.
    """
    readable = np.ones(out.shape[1], bool)
    for row, (label, confidence) in enumerate(predicted):
        if is_partial and is_partial[row]:
            out[row] = label
        elif confidence is None:
            out[row] = label
            readable &= label != MISSING
        else:
            _keep_confident(label, confidence, np.float32(threshold), out[row], readable)
    if not readable.all():
        out[:, ~readable] = MISSING
    if eligible is not None:
        out[~eligible] = MISSING
    return out


@numba.njit(cache=True, nogil=True, error_model="numpy")
def _keep_confident(label, confidence, threshold, usable, readable):  # type: ignore[no-untyped-def]
    for i in range(label.size):  # branch-free, so that it compiles to vector instructions
        usable[i] = label[i] if confidence[i] >= threshold else np.uint16(MISSING)
        readable[i] &= label[i] != MISSING
