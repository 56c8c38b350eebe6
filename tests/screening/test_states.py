from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dissensus.records import JUDGED, OPEN, UNFIT
from dissensus.screening import states_of


def state(answered: int, unfit: int, least: int = 1, share: float = 0.5) -> int:
    return int(states_of(np.array([answered]), np.array([unfit]), least, share)[0])


def test_a_question_is_judged_once_enough_people_answered() -> None:
    assert [state(answered, 0, least=3) for answered in range(5)] == [OPEN, OPEN, OPEN, JUDGED, JUDGED]
    assert state(2, 2, least=3) == OPEN  # nothing is discarded before


def test_unfit_needs_more_than_the_share() -> None:
    assert [state(4, unfit) for unfit in range(5)] == [JUDGED, JUDGED, JUDGED, UNFIT, UNFIT]
    for percent in range(1, 100):  # shares that binary fractions miss
        assert state(100, percent, share=percent / 100) == JUDGED
        assert state(100, percent + 1, share=percent / 100) == UNFIT


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=10), st.integers(1, 5), st.integers(0, 10))
def test_as_the_rule_in_exact_fractions(rows: list[tuple[int, int]], least: int, tenths: int) -> None:
    pairs = [(max(row), min(row)) for row in rows]
    answered, unfit = np.array(pairs, np.int64).reshape(-1, 2).T
    share = Fraction(tenths, 10)
    expected = [OPEN if all_ < least else UNFIT if some > share * all_ else JUDGED for all_, some in pairs]
    assert states_of(answered, unfit, least, float(share)).tolist() == expected
