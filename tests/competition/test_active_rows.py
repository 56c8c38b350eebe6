from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from selections import selection_of, selections

from dissensus.competition import judged
from dissensus.records import Selection

# one duel, ranks 1 to 5, all labels different
FIVE = selection_of([(0, 1, item, item + 1, item, item + 10) for item in range(5)])


def active_rows(selection: Selection, discarded: np.ndarray, k: int, cap: int) -> np.ndarray:
    """The rows of duels that count, at most `cap` of them with one label on either side."""
    labels = np.stack([selection.first_label, selection.second_label], axis=1)
    return judged.active_rows(selection.group, selection.rank, discarded, k, labels, cap)


def mask(*rows: int, of: int = 5) -> np.ndarray:
    return np.isin(np.arange(of), rows)


def plainly(selection: Selection, discarded: list[bool], k: int, cap: int) -> list[bool]:
    """Duel by duel: walk down the ranks and take whoever is fit and does not crowd a label."""
    active = [False] * len(selection)
    for duel in {(int(a), int(b)) for a, b in zip(selection.first, selection.second, strict=True)}:
        rows = [row for row in range(len(selection)) if (selection.first[row], selection.second[row]) == duel]
        taken: list[int] = []
        for row in sorted(rows, key=lambda row: selection.rank[row]):
            alike = [[getattr(selection, side)[other] == getattr(selection, side)[row] for other in taken].count(True) for side in ("first_label", "second_label")]  # fmt: skip # noqa: E501
            if len(taken) < k and not discarded[row] and max(alike) < cap:
                taken.append(row)
                active[row] = True
    return active


def test_without_discards_the_first_k_count() -> None:
    assert active_rows(FIVE, mask(), 3, 3).tolist() == mask(0, 1, 2).tolist()


def test_the_next_reserve_takes_the_place_of_a_discarded_item() -> None:
    assert active_rows(FIVE, mask(1), 3, 3).tolist() == mask(0, 2, 3).tolist()
    assert active_rows(FIVE, mask(1, 3), 3, 3).tolist() == mask(0, 2, 4).tolist()


def test_when_the_reserves_are_used_up_the_duel_has_fewer_items() -> None:
    assert active_rows(FIVE, mask(0, 1, 2, 4), 3, 3).tolist() == mask(3).tolist()
    assert not active_rows(FIVE, mask(0, 1, 2, 3, 4), 3, 3).any()


def test_a_reserve_that_would_break_the_cap_is_passed_over() -> None:
    # rows 1 to 3 share a label of the first model, so with a cap of one only one of them may count
    rows = [(0, 1, 0, 1, 5, 10), (0, 1, 1, 2, 6, 11), (0, 1, 2, 3, 6, 12), (0, 1, 3, 4, 6, 13), (0, 1, 4, 5, 7, 14)]
    assert active_rows(selection_of(rows), mask(0), 2, 1).tolist() == mask(1, 4).tolist()


def test_a_discarded_item_frees_its_label() -> None:
    rows = [(0, 1, 0, 1, 6, 10), (0, 1, 1, 2, 6, 11)]
    assert active_rows(selection_of(rows), mask(of=2), 2, 1).tolist() == [True, False]
    assert active_rows(selection_of(rows), mask(0, of=2), 2, 1).tolist() == [False, True]


def test_the_same_label_of_the_other_model_or_in_another_duel_does_not_count_for_the_cap() -> None:
    rows = [(0, 1, 0, 1, 6, 7), (0, 1, 1, 2, 7, 6), (0, 2, 0, 1, 6, 7)]
    assert active_rows(selection_of(rows), mask(of=3), 2, 1).all()


@given(selections(), st.data(), st.integers(1, 5), st.integers(1, 3))
def test_as_a_plain_walk_down_the_ranks(selection: Selection, data: st.DataObject, k: int, cap: int) -> None:
    size = len(selection)
    discarded = data.draw(st.lists(st.booleans(), min_size=size, max_size=size))
    active = active_rows(selection, np.array(discarded, bool), k, cap)
    assert active.tolist() == plainly(selection, discarded, k, cap)
    # what does not count now can be left out: asking again changes nothing
    again = active_rows(selection, ~active, k, cap)
    assert again.tolist() == active.tolist()


@given(selections(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(selection: Selection, random) -> None:
    order = random.sample(range(len(selection)), len(selection))
    discarded = np.array([random.random() < 0.3 for _ in order], bool)
    shuffled = active_rows(selection.take(np.array(order, int)), discarded[np.array(order, int)], 3, 2)
    assert shuffled.tolist() == active_rows(selection, discarded, 3, 2)[np.array(order, int)].tolist()
