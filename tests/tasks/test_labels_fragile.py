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
    judge_all,
    judged_with,
    keys_of,
    random_round,
    said,
    selection_of,
)

from dissensus.competition.judged import Judged
from dissensus.competition.one_order import USUAL, among, strengths, together
from dissensus.competition.standings import Method
from dissensus.errors import RankingError
from dissensus.pairwise import tally
from dissensus.ranking import Action, Flip, connected_groups, fewest_removals
from dissensus.records import ANSWERS, Fragility, Judgement, Selection, Tally
from dissensus.report.wording import fragility_words
from dissensus.screening import Rule, cheapest_turns
from dissensus.tasks.labels.fragile import fragility
from dissensus.tasks.labels.outcomes import lost_with_their_item, outcomes_of
from dissensus.tasks.labels.turned import TurnedRounds

NAMES = ["a", "b", "c"]
RULE = {"k": 3, "cap": 3}


def found(
    selection: Selection, answers: Answers, method: str = "perron", rule: dict[str, int] = RULE
) -> Fragility | None:
    names = NAMES[: 1 + int(selection.second.max())]
    return found_in([judged_with(selection, answers, **rule)], (selection,), answers, names, Method(method, 1.0))


def found_in(
    rounds: list[Judged[Selection]],
    selections: tuple[Selection, ...],
    answers: Answers,
    names: list[str],
    method: Method,
) -> Fragility | None:
    given = by_number(answers, *selections)
    keys, counts = keys_of(*selections), counted(answers, *selections)
    return fragility(rounds, keys, counts, lambda question: given.get(question, []), names, method, Rule())


def counted(answers: Answers, *selections: Selection) -> np.ndarray:
    """How many answers of each kind every question has."""
    given = by_number(answers, *selections)
    kinds = [[one.answer for one in given.get(number, [])] for number in range(len(keys_of(*selections)))]
    return np.array([[one.count(answer) for answer in ANSWERS] for one in kinds]).reshape(-1, 4)


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
    """Who is strictly ahead of a model that was first once judgements are removed, if the same models are connected."""
    gone = {judgement.id for judgement in removed}
    left = {question: [j for j in given if j.id not in gone] for question, given in answers.items()}
    before, after = ranked(selection, answers, **how), ranked(selection, left, **how)
    if before is None or after is None or before[0] != after[0]:
        return None
    was_first = before[1] > before[1].max() - 1e-9
    leads = after[1] - after[1][was_first].min()
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
    assert fragile.is_shared  # each of them won an item
    assert fragility_words(fragile) == (
        "a shares first place: removing 1 judgement would put b ahead (no smaller set would)."
    )
    assert [judgement.id for judgement in fragile.judgements] == ["0/1/0"]
    lost = fragile.model_copy(update={"next_leader": None})
    assert "shares first place: removing 1 judgement would cost it its share" in fragility_words(lost)


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
    assert not fragile.is_shared
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
        ahead = flips(selection, answers, fragile.judgements, **how)
        assert ahead is not None
        assert fragile.next_leader in (ahead, None)
        assert len(fragile.judgements) >= (smallest or 3)
        if fragile.is_smallest and len(fragile.judgements) > 2:
            assert smallest is None


def anew(rounds: list[Judged[Selection]], keys: np.ndarray, models: int, changed: dict[int, int]) -> Tally:
    """The tally after changing some verdicts, with every row of every round judged again."""
    state = rounds[0].state.copy()
    for question, verdict in changed.items():
        state[question] = verdict
    lost = lost_with_their_item(state, keys)
    return tally(together([outcomes_of(one.with_state(state, lost)) for one in rounds]), models)


def exhaustive(
    rounds: list[Judged[Selection]], keys: np.ndarray, counts: np.ndarray, models: int, method: Method
) -> tuple[tuple[int, ...], Flip | None]:
    """The slow way: every single removal is refitted on its own, and everything is judged again each time."""
    turns, compared = cheapest_turns(counts, Rule()), anew(rounds, keys, models, {}).items > 0
    members = connected_groups(compared)[0]

    def strengths_without(chosen: frozenset[int]) -> np.ndarray:
        changed = {int(turns.question[number]): int(turns.verdict[number]) for number in chosen}
        cases = anew(rounds, keys, models, changed)
        if connected_groups(cases.items > 0)[0] != members:
            raise RankingError("other models")
        return strengths(among(cases, np.array(members)), method)

    actions = [Action(int(question), int(cost)) for question, cost in zip(turns.question, turns.cost, strict=True)]
    return members, fewest_removals(actions, strengths_without)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["perron", "hodgerank", "bradley-terry"]), st.integers(2, 6))
@settings(max_examples=60, deadline=None)
def test_the_same_as_refitting_every_removal(seed: int, method: str, models: int) -> None:
    selections, answers = two_rounds(seed, models)
    rounds = all_judged_with(selections, answers, k=4, cap=2)
    keys, counts, names = keys_of(*selections), counted(answers, *selections), [f"m{one}" for one in range(models)]
    how = Method(method, 1.0)
    try:
        members, slow = exhaustive(rounds, keys, counts, models, how)
    except RankingError:
        with pytest.raises(RankingError):
            found_in(rounds, selections, answers, names, how)
        return
    fast = found_in(rounds, selections, answers, names, how) if len(members) > 1 else None
    if slow is None or len(members) < 2:
        assert fast is None
        return
    assert fast is not None
    assert (len(fast.judgements), fast.is_smallest) == (slow.cost, slow.is_smallest)
    assert fast.next_leader == (None if slow.leader is None else names[members[slow.leader]])


@given(st.integers(0, 2**32 - 1), st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=60, deadline=None)
def test_changed_verdicts_give_the_tallies_of_judging_everything_again(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    selections, _ = two_rounds(seed, 4)
    keys = keys_of(*selections)
    state = np.array([*rng.choice([2, 3, 0, -1, -2, -4], len(keys), p=[0.35, 0.35, 0.1, 0.05, 0.1, 0.05])])
    rounds = judge_all(selections, state, k=3, cap=2, share=share)
    turned = TurnedRounds(rounds, keys, 4)
    assert_same(turned.tally, anew(rounds, keys, 4, {}))
    sets = [rng.permutation(len(keys))[: rng.integers(0, 5)] for _ in range(8)]
    variant = np.repeat(np.arange(len(sets)), [len(one) for one in sets])
    question, verdict = np.concatenate(sets).astype(int), rng.choice([2, 3, 0, -1, -2], len(variant))
    changes = turned.changes(variant, question, verdict)
    for number, own in enumerate(sets):
        after = turned.changes(np.zeros(len(own), int), question[variant == number], verdict[variant == number])
        expected = anew(rounds, keys, 4, dict(zip(own.tolist(), verdict[variant == number].tolist(), strict=True)))
        assert_same(after.applied(turned.tally), expected)
        np.testing.assert_array_equal(changes.more[changes.variant == number], after.more)
        np.testing.assert_array_equal(changes.first[changes.variant == number], after.first)


def assert_same(one: Tally, other: Tally) -> None:
    for name in ("only", "both", "neither"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


def two_rounds(seed: int, models: int) -> tuple[tuple[Selection, Selection], Answers]:
    """Two rounds whose duels and questions overlap; the second lists some pairs of models the other way round."""
    first, answers = random_round(seed, models)
    second, more = random_round(seed + 1, models)
    one, other = second.second, second.first
    second = selection_of(
        zip(one, other, second.item, second.rank, second.second_label, second.first_label, strict=True)
    )
    return (first, second), more | answers


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
    fragile = found_in(rounds, both, answers, NAMES, USUAL)
    assert fragile is not None
    gone = {judgement.id for judgement in fragile.judgements}
    left = {question: [j for j in given if j.id not in gone] for question, given in answers.items()}
    outcomes = together([outcomes_of(judged) for judged in all_judged_with(both, left, **RULE)])
    after = strengths(tally(outcomes, 3), USUAL)
    assert [NAMES[one] for one in np.flatnonzero(after > after.max() - 1e-9)] == ["b", "c"]
    assert (fragile.leader, fragile.next_leader) == ("a", None)
