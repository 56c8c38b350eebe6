from __future__ import annotations

import numpy as np
import pytest

from dissensus.inquiry import Answers
from dissensus.tasks.masks.drawings import CHECKED, CORRECTED, DRAWN, drawings_in


@pytest.mark.parametrize(
    ("drawn", "checked", "corrected", "is_checked"), [(1, 2, 3, True), (2, 3, 1, True), (3, 2, 1, False)]
)
def test_checks_and_corrections_count_if_they_arrived_after_the_mask(
    drawn: int, checked: int, corrected: int, is_checked: bool
) -> None:
    groups, people, nothing_wrong = np.array([DRAWN, CHECKED, CORRECTED]), np.arange(3), np.zeros(3, np.int64)
    answers = Answers(groups, people, nothing_wrong, np.array([drawn, checked, corrected]), ["ann", "bob", "cem"])
    [found] = drawings_in(answers, images=1)
    assert found.is_checked == is_checked
    newest = max(drawn, corrected)
    assert found.newest is not None
    assert found.newest.arrival == newest
