"""How well two class maps agree, from their confusion counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dissensus.arrays import Array, Bool, Float, Int, UInt8
from dissensus.discrepancy.measures_kernel import FWIOU, MIOU, MIOU_ALL, MPA, measured_rows
from dissensus.errors import PredictionError
from dissensus.records import VOID


class Values(NamedTuple):
    """Values of a measure, and whether they are defined: where no pixel counts, the value is 0."""

    value: Float[Array, "*batch"]
    is_comparable: Bool[Array, "*batch"]


@dataclass(frozen=True)
class Measure:
    """How well another map agrees with a reference, 0 to 1, from their confusion counts.

    `is_symmetric`: it does not matter which of two maps is the reference.
    """

    summary: str
    is_symmetric: bool
    code: int
    """Its number in the kernel."""

    def __call__(self, counts: Int[Array, "*batch C columns"]) -> Values:
        """Values for counts from `confusion`, with or without the last column: see there."""
        *batch, classes, _ = counts.shape
        agreed = np.diagonal(counts, axis1=-2, axis2=-1)
        others = counts[..., :classes].sum(axis=-2)
        sums = (np.ascontiguousarray(one, np.int64).reshape(-1, classes) for one in (agreed, counts.sum(-1), others))
        value, is_comparable = measured_rows(self.code, *sums)
        return Values(value.reshape(batch), is_comparable.reshape(batch))


MEASURES = {
    "miou": Measure("intersection over union, mean over the classes present in either map", True, MIOU),
    "miou-all": Measure(
        "Eq. 7 exactly as printed: intersection over union, mean over all classes; an absent class counts as 0, "
        "so that even equal maps stay below 1",
        True,
        MIOU_ALL,
    ),
    "fwiou": Measure(
        "intersection over union, mean over classes weighted by their share of the reference's pixels (Eq. 9 "
        "with its weight)",
        False,
        FWIOU,
    ),
    "mpa": Measure(
        "share of each class's pixels in the reference that the other map labels the same, mean over the classes "
        "in the reference (Eq. 10)",
        False,
        MPA,
    ),
}


def confusion(reference: UInt8[Array, "H W"], other: UInt8[Array, "H W"], classes: int) -> Int[Array, "C C+1"]:
    """Pixels by the reference's class (row) and the other's (column); the last column is what the other leaves VOID.

    Pixels that the reference leaves VOID do not count. With the last column, the other's VOID counts as wrong, which is
    the rule against ground truth. Between two models it does not count: leave the column off (`[:, :-1]`).

    Raises:
        PredictionError: the maps differ in size, or have labels that are not classes.
    """
    if reference.shape != other.shape:
        raise PredictionError(
            f"maps of shape {reference.shape} and {other.shape} cannot be compared: resize one of them"
        )
    counted = reference != VOID
    rows, columns = reference[counted].astype(np.intp), other[counted].astype(np.intp)
    is_void = columns == VOID
    largest = max(rows.max(initial=0), columns[~is_void].max(initial=0))
    if largest >= classes:
        raise PredictionError(f"label {largest} is not a class: there are {classes}, 0 to {classes - 1}")
    columns[is_void] = classes
    return np.bincount(rows * (classes + 1) + columns, minlength=classes * (classes + 1)).reshape(classes, classes + 1)
