"""Rounds of any shape: one or two questions a row, one or several groups a duel, with and without a cap."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.competition.judged import Judged, RoundQuestions, judge
from dissensus.records import JUDGED, NO, OPEN, SCREENED_OUT, UNFIT, UNSURE, YES, Selected

STATES = [OPEN, JUDGED, YES, NO, UNFIT, UNSURE, SCREENED_OUT]
shares = st.sampled_from([0.0, 0.25, 0.5, 1.0])


@dataclass(frozen=True)
class Rows(Selected):
    """What every selection has, and nothing else."""

    within = "part"

    attacker: np.ndarray
    defender: np.ndarray
    part: np.ndarray
    rank: np.ndarray
    is_reserve: np.ndarray


def rows_of(*rows: tuple[int, int, int, int]) -> Rows:
    attacker, defender, part, rank = np.array(rows, np.int64).reshape(-1, 4).T
    return Rows(attacker, defender, part, rank, rank > 1)


@dataclass(frozen=True)
class Case:
    """A round with the states of its questions."""

    round_questions: RoundQuestions[Rows]
    state: np.ndarray
    other: np.ndarray
    lost: np.ndarray | None


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    duels = [(0, 1), (1, 0), (1, 2)]
    rows = [(*duel, part, rank) for duel in duels for part in range(2) for rank in range(1, int(rng.integers(1, 7)))]
    rows = [rows[at] for at in rng.permutation(len(rows))] if draw(st.booleans()) else rows
    size, questions = len(rows), draw(st.integers(1, 12))  # few of them, so that rows share some
    numbers = rng.integers(0, questions, (size, draw(st.sampled_from([1, 2]))))
    labels = rng.integers(0, 3, (size, 2)) if draw(st.booleans()) else None
    k, cap = draw(st.integers(1, 4)), draw(st.integers(1, 4)) if labels is not None else 0
    round_questions = RoundQuestions(rows_of(*rows), numbers, rng.integers(0, 5, size), k, labels, cap)
    state = rng.choice(STATES, questions)
    other = np.where(rng.random(questions) < 0.3, rng.choice(STATES, questions), state)
    return Case(round_questions, state, other, rng.random(questions) < 0.2 if draw(st.booleans()) else None)


def plainly(case: Case, share: float) -> dict[str, set[int]]:
    """Group by group, one row after the other: what became of it, and of its questions."""
    round_questions, chosen = case.round_questions, case.round_questions.selection
    duel = list(zip(chosen.attacker.tolist(), chosen.defender.tolist(), strict=True))
    group = list(zip(duel, chosen.part.tolist(), strict=True))
    questions, state = round_questions.questions.tolist(), case.state.tolist()
    out = {q for q, one in enumerate(state) if one in (UNFIT, UNSURE) or (case.lost is not None and case.lost[q])}
    active: set[int] = set()
    given_up: set[int] = set()
    for own in set(group):
        taken: list[int] = []
        for row in sorted((r for r in range(len(group)) if group[r] == own), key=lambda r: chosen.rank[r]):
            if len(taken) == round_questions.k:
                break
            if out & set(questions[row]):
                given_up.add(row)
            elif round_questions.labels is None or all(
                sum(round_questions.labels[r, side] == round_questions.labels[row, side] for r in taken)
                < round_questions.cap
                for side in (0, 1)
            ):
                taken.append(row)
        active |= set(taken)
    of_active = {q for row in active for q in questions[row]}
    ended = {row for row in active if all(state[q] in (JUDGED, YES, NO) for q in questions[row])}

    def counts(row: int) -> bool:
        own = {r for r in active if duel[r] == duel[row]}
        return len(own & ended) >= share * len(own)

    return {
        "discarded": {row for row, own in enumerate(questions) if out & set(own)},
        "active": active,
        "given_up": given_up,
        "asked": of_active | {q for row in given_up for q in questions[row] if state[q] != OPEN},
        "open": {q for q in of_active if state[q] == OPEN},
        "ended": ended,
        "decided": {row for row in ended if counts(row)},
    }


def marked(found: Judged[Rows]) -> dict[str, set[int]]:
    names = ("discarded", "active", "given_up", "asked", "open", "ended", "decided")
    return {name: set(np.flatnonzero(getattr(found, name)).tolist()) for name in names}


@given(cases(), shares)
def test_as_a_plain_walk_down_the_ranks(case: Case, share: float) -> None:
    assert marked(judge(case.round_questions, case.state, share, case.lost)) == plainly(case, share)


@given(cases())
def test_places_count_the_active_rows_of_every_group(case: Case) -> None:
    found = judge(case.round_questions, case.state)
    chosen = case.round_questions.selection
    assert (found.place > 0).tolist() == found.active.tolist()
    for group in np.unique(chosen.group).tolist():
        rows = np.flatnonzero((chosen.group == group) & found.active)
        in_order = rows[np.argsort(chosen.rank[rows])]
        assert found.place[in_order].tolist() == list(range(1, len(rows) + 1))


@given(cases(), shares)
def test_other_states_give_what_judging_anew_gives(case: Case, share: float) -> None:
    before = judge(case.round_questions, case.state, share)
    kept = before.active.copy()
    anew = judge(case.round_questions, case.other, share, case.lost)
    assert marked(before.with_state(case.other, case.lost)) == marked(anew)
    assert marked(before.with_state(case.other, case.lost).with_state(case.state)) == marked(before)
    assert before.active.tolist() == kept.tolist()


@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(case: Case, random) -> None:
    round_questions = case.round_questions
    order = np.array(random.sample(range(len(round_questions.selection)), len(round_questions.selection)), int)
    labels = None if round_questions.labels is None else round_questions.labels[order]
    moved = RoundQuestions(
        round_questions.selection.take(order),
        round_questions.questions[order],
        round_questions.subject[order],
        round_questions.k,
        labels,
        round_questions.cap,
    )
    one, other = (judge(each, case.state, 0.5, case.lost) for each in (round_questions, moved))
    for name in ("active", "given_up", "decided", "place"):
        assert getattr(other, name).tolist() == getattr(one, name)[order].tolist()
    for name in ("asked", "open"):
        assert getattr(other, name).tolist() == getattr(one, name).tolist()


@given(cases())
def test_answering_all_that_is_open_ends(case: Case) -> None:
    state, rng = np.full(len(case.state), OPEN), np.random.default_rng(0)
    for _ in range(len(state) + 1):
        found = judge(case.round_questions, state)
        assert not (found.open & ~found.asked).any()
        state = np.where(found.open, rng.choice([JUDGED, UNFIT], len(state)), state)
    assert not judge(case.round_questions, state).open.any()


def test_a_cap_no_smaller_than_k_turns_nobody_away() -> None:
    rows = rows_of(*[(0, 1, 0, rank) for rank in (1, 2, 3)])
    for cap, active in ((1, [True, False, False]), (2, [True, True, False]), (3, [True, True, True])):
        round_questions = RoundQuestions(rows, np.arange(3)[:, None], np.arange(3), 3, np.zeros((3, 2), int), cap)
        assert judge(round_questions, np.full(3, OPEN)).active.tolist() == active


def test_a_question_that_is_lost_discards_its_rows_but_was_not_asked_for_that() -> None:
    round_questions = RoundQuestions(rows_of((0, 1, 0, 1), (0, 1, 0, 2)), np.array([[0], [1]]), np.arange(2), 1)
    found = judge(round_questions, np.full(2, OPEN), lost=np.array([True, False]))
    assert found.active.tolist() == [False, True]
    assert found.given_up.tolist() == [True, False]
    assert found.asked.tolist() == found.open.tolist() == [False, True]


def test_what_is_screened_out_is_neither_open_nor_ended_and_no_reserve_comes() -> None:
    round_questions = RoundQuestions(rows_of((0, 1, 0, 1), (0, 1, 0, 2)), np.array([[0], [1]]), np.arange(2), 1)
    found = judge(round_questions, np.array([SCREENED_OUT, OPEN]))
    assert found.active.tolist() == [True, False]
    assert not found.open.any()
    assert not found.ended.any()
    assert found.asked.tolist() == [True, False]


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("questions", [0, 3])
def test_an_empty_round_comes_to_nothing(width: int, questions: int) -> None:
    for labels in (None, np.zeros((0, 2), int)):
        round_questions = RoundQuestions(rows_of(), np.zeros((0, width), int), np.zeros(0, int), 2, labels, 1)
        found = judge(round_questions, np.full(questions, OPEN), 0.5)
        changed = found.with_state(np.full(questions, UNFIT))
        for one in (found, changed):
            assert not any(marked(one).values())
            assert (len(one.active), len(one.place), len(one.asked)) == (0, 0, questions)
