from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rounds import answers_of, judge, judged_with, keys_of, random_round, said, selection_of

from dissensus.competition.judged import active_before
from dissensus.competition.one_order import together
from dissensus.competition.select import duels_of
from dissensus.records import NO, OPEN, UNFIT, UNSURE, YES, Selection
from dissensus.tasks.labels.outcomes import lost_with_their_item, outcomes_of
from dissensus.tasks.labels.selecting import caps, raised_caps

# one duel: items 0, 1, 2 at ranks 1, 2, 3; labels 1 and 2 each
DUEL = selection_of((0, 1, item, item + 1, 1, 2) for item in range(3))


def verdicts(**by_item: str) -> np.ndarray:
    """Verdicts on labels 1 and 2 of items i0, i1, i2: 'yn' is yes and no, '-' not judged, 'u' unsure, 'x' unfit."""
    sign = {"y": YES, "n": NO, "u": UNSURE, "x": UNFIT, "-": OPEN}
    return np.array([sign[s] for item in range(3) for s in by_item.get(f"i{item}", "--")])


def test_all_pairs_at_first_and_only_those_of_newcomers_later() -> None:
    assert duels_of(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert duels_of(4, newcomers=1).tolist() == [[0, 3], [1, 3], [2, 3]]
    assert duels_of(4, newcomers=2).tolist() == [[0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]
    assert duels_of(1).shape == (0, 2)


@given(st.integers(2, 9), st.integers(1, 3))
def test_earlier_duels_and_those_of_newcomers_are_all_duels(models: int, newcomers: int) -> None:
    newcomers = min(newcomers, models - 1)
    parts = [*duels_of(models - newcomers).tolist(), *duels_of(models, newcomers).tolist()]
    assert sorted(parts) == duels_of(models).tolist()


def test_who_was_right_on_what() -> None:
    outcomes = outcomes_of(judge(DUEL, verdicts(i0="yn", i1="ny", i2="yy"), k=3, cap=3))
    assert outcomes.item.tolist() == [0, 1, 2]
    assert outcomes.rank.tolist() == [1, 2, 3]
    assert outcomes.first_right.tolist() == [True, False, True]
    assert outcomes.second_right.tolist() == [False, True, True]


def test_an_item_counts_only_when_both_questions_are_answered() -> None:
    judged = judge(DUEL, verdicts(i0="y-", i1="yn"), k=2, cap=3)
    assert outcomes_of(judged).item.tolist() == [1]
    assert judged.open.tolist() == [False, True, False, False, False, False]


def test_a_reserve_takes_the_next_place_and_its_questions_open() -> None:
    judged = judge(DUEL, verdicts(i0="yu", i1="yn"), k=2, cap=3)
    assert judged.active.tolist() == [False, True, True]
    assert judged.place.tolist() == [0, 1, 2]
    assert judged.open.tolist() == [False, False, False, False, True, True]
    assert judged.asked.all()


def test_a_reserve_that_was_never_reached_was_not_asked_even_if_it_has_answers() -> None:
    assert judge(DUEL, verdicts(i0="yn", i1="yn", i2="uu"), k=2, cap=3).asked.tolist() == [True] * 4 + [False] * 2
    assert judge(DUEL, verdicts(i0="yn", i1="yn", i2="yn"), k=2, cap=3).asked.tolist() == [True] * 4 + [False] * 2


def test_an_unfit_item_is_out_of_every_duel_and_an_unsure_one_only_where_it_was_asked() -> None:
    # item 0 with labels 1–2 in one duel, 1–3 and 2–3 in the others
    selection = selection_of([(0, 1, 0, 1, 1, 2), (0, 2, 0, 1, 1, 3), (1, 2, 0, 1, 2, 3)])
    assert keys_of(selection).tolist() == [[0, 1], [0, 2], [0, 3]]
    assert judge(selection, np.array([UNFIT, YES, NO]), k=1, cap=3).discarded.all()
    assert judge(selection, np.array([UNSURE, YES, NO]), k=1, cap=3).discarded.tolist() == [True, True, False]


def test_places_count_the_active_rows_of_each_duel_by_rank_whatever_their_order() -> None:
    rows = [(0, 2, 5, 3, 0, 1), (0, 1, 4, 2, 0, 1), (0, 2, 4, 1, 0, 1), (0, 1, 5, 1, 0, 1), (0, 2, 6, 2, 0, 1)]
    selection, active = selection_of(rows), np.array([True, True, True, True, False])
    found = replace(judge(selection, np.full(len(keys_of(selection)), OPEN), k=3, cap=3), active=active)
    assert found.place.tolist() == [2, 2, 1, 1, 0]
    assert active_before(selection.group, selection.rank, active).tolist() == [1, 1, 0, 0, 1]
    assert judge(selection_of([]), np.zeros(0, int), k=3, cap=3).place.tolist() == []


def test_a_round_without_answers_is_all_open() -> None:
    judged = judge(DUEL, verdicts(), k=2, cap=3)
    assert len(outcomes_of(judged)) == 0
    assert judged.open.tolist() == judged.asked.tolist() == [True] * 4 + [False] * 2


@given(st.integers(0, 10_000), st.integers(0, 10_000))
def test_other_verdicts_give_what_judging_anew_gives(seed: int, other: int) -> None:
    selection, answers = random_round(seed)
    judged = judged_with(selection, answers, k=3, cap=2)
    changed = np.random.default_rng(other).permutation(judged.state)
    tried = judged.with_state(changed, lost_with_their_item(changed, keys_of(selection)))
    anew = judge(selection, changed, k=3, cap=2)
    assert tried.active.tolist() == anew.active.tolist()
    assert tried.discarded.tolist() == anew.discarded.tolist()
    assert outcomes_of(tried).first_right.tolist() == outcomes_of(anew).first_right.tolist()


@given(st.integers(0, 10_000))
def test_open_questions_are_among_the_asked_and_answering_them_all_opens_only_reserves(seed: int) -> None:
    selection, answers = random_round(seed)
    judged = judged_with(selection, answers, k=3, cap=2)
    assert not (judged.open & ~judged.asked).any()
    for _ in range(len(selection)):
        for item, label in keys_of(selection)[judged.open].tolist():
            answers[item, label] = said(item, label, "yes")
        judged = judged_with(selection, answers, k=3, cap=2)
    assert not judged.open.any()


def two_classes(selected: int, reserves: int) -> Selection:
    """One duel; items are labelled 1 and 2, or 2 and 1, by turns."""
    rows = [(0, 1, item, item + 1, 1 + item % 2, 2 - item % 2) for item in range(selected + reserves)]
    return replace(selection_of(rows), is_reserve=np.arange(selected + reserves) >= selected)


def test_where_the_cap_rose_all_selected_rows_count_and_reserves_with_the_label_of_the_discarded() -> None:
    selection = two_classes(10, 4)
    state = np.full(28, OPEN)
    assert judge(selection, state, k=10, cap=3).active.tolist() == [True] * 10 + [False] * 4
    state[:2] = UNFIT  # item 0, with the labels of items 2, 4, …
    assert np.flatnonzero(judge(selection, state, k=10, cap=3).active).tolist() == [*range(1, 11)]
    state[20:22] = UNFIT  # item 10: the next one with these labels is 12
    assert np.flatnonzero(judge(selection, state, k=10, cap=3).active).tolist() == [*range(1, 10), 12]
    assert raised_caps(selection, 3) == {"duels": 1, "cap": 5}


def test_a_round_whose_cap_did_not_rise_keeps_it() -> None:
    selection = two_classes(6, 6)  # as selected before caps rose, with k = 10
    assert np.flatnonzero(judge(selection, np.full(24, OPEN), k=10, cap=3).active).tolist() == [*range(6)]
    assert raised_caps(selection, 3) == {"duels": 0, "cap": 3}
    assert raised_caps(selection_of([]), 3) == {"duels": 0, "cap": 3}


def test_every_duel_has_a_cap_of_its_own() -> None:
    rows = [(0, 1, item, item + 1, 1, 2) for item in range(5)] + [(0, 2, item, item + 1, item, 9) for item in range(2)]
    selection = selection_of(rows)
    assert caps(selection, 1).tolist() == [5] * 5 + [2] * 2
    assert caps(selection, 3).tolist() == [5] * 5 + [3] * 2
    assert raised_caps(selection, 3) == {"duels": 1, "cap": 5}


def test_outcomes_of_rounds_are_put_one_after_the_other() -> None:
    one = outcomes_of(judged_with(DUEL, answers_of([*said(0, 1, "yes"), *said(0, 2, "no")]), k=3, cap=3))
    other = outcomes_of(judged_with(DUEL, answers_of([*said(2, 1, "no"), *said(2, 2, "no")]), k=3, cap=3))
    assert together([one, other]).item.tolist() == [0, 2]
    assert together([one, other]).first_right.tolist() == [True, False]
