"""The selection against a plain implementation of the rule, and the same answer for every chunking and merge order."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dissensus.arrays import MISSING
from dissensus.errors import SelectionError
from dissensus.selection import Rule, finish, is_settled, merge, scan, usable_labels
from dissensus.selection.topk import Levels, Partial


def plain_selection(labels, distances, duels, rule, taken=None):
    """The rule as one would say it: sort, walk, respect the caps; then once more for the reserves."""
    rows = []
    for number, (one, other) in enumerate(duels.tolist()):
        a, b = labels[one].astype(int), labels[other].astype(int)
        gone = set() if taken is None else set(taken[number].tolist())
        speak = [i for i in range(len(a)) if MISSING not in (a[i], b[i]) and a[i] != b[i] and i not in gone]
        order = sorted(speak, key=lambda i: (-distances[a[i], b[i]], i))
        for most in (rule.k, rule.reserves):
            count: dict[tuple[int, int], int] = {}
            chosen = []
            for i in order:
                sides = ((0, a[i]), (1, b[i]))
                if len(chosen) < most and all(count.get(side, 0) < rule.cap for side in sides):
                    chosen.append(i)
                    for side in sides:
                        count[side] = count.get(side, 0) + 1
            rows += [(one, other, i, a[i], b[i]) for i in chosen]
            order = [i for i in order if i not in set(chosen)]
    return rows


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
    labels = rng.integers(0, 10, (3, 40_000)).astype(np.uint16)
    distances = 1 - np.eye(10)
    duels = np.array([[0, 1], [0, 2], [1, 2]])
    rule = Rule(k=200, reserves=200, cap=40)
    selection = finish(scan(labels, 0, duels, Levels.of(distances), rule), duels, Levels.of(distances), rule)
    assert as_rows(selection) == plain_selection(labels, distances, duels, rule)


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
    usable = usable_labels(labels, confidences, np.float32(0.8))
    assert usable.tolist() == [[1, MISSING, MISSING], [1, MISSING, 3], [7, MISSING, 7]]
    eligible = np.array([[False, True, True]] * 3)
    assert usable_labels(labels, confidences, np.float32(0.8), eligible)[:, 0].tolist() == [MISSING] * 3


@pytest.mark.parametrize("bad", [{"k": 0}, {"cap": 0}, {"reserves": -1}])
def test_a_rule_that_selects_nothing_is_refused(bad):
    with pytest.raises(SelectionError):
        Rule(**bad)
