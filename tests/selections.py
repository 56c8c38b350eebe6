"""Selections made by hand or by chance."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from dissensus.records import Selection

Row = tuple[int, int, int, int, int, int]
"""first, second, item, rank, first_label, second_label"""


def selection_of(rows: list[Row]) -> Selection:
    columns = np.array(rows, np.int64).reshape(-1, 6).T
    first, second, item, rank, first_label, second_label = columns
    nothing = np.zeros(len(rows))
    return Selection(first, second, item, rank, nothing.astype(bool), nothing, first_label, second_label)


@st.composite
def selections(draw: st.DrawFn, models: int = 3, most: int = 8) -> Selection:
    """Rows of all duels in any order; ranks count from 1 within a duel, an item stands in a duel once."""
    rows: list[Row] = []
    for first in range(models):
        for second in range(first + 1, models):
            items = draw(st.lists(st.integers(0, 9), max_size=most, unique=True))
            for rank, item in enumerate(items, start=1):
                one = draw(st.integers(0, 3))
                rows.append((first, second, item, rank, one, (one + draw(st.integers(1, 3))) % 4))
    return selection_of(draw(st.permutations(rows)))
