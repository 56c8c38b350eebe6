from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dissensus.labeling import pair_questions
from dissensus.records import PairSelection


def selection_of(low: list[int], high: list[int]) -> PairSelection:
    size = len(low)
    number, score = np.zeros(size, np.int64), np.zeros(size)
    items = np.array(low, np.int64), np.array(high, np.int64)
    return PairSelection(number, number, number, number, number > 0, *items, number, score, score, score, score)


def test_by_hand() -> None:
    pairs, number, sign = pair_questions(selection_of([7, 3, 9, 3], [3, 7, 1, 4]))
    assert pairs.tolist() == [[1, 9], [3, 4], [3, 7]]
    assert number.tolist() == [2, 2, 0, 1]
    assert sign.tolist() == [-1, 1, -1, 1]  # 1 where the second item of the pair is the attacker's high one


def test_nothing_selected_is_nothing_to_ask() -> None:
    pairs, number, sign = pair_questions(selection_of([], []))
    assert pairs.shape == (0, 2)
    assert len(number) == len(sign) == 0


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)).filter(lambda pair: pair[0] != pair[1]), max_size=40))
def test_every_pair_once_and_every_row_can_be_read_from_it(rows: list[tuple[int, int]]) -> None:
    pairs, number, sign = pair_questions(selection_of([row[0] for row in rows], [row[1] for row in rows]))
    assert [tuple(pair) for pair in pairs.tolist()] == sorted({tuple(sorted(row)) for row in rows})
    for (low, high), at, turn in zip(rows, number.tolist(), sign.tolist(), strict=True):
        first, second = pairs[at].tolist()
        assert first < second
        assert (low, high) == ((first, second) if turn == 1 else (second, first))


@given(st.integers(0, 1000))
def test_turning_a_row_turns_its_sign_and_nothing_else(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 8, 20)
    high = (low + rng.integers(1, 8, 20)) % 8
    one, other = pair_questions(selection_of(low, high)), pair_questions(selection_of(high, low))
    assert one[0].tolist() == other[0].tolist()
    assert one[1].tolist() == other[1].tolist()
    assert one[2].tolist() == (-other[2]).tolist()
