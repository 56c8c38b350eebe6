from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rounds import (
    Answers,
    all_judged_with,
    answers_of,
    by_number,
    judged_with,
    keys_of,
    random_round,
    said,
    selection_of,
)

from dissensus.competition.one_order import USUAL, among, strengths, together
from dissensus.competition.standings import Method
from dissensus.errors import RankingError
from dissensus.pairwise import tally
from dissensus.ranking import connected_groups
from dissensus.records import Fragility, Judgement, Selection
from dissensus.screening import majority_verdicts
from dissensus.tasks.labels.fragile import cheapest_turns, fragility
from dissensus.tasks.labels.outcomes import outcomes_of

NAMES = ["a", "b", "c"]
RULE = {"k": 3, "cap": 3}


def found(
    selection: Selection, answers: Answers, method: str = "perron", rule: dict[str, int] = RULE
) -> Fragility | None:
    judged = judged_with(selection, answers, **rule)
    names, given = NAMES[: 1 + int(selection.second.max())], by_number(answers, selection)
    return fragility([judged], keys_of(selection), given, majority_verdicts, names, Method(method, 1.0))


def ranked(
    selection: Selection, answers: Answers, method: str = "perron", rule: dict[str, int] = RULE
) -> tuple[tuple[int, ...], np.ndarray] | None:
    """Connected models and their strengths, everything done anew; None where there is no ranking."""
    cases = tally(outcomes_of(judged_with(selection, answers, **rule)), len(NAMES))
    members = connected_groups(cases.items > 0)[0]
    try:
        return (members, strengths(among(cases, np.array(members)), Method(method, 1.0))) if len(members) > 1 else None
    except RankingError:
        return None


def flips(selection: Selection, answers: Answers, removed: tuple[Judgement, ...], **how) -> str | None:
    """Who is strictly ahead of the old leader once the judgements are removed, if the same models are connected."""
    gone = {judgement.id for judgement in removed}
    left = {question: [j for j in given if j.id not in gone] for question, given in answers.items()}
    before, after = ranked(selection, answers, **how), ranked(selection, left, **how)
    if before is None or after is None or before[0] != after[0]:
        return None
    leads = after[1] - after[1][np.argmax(before[1])]
    return NAMES[after[0][int(np.argmax(leads))]] if leads.max() > 1e-9 else None


def test_one_answer_that_decides_is_named() -> None:
    # a won the first item by a single yes, b the second; both were right on the third
    selection = selection_of((0, 1, item, item + 1, 1, 2) for item in range(3))
    answers = answers_of(
        [
            *(*said(0, 1, "yes"), *said(0, 2, "no"), *said(1, 1, "no"), *said(1, 2, "yes", "yes")),
            *(*said(2, 1, "yes", "yes"), *said(2, 2, "yes", "yes")),
        ]
    )
    fragile = found(selection, answers)
    assert fragile is not None
    assert (fragile.leader, fragile.next_leader, fragile.is_smallest) == ("a", "b", True)
    assert [judgement.id for judgement in fragile.judgements] == ["0/1/0"]


def test_an_answer_that_brings_a_discarded_item_back_is_found() -> None:
    # item 1 hangs between yes and no and is discarded; without the no it is b's second
    selection = selection_of((0, 1, item, item + 1, 1, 2) for item in range(3))
    answers = answers_of(
        [
            *(*said(0, 1, "yes", "yes", "yes"), *said(0, 2, "no", "no", "no")),
            *(*said(1, 1, "no", "no", "no"), *said(1, 2, "yes", "yes", "no", "no")),
            *(*said(2, 1, "no", "no", "no"), *said(2, 2, "yes", "yes", "yes")),
        ]
    )
    fragile = found(selection, answers)
    assert fragile is not None
    assert len(fragile.judgements) == 1
    assert fragile.judgements[0].id in ("1/2/2", "1/2/3")


def test_a_reserve_that_has_answers_moves_up_when_an_item_falls_out() -> None:
    # without one of the yes item 0 is undecided; its reserve, item 3, is known to be b's
    selection = selection_of((0, 1, item, item + 1, 1, 2) for item in range(4))
    five = ["yes"] * 5, ["no"] * 5
    answers = answers_of(
        [
            *(*said(0, 1, "yes", "yes", "no"), *said(0, 2, *five[1]), *said(1, 1, *five[0]), *said(1, 2, *five[1])),
            *(*said(2, 1, *five[1]), *said(2, 2, *five[0]), *said(3, 1, *five[1]), *said(3, 2, *five[0])),
        ]
    )
    fragile = found(selection, answers)
    assert fragile is not None
    assert (fragile.leader, fragile.next_leader, len(fragile.judgements)) == ("a", "b", 1)
    assert flips(selection, answers, fragile.judgements) == "b"


def test_where_every_answer_agrees_many_must_go() -> None:
    selection = selection_of((0, 1, item, item + 1, 1 + item, 11 + item) for item in range(3))
    answers = answers_of(
        j for item in range(3) for j in [*said(item, 1 + item, *["yes"] * 5), *said(item, 11 + item, *["no"] * 5)]
    )
    assert found(selection, answers) is None  # b was right nowhere: no removal makes it so


def test_a_removal_that_brings_in_another_model_is_left_out() -> None:
    # a and b are even on item 1; without one no item 0 comes back, puts b ahead of a, and brings in c
    selection = selection_of([(0, 1, 0, 1, 1, 2), (0, 1, 1, 2, 1, 2), (1, 2, 0, 1, 2, 3)])
    answers = answers_of(
        [
            *(*said(0, 1, "no"), *said(0, 2, "yes", "yes", "no", "no"), *said(0, 3, "yes")),
            *(*said(1, 1, "yes"), *said(1, 2, "yes")),
        ]
    )
    assert ranked(selection, answers)[0] == (0, 1)
    assert found(selection, answers) is None


def test_where_nothing_is_judged_there_is_nothing_to_remove() -> None:
    assert found(selection_of([(0, 1, 0, 1, 1, 2)]), {}) is None


@pytest.mark.slow
@given(st.integers(0, 2**32 - 1), st.sampled_from(["perron", "hodgerank"]))
@settings(max_examples=25)
def test_as_brute_force_over_all_sets_of_one_and_two_judgements(seed: int, method: str) -> None:
    selection, answers = random_round(seed, models=2 + seed % 2, people=2)
    how = {"method": method, "rule": {"k": 3, "cap": 2}}
    if ranked(selection, answers, **how) is None:
        return
    everything = [judgement for given in answers.values() for judgement in given]
    smallest = next(
        (
            size
            for size in (1, 2)
            if any(flips(selection, answers, removed, **how) for removed in combinations(everything, size))
        ),
        None,
    )
    fragile = found(selection, answers, **how)
    if smallest == 1:
        assert fragile is not None
        assert (len(fragile.judgements), fragile.is_smallest) == (1, True)
    if fragile is not None:
        assert flips(selection, answers, fragile.judgements, **how) == fragile.next_leader
        assert len(fragile.judgements) >= (smallest or 3)
        if fragile.is_smallest and len(fragile.judgements) > 2:
            assert smallest is None


@given(st.tuples(*[st.integers(0, 3)] * 4), st.integers(1, 3))
@settings(max_examples=60)
def test_the_cheapest_turns_are_those_of_all_subsets(counts: tuple[int, ...], least: int) -> None:
    def verdicts_of(table: np.ndarray) -> np.ndarray:
        return majority_verdicts(table, least)

    before = verdicts_of(np.array([counts]))[0]
    cheapest: dict[int, int] = {}
    for left in np.ndindex(*(count + 1 for count in counts)):
        after = int(verdicts_of(np.array([left]))[0])
        if after != before:
            cheapest[after] = min(sum(counts) - sum(left), cheapest.get(after, 99))
    turns = cheapest_turns(counts, verdicts_of)
    assert {verdict: sum(fewer) for fewer, verdict in turns} == cheapest
    for fewer, verdict in turns:
        assert verdicts_of(np.array([np.subtract(counts, fewer)]))[0] == verdict


def test_a_question_of_two_rounds_turns_in_both() -> None:
    # the same question decides a second duel, of a later round
    first = selection_of([(0, 1, 0, 1, 1, 2), (0, 1, 1, 2, 1, 2)])
    second = selection_of([(0, 2, 0, 1, 1, 3), (1, 2, 1, 1, 2, 3)])
    answers = answers_of(
        [
            *said(0, 1, "yes"),
            *said(0, 2, "no"),
            *said(1, 1, "no"),
            *said(1, 2, "yes"),
            *said(0, 3, "no"),
            *said(1, 3, "yes"),
        ]
    )
    both = (first, second)
    rounds = all_judged_with(both, answers, **RULE)
    fragile = fragility(rounds, keys_of(*both), by_number(answers, *both), majority_verdicts, NAMES, USUAL)
    assert fragile is not None
    gone = {judgement.id for judgement in fragile.judgements}
    left = {question: [j for j in given if j.id not in gone] for question, given in answers.items()}
    outcomes = together([outcomes_of(judged) for judged in all_judged_with(both, left, **RULE)])
    assert NAMES[int(np.argmax(strengths(tally(outcomes, 3), USUAL)))] == fragile.next_leader != fragile.leader
