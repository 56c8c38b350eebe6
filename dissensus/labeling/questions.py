"""Questions are about (item, label), so that an answer which several duels need is asked for once."""

from __future__ import annotations

import numpy as np

from dissensus.arrays import Array, Int
from dissensus.records import Selection

LABELS = 1 << 16
"""More than there are labels, which are kept in 16 bits."""


def questions_of(selection: Selection) -> tuple[Int[Array, "q 2"], Int[Array, "Q 2"]]:
    """Distinct (item, label) questions, sorted, and for each selected row the numbers of its two questions."""
    items = np.concatenate([selection.item, selection.item])
    labels = np.concatenate([selection.first_label, selection.second_label])
    distinct, number = np.unique(question_keys(items, labels), return_inverse=True)
    return np.stack([distinct // LABELS, distinct % LABELS], axis=1), number.reshape(2, -1).T


def question_keys(items: Int[Array, " n"], labels: Int[Array, " n"]) -> Int[Array, " n"]:
    """One number for each (item, label), in the same order: sorting numbers is ten times as fast as sorting pairs."""
    return items.astype(np.int64) * LABELS + labels
