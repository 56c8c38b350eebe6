"""The selection against a plain implementation of the rule, and the same answer for every chunking and merge order."""

from __future__ import annotations

import tracemalloc
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.arrays import MISSING
from dissensus.errors import SelectionError
from dissensus.selection import Rule, finish, is_settled, merge, scan, usable_labels
from dissensus.selection.kernel import MANY
from dissensus.selection.topk import Levels, Partial


def plain_selection(labels, distances, duels, rule, taken=None):
    """The rule as one would say it: sort, walk, respect the cap, raise it if needed; once more for the reserves."""
    rows = []
    for number, (one, other) in enumerate(duels.tolist()):
        a, b = labels[one].astype(int), labels[other].astype(int)
        gone = set() if taken is None else set(taken[number].tolist())
        speak = [i for i in range(len(a)) if MISSING not in (a[i], b[i]) and a[i] != b[i] and i not in gone]
        order = sorted(speak, key=lambda i: (-distances[a[i], b[i]], i))
        for most in (rule.k, rule.reserves):
            chosen, order = plainly_capped(order, a, b, rule.cap, most)
            rows += [(one, other, i, a[i], b[i]) for i in chosen]
    return rows


def plainly_capped(order, a, b, cap, most):
    """What is taken, in order, and what is left."""
    chosen = []
    while len(chosen) < most and len(chosen) < len(order):
        for i in order:
            alike = max([sum(a[j] == a[i] for j in chosen), sum(b[j] == b[i] for j in chosen)])
            if len(chosen) < most and i not in chosen and alike < cap:
                chosen.append(i)
        cap += 1
    return chosen, [i for i in order if i not in chosen]


def as_rows(selection):
    columns = (selection.first, selection.second, selection.item, selection.first_label, selection.second_label)
    return [tuple(int(x) for x in row) for row in zip(*columns, strict=True)]


@st.composite
def competitions(draw):
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    models, items, classes = draw(st.integers(2, 5)), draw(st.integers(1, 300)), draw(st.integers(2, 12))
    labels = rng.integers(0, classes, (models, items)).astype(np.uint16)
    labels[rng.random(labels.shape) < draw(st.sampled_from([0, 0.2, 0.9]))] = MISSING
    points = rng.integers(0, draw(st.sampled_from([2, 50])), classes)
    distances = np.abs(points[:, None] - points) + 1.0 - np.eye(classes)
    rule = Rule(k=draw(st.integers(1, 12)), reserves=draw(st.integers(0, 12)), cap=draw(st.integers(1, 4)))
    return labels, distances, np.array(list(combinations(range(models), 2))), rule, rng


@given(competitions())
@settings(max_examples=150, deadline=None)
def test_every_chunking_and_merge_order_gives_the_plain_selection(competition):
    labels, distances, duels, rule, rng = competition
    levels = Levels.of(distances)
    cuts = np.unique(np.r_[0, rng.integers(0, labels.shape[1] + 1, 4), labels.shape[1]])
    spans = list(pairwise(cuts))
    rng.shuffle(spans)
    merged = Partial.empty(len(duels))
    for start, stop in spans:
        known = merged if rng.random() < 0.5 else None
        part = scan(labels[:, start:stop], int(start), duels, levels, rule, known)
        pair = (merged, part) if rng.random() < 0.5 else (part, merged)
        merged = merge(*pair, levels, rule)
    assert as_rows(finish(merged, duels, levels, rule)) == plain_selection(labels, distances, duels, rule)


@given(competitions())
@settings(max_examples=60, deadline=None)
def test_a_further_round_takes_nothing_twice(competition):
    labels, distances, duels, rule, _ = competition
    levels = Levels.of(distances)
    once = finish(scan(labels, 0, duels, levels, rule), duels, levels, rule)
    taken = [once.item[(once.first == one) & (once.second == other) & ~once.is_reserve] for one, other in duels]
    further = Rule(rule.k, rule.reserves, rule.cap, taken=max(map(len, taken)))
    half = labels.shape[1] // 2
    parts = [scan(labels[:, :half], 0, duels, levels, further), scan(labels[:, half:], half, duels, levels, further)]
    again = finish(merge(*parts, levels, further), duels, levels, further, taken)
    assert as_rows(again) == plain_selection(labels, distances, duels, rule, taken)


@given(competitions())
@settings(max_examples=60, deadline=None)
def test_what_comes_after_a_settled_prefix_changes_nothing(competition):
    labels, distances, duels, rule, _ = competition
    levels = Levels.of(np.minimum(distances, 2))  # a ceiling makes ties at the largest distance
    labels = np.tile(labels, 8)
    known = Partial.empty(len(duels))
    for start in range(0, labels.shape[1], 64):
        if is_settled(known, levels, start):
            break
        known = merge(known, scan(labels[:, start : start + 64], start, duels, levels, rule, known), levels, rule)
    assert as_rows(finish(known, duels, levels, rule)) == plain_selection(labels, np.minimum(distances, 2), duels, rule)


def test_a_large_pool_of_ties_is_settled_early():
    labels = np.random.default_rng(1).integers(0, 50, (2, 5_000)).astype(np.uint16)
    levels, duels, rule = Levels.of(1 - np.eye(50)), np.array([[0, 1]]), Rule(k=5, reserves=5)
    known = scan(labels[:, :1_000], 0, duels, levels, rule)
    assert is_settled(known, levels, 1_000)
    assert not is_settled(Partial.empty(1), levels, 1_000)


def test_lists_grow_when_nothing_can_be_dropped():
    """Ten classes under a cap never hold a set large enough to exclude anything, however many items there are."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, (3, 20_000)).astype(np.uint16)
    distances = 1 - np.eye(10)
    duels = np.array([[0, 1], [0, 2], [1, 2]])
    rule = Rule(k=100, reserves=100, cap=20)
    selection = finish(scan(labels, 0, duels, Levels.of(distances), rule), duels, Levels.of(distances), rule)
    assert as_rows(selection) == plain_selection(labels, distances, duels, rule)


@pytest.mark.parametrize("classes", [2, 5])
def test_with_few_classes_the_cap_rises_until_a_duel_has_its_items(classes):
    labels = np.random.default_rng(0).integers(0, classes, (2, 1_000)).astype(np.uint16)
    levels, duels, rule = Levels.of(1 - np.eye(classes)), np.array([[0, 1]]), Rule(k=30, reserves=30, cap=3)
    partial = scan(labels, 0, duels, levels, rule)
    selection = finish(partial, duels, levels, rule)
    assert selection.is_reserve.tolist() == [False] * 30 + [True] * 30
    most = np.bincount(selection.first_label[:30]).max()
    assert 30 / classes <= most <= 30 / classes + 2  # no higher than it must be, but for the greedy walk
    more = np.tile(labels, (1, 10))
    partial = scan(more, 0, duels, levels, rule)
    assert len(partial.candidates[0]) <= MANY * rule.enough  # of thousands of disagreements


def test_a_smaller_k_selects_the_first_items_of_a_larger_one():
    rng = np.random.default_rng(3)
    labels = rng.choice(6, (2, 200), p=[0.7, 0.2, 0.04, 0.03, 0.02, 0.01]).astype(np.uint16)
    points = rng.random((6, 1))
    levels, duels = Levels.of(np.abs(points - points.T)), np.array([[0, 1]])
    rules = [Rule(k=k, reserves=0, cap=1) for k in (1, 5, 20, 60)]
    chosen = [finish(scan(labels, 0, duels, levels, rule), duels, levels, rule).item.tolist() for rule in rules]
    for smaller, larger in pairwise(chosen):
        assert larger[: len(smaller)] == smaller


def test_a_duel_gets_everything_there_is_if_that_is_less_than_k():
    labels = np.array([[0] * 8 + [2], [1] * 8 + [3]], np.uint16)
    levels, duels, rule = Levels.of(1 - np.eye(4)), np.array([[0, 1]]), Rule(k=10, reserves=5, cap=2)
    selection = finish(scan(labels, 0, duels, levels, rule), duels, levels, rule)
    assert selection.item.tolist() == [0, 1, 8, 2, 3, 4, 5, 6, 7]  # those within the cap rank first
    assert not selection.is_reserve.any()


def test_ties_go_to_the_smaller_item_and_reserves_follow_in_order():
    labels = np.array([[0, 0, 0, 0, 2], [1, 1, 1, 1, 3]], np.uint16)
    distances = 1 - np.eye(4)
    rule = Rule(k=2, reserves=2, cap=2)
    selection = finish(
        scan(labels, 0, np.array([[0, 1]]), Levels.of(distances), rule), np.array([[0, 1]]), Levels.of(distances), rule
    )
    assert selection.item.tolist() == [0, 1, 2, 3]
    assert selection.is_reserve.tolist() == [False, False, True, True]
    assert selection.rank.tolist() == [1, 2, 3, 4]


def test_models_that_agree_everywhere_select_nothing():
    labels = np.zeros((2, 10), np.uint16)
    distances = 1 - np.eye(2)
    rule = Rule()
    partial = scan(labels, 0, np.array([[0, 1]]), Levels.of(distances), rule)
    assert len(finish(partial, np.array([[0, 1]]), Levels.of(distances), rule)) == 0


def test_unreadable_items_are_left_out_for_every_model_and_doubt_only_for_the_doubter():
    labels = [np.array([1, MISSING, 3], np.uint16), np.array([1, 2, 3], np.uint16), np.array([7, 7, 7], np.uint16)]
    confidences = [np.array([0.9, 0.9, 0.1], np.float32), None, np.array([0.8, 0.9, 0.9], np.float32)]
    predicted, room = list(zip(labels, confidences, strict=True)), np.empty((3, 3), np.uint16)
    usable = usable_labels(predicted, 0.8, room.copy())
    assert usable.tolist() == [[1, MISSING, MISSING], [1, MISSING, 3], [7, MISSING, 7]]
    eligible = np.array([[False, True, True]] * 3)
    assert usable_labels(predicted, 0.8, room, eligible)[:, 0].tolist() == [MISSING] * 3


@pytest.mark.parametrize("bad", [{"k": 0}, {"cap": 0}, {"reserves": -1}])
def test_a_rule_that_selects_nothing_is_refused(bad):
    with pytest.raises(SelectionError):
        Rule(**bad)


def test_a_huge_k_needs_no_more_room_than_there_are_items() -> None:
    labels = np.array([[0, 1, 0, 1], [1, 0, 0, 0]], np.uint16)
    duels, levels = np.array([[0, 1]]), Levels.of(1.0 - np.eye(2))
    rule = Rule(k=10**11, reserves=10**11)
    assert finish(scan(labels, 0, duels, levels, rule), duels, levels, rule).item.tolist() == [0, 1, 3]


@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.integers(2, 6))
def test_equal_distances_need_no_table(seed: int, models: int, classes: int) -> None:
    labels = np.random.default_rng(seed).integers(0, classes, (models, 200)).astype(np.uint16)
    duels, rule = np.array(list(combinations(range(models), 2))), Rule(k=4, reserves=3, cap=2)
    table, none = Levels.of(1.0 - np.eye(classes)), Levels.equal(classes)
    expected = finish(scan(labels, 0, duels, table, rule), duels, table, rule)
    assert as_rows(finish(scan(labels, 0, duels, none, rule), duels, none, rule)) == as_rows(expected)


def test_twenty_thousand_classes_take_little_memory() -> None:
    labels = np.random.default_rng(0).integers(0, 20_000, (3, 500)).astype(np.uint16)
    tracemalloc.start()
    duels, levels, rule = np.array([[0, 1], [0, 2], [1, 2]]), Levels.equal(20_000), Rule()
    assert len(finish(scan(labels, 0, duels, levels, rule), duels, levels, rule)) == 180
    assert tracemalloc.get_traced_memory()[1] < 20e6
    tracemalloc.stop()
