from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.records import ANSWERS, DISCARDED, GONE, NO, OPEN, UNFIT, UNSURE, YES
from dissensus.screening import majority_verdicts

counts = st.tuples(*[st.integers(0, 12)] * 4)


def verdict(yes: int = 0, no: int = 0, unsure: int = 0, unfit: int = 0, **settings) -> int:
    return int(majority_verdicts(np.array([[yes, no, unsure, unfit]]), **settings)[0])


def plainly(votes: tuple[int, int, int, int], min_answers: int = 1) -> int:
    """The rule in exact fractions."""
    yes, no, unsure, unfit = votes
    if sum(votes) < min_answers or sum(votes) == 0:
        return OPEN
    if Fraction(unfit, sum(votes)) > Fraction(1, 2):
        return UNFIT
    if Fraction(unsure, sum(votes)) > Fraction(3, 5) or yes == no:
        return UNSURE
    return YES if yes > no else NO


def test_more_than_three_of_five_unsure_discard_an_item_and_three_do_not() -> None:
    assert verdict(yes=2, unsure=3) == YES
    assert verdict(no=2, unsure=3) == NO
    assert verdict(yes=1, unsure=4) == UNSURE


@pytest.mark.parametrize("people", [5, 10, 15, 20, 35, 1000])
def test_exactly_sixty_per_cent_do_not_discard_and_one_more_does(people: int) -> None:
    three_fifths = people * 3 // 5
    assert verdict(yes=people - three_fifths, unsure=three_fifths) == YES
    assert verdict(yes=people - three_fifths - 1, unsure=three_fifths + 1) == UNSURE


def test_a_share_that_binary_fractions_miss_is_still_not_exceeded_by_itself() -> None:
    for percent in range(1, 100):
        share = {"unsure_share": percent / 100, "unfit_share": percent / 100}
        assert verdict(yes=100 - percent, unsure=percent, **share) == YES
        assert verdict(yes=100 - percent, unfit=percent, **share) == YES


def test_unfit_needs_a_majority_and_half_is_none() -> None:
    assert verdict(yes=2, unfit=3) == UNFIT
    assert verdict(yes=2, unfit=2) == YES
    assert verdict(unsure=4, unfit=5) == UNFIT


def test_as_many_yes_as_no_is_unsure_so_that_another_item_is_asked() -> None:
    assert verdict(yes=2, no=2, unsure=1) == UNSURE
    assert verdict(yes=0, no=0, unsure=3, unfit=3) == UNSURE


def test_a_question_without_enough_answers_has_no_verdict() -> None:
    assert verdict() == OPEN
    assert verdict(min_answers=0) == OPEN
    assert verdict(yes=2, min_answers=3) == OPEN
    assert verdict(yes=2, unsure=1, min_answers=3) == YES


def test_columns_of_counts_are_answers_in_their_order() -> None:
    assert [verdict(**{answer: 1}) for answer in ANSWERS] == [YES, NO, UNSURE, UNFIT]
    assert majority_verdicts(np.eye(len(ANSWERS), dtype=int)).tolist() == [YES, NO, UNSURE, UNFIT]


def test_what_is_judged_lies_above_what_is_open_and_what_is_discarded_below() -> None:
    assert min(YES, NO) > OPEN > max(DISCARDED)
    assert len({YES, NO, OPEN, UNSURE, UNFIT, GONE}) == 6
    assert set(DISCARDED) == {UNSURE, UNFIT, GONE}


@given(st.lists(counts, min_size=1, max_size=20), st.integers(1, 6))
def test_as_the_rule_in_exact_fractions(votes: list[tuple[int, int, int, int]], least: int) -> None:
    assert majority_verdicts(np.array(votes), least).tolist() == [plainly(vote, least) for vote in votes]


@given(counts, st.integers(2, 5))
def test_the_verdict_depends_on_shares_only(votes: tuple[int, int, int, int], times: int) -> None:
    assert verdict(*votes) == verdict(*(times * vote for vote in votes))


@given(counts)
def test_swapping_yes_and_no_swaps_the_verdict(votes: tuple[int, int, int, int]) -> None:
    yes, no, unsure, unfit = votes
    swapped = {YES: NO, NO: YES}
    before = verdict(yes, no, unsure, unfit)
    assert verdict(no, yes, unsure, unfit) == swapped.get(before, before)


@given(st.lists(counts, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_questions_do_not_influence_each_other(votes: list[tuple[int, int, int, int]], random) -> None:
    order = random.sample(range(len(votes)), len(votes))
    table = np.array(votes)
    assert majority_verdicts(table[order]).tolist() == majority_verdicts(table)[order].tolist()
