from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pair_rows import full_round, judge, numbered_pairs, pairs_of

from dissensus.competition.judged import active_rows
from dissensus.pairwise import attack_matrices
from dissensus.records import JUDGED, OPEN, UNFIT, Attacks
from dissensus.tasks.scores.comparing import signs_of
from dissensus.tasks.scores.standings import attacks_in

# one level of one duel with two reserves, and another duel with one level: items 1 to 8
DUEL = pairs_of(
    [(0, 1, 0, 1, 1, 2), (0, 1, 0, 2, 3, 4), (0, 1, 0, 3, 5, 6), (1, 0, 0, 1, 8, 7)], weight=[30, 30, 30, 50]
)


def judged(*state: int, share: float = 0.0):
    """The duel with its four pairs (1, 2), (3, 4), (5, 6), (7, 8) in these states."""
    return judge(DUEL, np.array(state), share)


def attacks_of(*state: int, preference: float = 0.5) -> Attacks:
    """Its attacks where people find the second item of every pair so much better."""
    return attacks_in(judged(*state), np.full(len(state), preference), np.ones(len(state), bool))


def test_without_answers_the_selected_pairs_wait_and_reserves_do_not() -> None:
    found = judged(*[OPEN] * 4)
    assert found.active.tolist() == [True, False, False, True]
    assert found.asked.tolist() == found.open.tolist() == [True, False, False, True]
    assert not found.decided.any()
    assert len(attacks_of(*[OPEN] * 4)) == 0


def test_a_preference_is_for_the_item_that_the_attacker_scores_higher() -> None:
    # people find the second item of every pair better: 2 and 8; the attacker of (8, 7) said 7
    attacks = attacks_of(JUDGED, OPEN, OPEN, JUDGED, preference=0.6)
    assert attacks.preference.tolist() == [0.6, -0.6]
    assert attacks.weight.tolist() == [30, 50]
    assert (attacks.attacker.tolist(), attacks.defender.tolist()) == ([0, 1], [1, 0])
    matrices = attack_matrices(attacks, 2)
    np.testing.assert_allclose(matrices.aggressiveness, [[0, 0.6], [-0.6, 0]])
    np.testing.assert_allclose(matrices.resistance, [[0, 0.4], [0.4, 0]])


def test_a_reserve_takes_the_place_of_an_unfit_pair_and_was_not_asked_before() -> None:
    found = judged(UNFIT, OPEN, OPEN, JUDGED)
    assert found.active.tolist() == [False, True, False, True]
    assert found.given_up.tolist() == [True, False, False, False]
    assert found.open.tolist() == [False, True, False, False]
    assert found.asked.tolist() == [True, True, False, True]
    states = UNFIT, UNFIT, JUDGED, JUDGED
    second = judged(*states)
    assert second.active.tolist() == [False, False, True, True]
    assert second.asked.all()
    assert attacks_of(*states).pair.tolist() == [2, 3]
    assert attacks_of(*states).weight.tolist() == [30, 50]  # a reserve has the weight of its level


def test_an_unfit_reserve_whose_turn_never_came_was_not_asked() -> None:
    found = judged(JUDGED, UNFIT, OPEN, JUDGED)
    assert found.given_up.tolist() == [False] * 4
    assert found.asked.tolist() == [True, False, False, True]


def test_a_level_whose_pairs_are_all_unfit_has_no_result_and_waits_for_nothing() -> None:
    found = judged(UNFIT, UNFIT, UNFIT, JUDGED)
    assert found.active.tolist() == [False, False, False, True]
    assert not found.open.any()
    assert found.asked.all()
    assert attacks_of(UNFIT, UNFIT, UNFIT, JUDGED).defender.tolist() == [0]


def test_a_duel_counts_once_enough_of_its_pairs_are_judged() -> None:
    rows = [(0, 1, level, 1, 2 * level, 2 * level + 1) for level in range(4)]
    selection = pairs_of([*rows, (1, 0, 0, 1, 90, 91)])

    def decided(share: float, *state: int) -> list[bool]:
        return judge(selection, np.array([*state, JUDGED]), share).decided.tolist()

    half = JUDGED, OPEN, JUDGED, OPEN
    assert decided(0.5, *half) == [True, False, True, False, True]
    assert decided(0.51, *half) == [False, False, False, False, True]
    assert decided(1.0, *half) == [False, False, False, False, True]
    # what people could not judge is no longer a pair of the duel
    assert decided(1.0, JUDGED, UNFIT, JUDGED, UNFIT) == [True, False, True, False, True]
    assert decided(0.0, *[OPEN] * 4) == [False] * 4 + [True]


def test_a_pair_that_several_duels_need_is_asked_once_and_each_reads_it_its_own_way() -> None:
    selection = pairs_of([(0, 1, 0, 1, 4, 9), (1, 0, 2, 1, 9, 4), (2, 0, 0, 1, 4, 9)])
    found = judge(selection, np.array([OPEN]))
    assert numbered_pairs(selection)[0].tolist() == [[4, 9]]
    assert found.open.tolist() == [True]
    attacks = attacks_in(judge(selection, np.array([JUDGED])), np.array([0.25]), np.array([True]))
    assert attacks.pair.tolist() == [0, 0, 0]
    assert attacks.preference.tolist() == [0.25, -0.25, 0.25]


def test_a_pair_unfit_in_one_duel_is_unfit_in_all() -> None:
    selection = pairs_of([(0, 1, 0, 1, 4, 9), (0, 1, 0, 2, 5, 6), (1, 0, 2, 1, 9, 4)])
    found = judge(selection, np.array([UNFIT, OPEN]))
    assert found.active.tolist() == [False, True, False]


def test_the_first_that_is_left_is_active_whatever_the_order_of_rows() -> None:
    rows = [(0, 1, 0, 3, 5, 6), (0, 1, 0, 1, 1, 2), (0, 1, 1, 1, 1, 2), (0, 1, 0, 2, 3, 4)]
    for discarded, selection, expected in (
        (np.array([False, True, False, False]), pairs_of(rows), [False, False, True, True]),
        (np.zeros(0, bool), pairs_of([]), []),
    ):
        assert active_rows(selection.group, selection.rank, discarded, k=1).tolist() == expected
    assert judge(pairs_of([]), np.zeros(0, int)).active.tolist() == []


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_as_one_would_do_it_by_hand(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    selection = full_round(3, 3, seed, reserves=2, items=12)  # few items, so that duels share pairs
    (pairs, number), sign = numbered_pairs(selection), signs_of(selection)
    state = rng.choice([JUDGED, OPEN, UNFIT], len(pairs))
    preference = rng.uniform(-1, 1, len(pairs))
    found = judge(selection, state, share)
    rows = list(zip(selection.attacker, selection.defender, selection.level, selection.rank, strict=True))
    active = np.zeros(len(rows), bool)
    asked = set()
    for place in {row[:3] for row in rows}:
        for row in sorted((r for r in range(len(rows)) if rows[r][:3] == place), key=lambda r: rows[r][3]):
            asked.add(int(number[row]))
            if state[number[row]] != UNFIT:
                active[row] = True
                break
    assert found.active.tolist() == active.tolist()
    assert set(np.flatnonzero(found.asked).tolist()) == asked
    assert not (found.open & ~found.asked).any()
    assert set(np.flatnonzero(found.open).tolist()) == {int(q) for q in number[active] if state[q] == OPEN}
    attacks = attacks_in(found, preference, np.ones(len(preference), bool))
    expected = []
    for row in np.flatnonzero(active).tolist():
        duel = [r for r in range(len(rows)) if rows[r][:2] == rows[row][:2] and active[r]]
        done = sum(state[number[r]] == JUDGED for r in duel) / len(duel)
        if state[number[row]] == JUDGED and done >= share:
            expected.append((*map(int, rows[row][:3]), sign[row] * preference[number[row]]))
    columns = (attacks.attacker, attacks.defender, attacks.level, attacks.preference)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == expected


@given(st.integers(0, 10_000))
def test_answering_all_that_is_open_ends(seed: int) -> None:
    rng = np.random.default_rng(seed)
    selection = full_round(3, 2, seed, reserves=2, items=15)
    state = np.full(len(numbered_pairs(selection)[0]), OPEN)
    for _ in range(len(state) + 1):
        found = judge(selection, state)
        state = np.where(found.open, rng.choice([JUDGED, UNFIT], len(state)), state)
    assert not judge(selection, state).open.any()
    assert (judge(selection, state).asked == (state != OPEN)).all()
