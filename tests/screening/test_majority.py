from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dissensus.records import ANSWERS, Judgement
from dissensus.screening import NO, UNFIT, UNJUDGED, UNSURE, YES, latest_answers, majority_verdicts

counts = st.tuples(*[st.integers(0, 12)] * 4)


def verdict(yes: int = 0, no: int = 0, unsure: int = 0, unfit: int = 0, **settings) -> int:
    return int(majority_verdicts(np.array([[yes, no, unsure, unfit]]), **settings)[0])


def plainly(votes: tuple[int, int, int, int], min_answers: int = 1) -> int:
    """The rule in exact fractions."""
    yes, no, unsure, unfit = votes
    if sum(votes) < min_answers or sum(votes) == 0:
        return UNJUDGED
    if Fraction(unfit, sum(votes)) > Fraction(1, 2):
        return UNFIT
    if Fraction(unsure, sum(votes)) > Fraction(3, 5) or yes == no:
        return UNSURE
    return YES if yes > no else NO


def judgement(annotator: str, answer: str, time: str, item: str = "i") -> Judgement:
    return Judgement(id=f"{annotator}{answer}{time}", item=item, label=0, annotator=annotator, answer=answer, time=time)


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
    assert verdict() == UNJUDGED
    assert verdict(min_answers=0) == UNJUDGED
    assert verdict(yes=2, min_answers=3) == UNJUDGED
    assert verdict(yes=2, unsure=1, min_answers=3) == YES


def test_verdicts_are_numbered_as_answers_are() -> None:
    assert [ANSWERS[number] for number in (YES, NO, UNSURE, UNFIT)] == ["yes", "no", "unsure", "unfit"]


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


def test_the_last_answer_of_a_person_counts_and_equal_times_go_by_order() -> None:
    said = [
        judgement("ann", "yes", "2026-01-02T00:00:00+00:00"),
        judgement("ann", "no", "2026-01-01T00:00:00+00:00"),
        judgement("bob", "yes", "2026-01-01T00:00:00+00:00"),
        judgement("bob", "unsure", "2026-01-01T00:00:00+00:00"),
    ]
    assert {key[2]: found.answer for key, found in latest_answers(said).items()} == {"ann": "yes", "bob": "unsure"}


def test_later_means_later_in_time_whatever_the_zone_and_the_form() -> None:
    earlier_then_later = [
        ("2026-01-01T23:30:00+09:00", "2026-01-01T15:00:00Z"),
        ("2026-01-01T12:00:00-05:00", "2026-01-01T17:00:00.5+00:00"),
        ("20260101T110000", "2026-01-01T12:00:00+00:00"),
        ("2026-01-01", "2026-01-01T00:00:01"),
    ]
    for earlier, later in earlier_then_later:
        for said in ([("yes", earlier), ("no", later)], [("no", later), ("yes", earlier)]):
            (found,) = latest_answers([judgement("ann", answer, time) for answer, time in said]).values()
            assert found.answer == "no", (earlier, later)


def test_questions_and_people_are_kept_apart() -> None:
    said = [judgement(who, "yes", "2026-01-01", item) for who in ("ann", "bob") for item in ("i", "j")]
    assert len(latest_answers(said)) == 4


@given(
    st.permutations(
        [judgement(who, answer, f"2026-01-0{day}") for who in "ab" for day, answer in enumerate(ANSWERS, 1)]
    )
)
def test_the_order_of_storing_does_not_matter_where_times_differ(said: list[Judgement]) -> None:
    assert {found.answer for found in latest_answers(said).values()} == {ANSWERS[-1]}
