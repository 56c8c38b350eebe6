from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.records import PairSelection, Question
from dissensus.store.rounds import Round
from dissensus.tasks.scores import comparing
from dissensus.tasks.scores.comparing import pairs_of, signs_of


def selection_of(low: list[int], high: list[int]) -> PairSelection:
    size = len(low)
    number, score = np.zeros(size, np.int64), np.zeros(size)
    items = np.array(low, np.int64), np.array(high, np.int64)
    return PairSelection(number, number, number, number, number > 0, *items, number, score, score, score, score)


def pair_questions(selection: PairSelection) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct pairs, the number of each row's, and how the row reads it."""
    pairs, (numbers,) = pairs_of([selection])
    return pairs, numbers, signs_of(selection)


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


@given(st.integers(0, 1000))
def test_rounds_share_their_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 6, 20)
    high = (low + rng.integers(1, 6, 20)) % 6
    whole, (numbers,) = pairs_of([selection_of(low, high)])
    cut = int(rng.integers(0, 21))
    pairs, parts = pairs_of([selection_of(low[:cut], high[:cut]), selection_of(low[cut:], high[cut:])])
    assert pairs.tolist() == whole.tolist()
    assert np.concatenate(parts).tolist() == numbers.tolist()


def test_without_rounds_there_is_nothing_to_ask() -> None:
    pairs, parts = pairs_of([])
    assert (pairs.shape, parts) == ((0, 2), [])


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)


@pytest.mark.parametrize("kind", ["slider", "choice"])
@given(one=words, other=words)
def test_the_texts_of_a_pair_are_those_that_records_make_also_turned(kind: str, one: str, other: str) -> None:
    found = Round(1, selection_of([9], [4]), pa.table({"low": [one], "high": [other]}), {})
    (group,) = comparing.pair_questions(kind, [found]).groups

    def text(first: str, second: str, offers_same: bool) -> str:
        return Question(
            kind=kind, body={"second": second, "first": first} | ({"same": True} if offers_same else {})
        ).text

    # the item of the smaller number is the first
    assert group.texts == [text(other, one, kind == "choice")]
    worded = [(wording.texts, wording.is_swapped) for wording in group.wordings]
    assert worded[0] == ([text(one, other, kind == "choice")], True)
    without = [([text(other, one, offers_same=False)], False), ([text(one, other, offers_same=False)], True)]
    assert worded[1:] == (without if kind == "choice" else [])
