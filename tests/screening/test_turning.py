from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.records import NO, OPEN, UNSURE
from dissensus.screening import Rule, Turns, cheapest_turns, majority_verdicts


def by_enumeration(counts: tuple[int, ...], rule: Rule) -> list[tuple[tuple[int, ...], int]]:
    """Answers are removed one by one in every possible way; the first way to get a verdict is a cheapest one."""
    whole = np.array([counts])
    left, turns = whole, []
    seen = set(verdicts(whole, rule))
    for _ in range(sum(counts)):
        left = np.unique((left[:, None] - np.eye(4, dtype=int)).reshape(-1, 4), axis=0)
        left = left[(left >= 0).all(axis=1)]
        for row, verdict in zip(left, verdicts(left, rule), strict=True):
            if verdict not in seen:
                seen.add(verdict)
                turns.append((tuple((whole[0] - row).tolist()), verdict))
    return turns


def verdicts(counts: np.ndarray, rule: Rule) -> list[int]:
    return majority_verdicts(counts, rule.min_answers, rule.unsure_share, rule.unfit_share).tolist()


def listed(turns: Turns) -> list[tuple[tuple[int, ...], int]]:
    return list(zip(map(tuple, turns.fewer.tolist()), turns.verdict.tolist(), strict=True))


shares = st.sampled_from([0.0, 0.2, 0.5, 0.6, 0.75, 1.0]) | st.floats(0, 1)
rules = st.builds(Rule, st.integers(0, 5), shares, shares)


@given(st.tuples(*[st.integers(0, 6)] * 4), rules)
@settings(max_examples=300, deadline=None)
def test_the_cheapest_turns_are_those_of_all_subsets(counts: tuple[int, ...], rule: Rule) -> None:
    assert listed(cheapest_turns(np.array([counts]), rule)) == by_enumeration(counts, rule)


@given(st.lists(st.tuples(*[st.integers(0, 5)] * 4), max_size=5), rules)
@settings(max_examples=60, deadline=None)
def test_questions_do_not_affect_each_other(table: list[tuple[int, ...]], rule: Rule) -> None:
    together = cheapest_turns(np.array(table, int).reshape(-1, 4), rule)
    one_by_one = [cheapest_turns(np.array([counts]), rule) for counts in table]
    assert listed(together) == [turn for one in one_by_one for turn in listed(one)]
    assert together.question.tolist() == [number for number, one in enumerate(one_by_one) for _ in one.question]


def test_many_answers_by_hand() -> None:
    turns = cheapest_turns(np.array([[100, 33, 0, 0]]), Rule(min_answers=3))
    assert listed(turns) == [((67, 0, 0, 0), UNSURE), ((68, 0, 0, 0), NO), ((100, 31, 0, 0), OPEN)]
    assert turns.cost.tolist() == [67, 68, 131]


def test_a_question_without_enough_answers_cannot_turn() -> None:
    assert len(cheapest_turns(np.array([[0, 0, 0, 0], [1, 1, 0, 0]]), Rule(min_answers=3)).question) == 0
