from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import ScreeningError
from dissensus.records import ANSWERS, NO, OPEN, UNFIT, UNSURE, YES
from dissensus.screening import VERDICTS, Rule, majority_verdicts

METHODS = list(VERDICTS)
row = st.tuples(st.integers(0, 5), st.integers(0, 4), st.sampled_from(range(len(ANSWERS))))
rows = st.lists(row, max_size=30, unique_by=lambda row: row[:2])


yes, no, unsure, unfit = range(len(ANSWERS))  # answers are numbers, and so are verdicts, but other ones


def verdicts(method: str, rows: list[tuple[int, int, int]], questions: int = 6, people: int = 5, **rule) -> list[int]:
    columns = np.array(rows, int).reshape(-1, 3).T
    return VERDICTS[method](*columns, questions, people, Rule(**rule)).tolist()


def said(question: int, *answers: int) -> list[tuple[int, int, int]]:
    return [(question, person, answer) for person, answer in enumerate(answers)]


def study(rng: np.random.Generator, questions: int, skills: list[float]) -> tuple[np.ndarray, list]:
    truth = rng.integers(0, 2, questions)
    right = rng.random((questions, len(skills))) < skills
    answer = np.where(np.where(right, truth[:, None], 1 - truth[:, None]) == 1, yes, no)
    return truth, [(q, p, int(answer[q, p])) for q in range(questions) for p in range(len(skills))]


@given(rows, st.integers(1, 3))
def test_majority_is_the_rule_on_counts(rows: list, least: int) -> None:
    counts = np.zeros((6, 4), int)
    for question, _, answer in rows:
        counts[question, answer] += 1
    assert verdicts("majority", rows, min_answers=least) == majority_verdicts(counts, least).tolist()


@pytest.mark.parametrize("method", METHODS)
@given(rows=rows, least=st.integers(1, 3))
@settings(max_examples=40)
def test_all_methods_discard_alike_and_leave_open_alike(method: str, rows: list, least: int) -> None:
    by_majority = verdicts("majority", rows, min_answers=least)
    found = verdicts(method, rows, min_answers=least)
    for verdict in (UNFIT, OPEN):
        assert [one == verdict for one in found] == [one == verdict for one in by_majority]
    assert set(found) <= {YES, NO, UNSURE, UNFIT, OPEN}


@pytest.mark.parametrize("method", METHODS)
def test_what_all_say_is_the_verdict(method: str) -> None:
    rows = [*said(0, *[yes] * 5), *said(1, *[no] * 5), *said(2, *[unsure] * 5), *said(3, *[unfit] * 5)]
    rows += [*said(4, yes, yes, yes, yes, unsure), *said(5, no, no, no, no, unfit)]
    assert verdicts(method, rows) == [YES, NO, UNSURE, UNFIT, YES, NO]


@pytest.mark.parametrize("method", METHODS)
def test_nothing_said_is_nothing_judged(method: str) -> None:
    assert verdicts(method, []) == [OPEN] * 6
    assert verdicts(method, said(1, unfit, unfit)) == [OPEN, UNFIT] + [OPEN] * 4
    assert verdicts(method, said(1, yes, yes), min_answers=3) == [OPEN] * 6


@pytest.mark.parametrize("method", METHODS)
def test_where_nobody_says_yes_or_no_nobody_can_tell(method: str) -> None:
    rows = [*said(0, unsure, unsure, unsure, unfit, unfit), *said(1, *[no] * 5), *said(2, *[no] * 5)]
    assert verdicts(method, rows)[:3] == [UNSURE, NO, NO]


@pytest.mark.parametrize("method", METHODS)
def test_too_many_unsure_discard_whatever_the_others_say(method: str) -> None:
    rows = [*said(0, unsure, unsure, unsure, unsure, yes), *said(1, *[yes] * 5), *said(2, *[yes] * 5)]
    assert verdicts(method, rows)[0] == UNSURE
    assert verdicts(method, rows, unsure_share=0.9)[0] == YES


def test_dawid_skene_listens_to_those_who_are_right_elsewhere() -> None:
    rng = np.random.default_rng(0)
    truth, rows = study(rng, 300, [0.97, 0.95, 0.55, 0.5, 0.5])
    wanted = np.where(truth == 1, YES, NO)
    by_skill, by_number = (np.array(verdicts(method, rows, 300)) for method in ("dawid-skene", "majority"))
    assert (by_skill == wanted).mean() > 0.94
    assert (by_number == wanted).mean() < 0.91


def test_a_tie_that_nothing_decides_is_unsure_by_both() -> None:
    rows = [*said(0, yes, no), *said(1, no, yes)]
    for method in METHODS:
        assert verdicts(method, rows)[:2] == [UNSURE, UNSURE]


def test_certainty_decides_what_is_near_a_tie() -> None:
    rng = np.random.default_rng(1)
    _, rows = study(rng, 100, [0.8, 0.7, 0.7])
    undecided = [verdicts("dawid-skene", rows, 100, certainty=bound).count(UNSURE) for bound in (0.5, 0.8, 0.99)]
    assert undecided[0] == 0
    assert undecided == sorted(undecided)
    assert undecided[2] > undecided[0]


@given(rows, st.randoms(use_true_random=False))
@settings(max_examples=40)
def test_swapping_yes_and_no_swaps_the_verdicts(rows: list, random) -> None:
    swapped, other_answer = {YES: NO, NO: YES}, {yes: no, no: yes}
    other = [(question, person, other_answer.get(answer, answer)) for question, person, answer in rows]
    random.shuffle(other)
    before = verdicts("majority", rows)
    assert [swapped.get(verdict, verdict) for verdict in verdicts("majority", other)] == before


@pytest.mark.parametrize("method", METHODS)
def test_an_answer_that_does_not_exist_is_refused(method: str) -> None:
    with pytest.raises(ScreeningError, match="between"):
        verdicts(method, [(0, 0, 4)])
