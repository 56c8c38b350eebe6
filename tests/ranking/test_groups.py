from __future__ import annotations

import numpy as np
import pytest

from dissensus.ranking import connected_groups


@pytest.mark.parametrize(
    ("pairs", "groups"),
    [
        ([], ((0,), (1,), (2,), (3,), (4,))),
        ([(4, 2), (2, 1)], ((1, 2, 4), (0,), (3,))),
        ([(3, 4), (1, 0)], ((0, 1), (3, 4), (2,))),
        ([(0, 1), (1, 2), (2, 3), (3, 4)], ((0, 1, 2, 3, 4),)),
    ],
)
def test_groups_come_largest_first(pairs: list[tuple[int, int]], groups: tuple) -> None:
    compared = np.zeros((5, 5), dtype=bool)
    for one, other in pairs:
        compared[one, other] = compared[other, one] = True
    assert connected_groups(compared) == groups
