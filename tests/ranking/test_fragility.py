from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.errors import RankingError
from dissensus.ranking import Action, fewest_removals

ONE_EACH = [Action(question, 1) for question in range(6)]


def votes(base: list[float], effects: list[list[float]]):
    """Strengths that simply add up: each action adds its row to the base."""

    def strengths_without(chosen: frozenset[int]) -> np.ndarray:
        return np.array(base) + sum(np.array(effects[action]) for action in chosen)

    return strengths_without


def test_one_judgement_can_be_enough() -> None:
    flip = fewest_removals(ONE_EACH, votes([3, 2.5, 0], [[0, 0, 0]] * 4 + [[-1, 0, 0], [0, 0, 0]]))
    assert flip is not None
    assert (flip.actions, flip.cost, flip.leader, flip.is_smallest) == ((4,), 1, 1, True)


def test_two_of_cost_one_are_proven_smallest_and_three_are_not() -> None:
    for lead, expected, proven in [(1.5, 2, True), (2.5, 3, False)]:
        flip = fewest_removals(ONE_EACH, votes([lead, 0], [[-1, 0]] * 6))
        assert flip is not None
        assert (flip.cost, flip.is_smallest) == (expected, proven)


def test_a_dear_single_action_gives_way_to_cheap_ones() -> None:
    actions = [Action(0, 5), Action(1, 1), Action(2, 1)]
    flip = fewest_removals(actions, votes([1, 0], [[-3, 0], [-0.6, 0], [-0.6, 0]]))
    assert flip is not None
    assert (flip.actions, flip.cost) == ((1, 2), 2)


def test_actions_on_the_same_question_exclude_each_other() -> None:
    actions = [Action(0, 1), Action(0, 1), Action(1, 2)]
    flip = fewest_removals(actions, votes([1, 0], [[-0.6, 0], [-0.6, 0], [-0.6, 0]]))
    assert flip is not None
    assert flip.cost == 3
    assert 2 in flip.actions


def test_actions_that_are_not_needed_are_dropped() -> None:
    # In order of gain per judgement all three are needed to pass 2; the last two alone do it too.
    actions = [Action(0, 1), Action(1, 2), Action(2, 2)]
    flip = fewest_removals(actions, votes([2, 0], [[-0.6, 0], [-1.1, 0], [-1.0, 0]]))
    assert flip is not None
    assert (flip.actions, flip.cost) == ((1, 2), 4)


def test_refits_without_a_ranking_are_no_change() -> None:
    plain = votes([1.5, 0], [[-1, 0]] * 6)

    def fails_without_the_first(chosen: frozenset[int]) -> np.ndarray:
        if 0 in chosen:
            raise RankingError("gone")
        return plain(chosen)

    flip = fewest_removals(ONE_EACH, fails_without_the_first)
    assert flip is not None
    assert 0 not in flip.actions


def test_equal_strengths_are_no_change_and_nothing_found_is_none() -> None:
    assert fewest_removals(ONE_EACH[:1], votes([1, 0], [[-1, 0]])) is None
    assert fewest_removals([], votes([1, 0], [])) is None


def test_no_more_refits_than_allowed() -> None:
    calls = 0

    def counted(chosen: frozenset[int]) -> np.ndarray:
        nonlocal calls
        calls += 1
        return np.array([100.0 - len(chosen), 0.0])

    assert fewest_removals([Action(question, 1) for question in range(500)], counted, refits=50) is None
    assert calls == 51  # the ranking itself is not a refit


def test_no_ranking_to_begin_with_is_refused() -> None:
    def nothing(chosen: frozenset[int]) -> np.ndarray:
        raise RankingError("no judgements")

    with pytest.raises(RankingError):
        fewest_removals(ONE_EACH, nothing)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=60)
def test_a_flip_is_real_and_smallest_where_it_says_so(seed: int) -> None:
    rng = np.random.default_rng(seed)
    actions = [Action(int(rng.integers(5)), int(rng.integers(1, 4))) for _ in range(7)]
    strengths = votes([2, 1, 0.5], rng.normal(scale=0.5, size=(7, 3)).tolist())
    allowed = [
        chosen
        for size in range(1, 8)
        for chosen in combinations(range(7), size)
        if len({actions[action].question for action in chosen}) == size and strengths(frozenset(chosen)).argmax() != 0
    ]
    costs = [sum(actions[action].cost for action in chosen) for chosen in allowed]
    flip = fewest_removals(actions, strengths)
    if flip is None:
        assert min(map(len, allowed), default=8) > 1, "all single ones were tried"
        return
    assert flip.actions in allowed
    assert flip.leader == strengths(frozenset(flip.actions)).argmax()
    assert flip.cost == sum(actions[action].cost for action in flip.actions)
    if flip.is_smallest:
        assert flip.cost == min(costs)


@given(st.integers(0, 2**32 - 1), st.integers(2, 5))
@settings(max_examples=200, deadline=None)
def test_with_a_shared_first_place_the_order_of_the_models_does_not_matter(seed: int, models: int) -> None:
    rng = np.random.default_rng(seed)
    base = rng.integers(0, 3, models).astype(float)
    base[rng.permutation(models)[:2]] = 2
    effects = rng.integers(-2, 3, (6, models)) / 2
    actions = [Action(question, int(cost)) for question, cost in enumerate(rng.integers(1, 4, 6))]
    order = rng.permutation(models)
    one = fewest_removals(actions, votes(base.tolist(), effects.tolist()))
    other = fewest_removals(actions, votes(base[order].tolist(), effects[:, order].tolist()))
    assert (one is None) == (other is None)
    first = base == 2
    decided = [
        cost for (_, cost), effect in zip(((a.question, a.cost) for a in actions), effects, strict=True)
        if (base + effect).max() > (base + effect)[first].min()
    ]  # fmt: skip
    if decided:  # a single action that decides between two of them is never missed
        assert one is not None
        assert other is not None
        assert one.cost == other.cost <= min(decided)
        assert one.is_smallest == other.is_smallest
        after = base + effects[list(one.actions)].sum(axis=0)
        assert first[one.loser]
        assert after[one.loser] < after.max()
        assert one.leader == (int(after.argmax()) if (after == after.max()).sum() == 1 else None)
